import sharp, { type Sharp } from 'sharp';
import { expect, it } from 'vitest';
import { filesIn, freshFolder, startServer, startWriter } from '../places.ts';
import { always } from './download-rig.ts';

const size = { width: 256, height: 256 };

/** A JPEG of which this share came, behind which its end mark stands. */
async function jpeg(share: number, change: (of: Sharp) => Sharp = (same) => same): Promise<Buffer> {
  const raw = Buffer.from(Array.from({ length: 256 * 256 * 3 }, (_, at) => (at * 7 + (at >> 9) * 31) % 251));
  const whole = await change(sharp(raw, { raw: { ...size, channels: 3 } }))
    .jpeg({ quality: 90 })
    .toBuffer();
  const scan = whole.indexOf(Buffer.from([0xff, 0xda]));
  const end = scan + Math.floor((whole.length - scan) * share);
  return share === 1 ? whole : Buffer.concat([whole.subarray(0, end), Buffer.from([0xff, 0xd9])]);
}

const flatBelow = (same: Sharp): Sharp =>
  same.composite([
    {
      input: { create: { width: 256, height: 128, channels: 3, background: 'grey' } },
      top: 128,
      left: 0,
    },
  ]);

/** Saves what a server gives, one file a request and the last one ever after. */
async function saved(...given: readonly Buffer[]) {
  const server = await startServer((_request, response) =>
    response.end(given[Math.min(server.requests.length, given.length) - 1]),
  );
  const directory = freshFolder();
  const result = await startWriter(directory).save({ url: server.url, key: 'ab', output: 1 }, always);
  return { result, asked: server.requests.length, files: filesIn(directory) };
}

it('requests a JPEG once more if its lower half is missing, and saves the whole one without a warning', async () => {
  const whole = await jpeg(1);
  const { result, asked, files } = await saved(await jpeg(0.4), whole);
  expect(result).toMatchObject({ ok: true, value: { bytes: whole.length, mime: 'image/jpeg' } });
  expect(result).not.toHaveProperty('warning');
  expect([asked, files.length]).toEqual([2, 1]);
});

it('keeps a JPEG whose lower half is missing twice, with a warning', async () => {
  const half = await jpeg(0.4);
  const { result, asked } = await saved(half);
  expect(result).toMatchObject({ ok: true, value: { bytes: half.length } });
  expect(result).toHaveProperty('warning', expect.stringContaining('lower half is of one colour'));
  expect(asked).toBe(2);
});

it.each([
  ['most of which came', 0.9, undefined],
  ['that is whole', 1, undefined],
  ['whose lower half is meant to be flat', 1, flatBelow],
])('accepts a JPEG %s at the first try', async (_what, share, change) => {
  const { result, asked } = await saved(await jpeg(share, change));
  expect(result.ok).toBe(true);
  expect(result).not.toHaveProperty('warning');
  expect(asked).toBe(1);
});
