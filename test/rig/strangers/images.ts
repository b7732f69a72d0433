import sharp from 'sharp';
import type { FakeServiceOptions } from '../fake-service.ts';
import { type FramingName, pictureOf } from '../framing.ts';
import type { Stranger } from './stranger.ts';

/** A finished task gives this link in place of its own. */
const linking = (origin: string): FakeServiceOptions => ({
  script: (task) => ({ answer: () => ({ imageUrl: `${origin}/images/${task.id}.png?ex=${task.link}` }) }),
});

/** A JPEG without its lower half, behind which its end mark stands. */
const halfJpeg = await sharp({
  create: {
    width: 256,
    height: 256,
    channels: 3,
    background: 'grey',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  },
})
  .jpeg()
  .toBuffer()
  .then((whole) => Buffer.concat([whole.subarray(0, whole.length * 0.45), Buffer.from([0xff, 0xd9])]));

const grids = 'matrix: { n: [1, 2, 3] }\nsteps: { grid: { imagine: "a fox {{ n }}", path: U1 } }\n';

const closing = (framing: FramingName, size: number): Stranger => ({
  name: `an image host that ends its connections (${framing}, ${size} bytes) ends no run`,
  source: 'nodejs/undici 5360; python3 -m http.server; nginx at keepalive_requests',
  pipeline: 'matrix: { n: { from: 1, to: 12 } }\nsteps: { grid: { imagine: "a fox {{ n }}" } }\n',
  service: { polls: 0, script: ({ number }) => ({ image: pictureOf(size, number) }) },
  exchanges: [['image', { framed: framing }]],
  verdict: { exit: 0, rows: { done: 12 }, asked: { image: 12 } },
});

/** Image hosts and links: where they lead, and what comes from there. */
export const images: readonly Stranger[] = [
  closing('HTTP/1.0', 131_073),
  closing('no length', 131_072),
  closing('length, close', 131_073),
  {
    name: 'a gateway whose links name its own machine is asked for the images at its base address',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed',
    pipeline: grids,
    service: linking('http://localhost:3000'),
    verdict: {
      exit: 0,
      rows: { done: 6 },
      asked: { imagine: 3, action: 3, image: 6 },
      says: ['lead to http://localhost:3000'],
    },
  },
  {
    name: 'a gateway whose links are paths is asked for the images at its base address',
    source: 'new-api of 11 April 2025, ServerAddress empty',
    pipeline: grids,
    service: linking(''),
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 3, action: 3, image: 6 } },
  },
  {
    name: 'a gateway whose list of films is refused gives the film by its other link, and nothing is paid twice',
    source: 'a gateway of the family whose videoUrls point at a host that expires them',
    pipeline:
      'steps: { grid: { imagine: a fox, path: U1 }, film: { from: grid/U1, video: { image: parent } } }\n',
    service: {
      script: (task) =>
        task.kind !== 'video'
          ? undefined
          : {
              answer: () => ({
                videoUrls: [{ url: `/images/${task.id}-1.mp4?ex=gone` }],
                videoUrl: `/images/${task.id}-1.mp4?ex=${task.link}`,
              }),
            },
    },
    verdict: { exit: 0, rows: { done: 3 }, asked: { video: 1, image: 4 } },
  },
  {
    name: 'of a gateway whose list of films is refused in part, each one is replaced for which another link is at hand, and none is saved twice',
    source: 'a gateway of the family whose videoUrls point at hosts that expire them',
    pipeline:
      'steps: { grid: { imagine: a fox, path: U1 }, film: { from: grid/U1, video: { image: parent, batchSize: 2 } } }\n',
    service: {
      script: (task) =>
        task.kind !== 'video'
          ? undefined
          : {
              answer: () => ({
                videoUrls: [
                  { url: `/images/${task.id}-1.mp4?ex=${task.link}` },
                  { url: `/images/${task.id}-2.mp4?ex=gone` },
                ],
                videoUrl: `/images/${task.id}-2.mp4?ex=${task.link}`,
              }),
            },
    },
    verdict: { exit: 0, rows: { done: 4 }, asked: { video: 1, image: 5 } },
  },
  {
    name: 'a JPEG of which half came twice is kept as it is, with a warning',
    source: 'a user, of an image host that closes half a file with an end mark',
    pipeline: 'steps: { grid: { imagine: a fox } }\n',
    exchanges: [['image', { status: 200, body: halfJpeg }]],
    verdict: {
      exit: 0,
      rows: { done: 1 },
      asked: { imagine: 1, image: 2 },
      says: ['lower half is of one colour'],
    },
  },
  {
    name: 'an image host that asks a browser for a proof is named, and its links are not said to have expired',
    source: 'cf-mitigated: challenge, as Cloudflare documents it',
    pipeline: 'steps: { grid: { imagine: a fox } }\n',
    exchanges: [
      ['image', { status: 403, body: '<html>Just a moment...', headers: { 'cf-mitigated': 'challenge' } }],
    ],
    verdict: {
      exit: 1,
      rows: { failed: 1 },
      codes: { 'download.refused': 1 },
      asked: { imagine: 1 },
      says: ['challenge page'],
      neverSays: ['expired.'],
    },
  },
];
