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

/** One grid, and twenty films of it. */
const films =
  'matrix: { n: { from: 1, to: 20 } }\nsteps: { grid: { imagine: a fox }, film: { from: grid, video: { image: parent, prompt: "walks {{ n }}", batchSize: 1 } } }\n';

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
    name: 'a gateway whose links name its own machine is asked for grids there, which are cut',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed',
    pipeline: 'matrix: { n: [1, 2] }\nsteps: { grid: { imagine: "a fox {{ n }}", grid: split } }\n',
    service: linking('http://localhost:3000'),
    verdict: {
      exit: 0,
      rows: { done: 10 },
      asked: { imagine: 2, image: 2 },
      says: ['lead to http://localhost:3000'],
    },
  },
  {
    name: 'a gateway whose links name its own machine is asked for films there',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed',
    pipeline: films,
    service: {
      script: (task) => ({
        answer: () =>
          task.kind === 'video'
            ? { videoUrls: [{ url: `https://127.0.0.1:3000/images/${task.id}-1.mp4?ex=${task.link}` }] }
            : { imageUrl: `http://[::1]:3000/images/${task.id}.png?ex=${task.link}` },
      }),
    },
    verdict: { exit: 0, rows: { done: 40 }, asked: { video: 20, image: 21 } },
  },
  {
    name: 'a gateway whose links name its own machine, and which sends images slowly and in pieces, gives them all',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed, behind a slow line',
    pipeline: grids,
    service: linking('http://localhost:3000'),
    exchanges: [['image', { drip: 1 }]],
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 3, action: 3, image: 6 } },
  },
  {
    name: 'an image host that refuses every grid ends the run, and the next run saves and cuts what was paid for',
    source: 'a gateway of the family whose image host refuses this machine',
    pipeline:
      'matrix: { n: { from: 1, to: 20 } }\nsteps: { grid: { imagine: "a fox {{ n }}", grid: split } }\n',
    exchanges: [['image', { status: 403, body: 'no' }]],
    verdict: { exit: 3, codes: {}, says: ['None of the last 20 files could be downloaded'] },
    later: [{ verdict: { exit: 0, rows: { done: 100 }, codes: {}, asked: { imagine: 0, image: 20 } } }],
  },
  {
    name: 'an image host that refuses every film, slowly, ends the run, and the next run pays for none of them again',
    source: 'a gateway of the family whose image host refuses this machine',
    pipeline: films,
    exchanges: [
      ['image', { drip: 1 }, { match: ({ path }) => !path.includes('.mp4') }],
      ['image', { status: 403, body: 'no' }, { match: ({ path }) => path.includes('.mp4') }],
    ],
    verdict: { exit: 3, codes: {}, says: ['None of the last 20 files could be downloaded'] },
    later: [
      { verdict: { exit: 0, rows: { done: 40 }, codes: {}, asked: { imagine: 0, video: 0, image: 20 } } },
    ],
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
