import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { drawSmall, maxPixels, thumbnailSize } from '../../../src/report/gallery/thumbnail.ts';
import { finish } from '../../manifest/finish.ts';
import { type MemoryStore, memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { makePng } from '../../rig/png.ts';
import { readReport } from '../../rig/report.ts';
import { countedArtifacts, filesIn, imageRecord, makePlace, type Place, reportOf } from './rig.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => rmSync(place.root, { recursive: true, force: true }));

const six = '{ matrix: { n: { from: 1, to: 6 } }, steps: { grid: { imagine: "a fox, {{ n }}" } } }';

/** Six jobs with these images. */
async function run(image: (cell: number) => Buffer) {
  const plan = await planOf(six);
  const store = memoryStore();
  await finish(plan, store, { record: (slot) => imageRecord(place, slot, image(slot.cell)) });
  const report = async (into: MemoryStore = store) => {
    const artifacts = countedArtifacts(place);
    const { thumbnails } = await reportOf(place, plan, into, { artifacts });
    const shown = readReport(place.folder).results.map(({ thumbnail }) => thumbnail);
    return { ...thumbnails, shown, reads: artifacts.reads.length };
  };
  return { plan, store, report };
}

const thumbnails = (): readonly string[] => Object.keys(filesIn(join(place.folder, 'thumbnails')));

describe('thumbnails', () => {
  it('are named by the hash of the image: equal images share one, and a second report makes none', async () => {
    const { report } = await run((cell) => makePng(cell % 2));
    expect(await report()).toMatchObject({ made: 2, reads: 2 });
    expect(thumbnails()).toHaveLength(2);
    const again = await report();
    expect(again).toMatchObject({ made: 0, reused: 2, reads: 0 });
    expect(new Set(again.shown).size).toBe(2);
  });

  it('are made only if they are missing, or empty after a power failure', async () => {
    const { report } = await run((cell) => makePng(cell));
    await report();
    const [lost = '', torn = ''] = thumbnails();
    rmSync(join(place.folder, 'thumbnails', lost));
    writeFileSync(join(place.folder, 'thumbnails', torn), '');
    expect(await report()).toMatchObject({ made: 2, reused: 4, reads: 2 });
  });

  it('that no result needs are removed together with files of killed writers, and nothing else', async () => {
    const { report } = await run((cell) => makePng(cell));
    await report();
    const used = thumbnails();
    const stale = `00${'1'.repeat(62)}.webp`;
    const folder = join(place.folder, 'thumbnails', '00');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, stale), 'old');
    writeFileSync(join(folder, `${stale}.0123abcd.part`), 'half');
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await report();
    expect(thumbnails()).toEqual([...used, '00/notes.txt'].sort());
    rmSync(folder, { recursive: true });
    const { plan, store } = await run((cell) => makePng(cell));
    await reportOf(place, plan, store);
    expect(filesIn(place.folder)).not.toHaveProperty('thumbnails');
    expect(Object.keys(filesIn(place.folder)).filter((name) => name.startsWith('thumbnails'))).toEqual([]);
  });

  it('are not made of a file that is not an image, is missing or has changed; the report counts these', async () => {
    const { report, store, plan } = await run((cell) =>
      cell === 1 ? Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') : makePng(cell),
    );
    const records: (JobRecord | undefined)[] = [];
    for await (const cell of plan.matrix.cells())
      for (const slot of plan.resolve(cell, (key) => store.get(key))) records.push(slot.record);
    const fileOf = (index: number): string =>
      join(place.directory, records[index]?.artifacts[0]?.file ?? 'none');
    rmSync(fileOf(1));
    writeFileSync(fileOf(2), makePng(99));
    rmSync(fileOf(3));
    symlinkSync(fileOf(4), fileOf(3));
    const { made, without, shown } = await report();
    expect([made, without]).toEqual([2, { broken: 1, missing: 2, changed: 1 }]);
    expect(shown.map((name) => name !== undefined)).toEqual([false, false, false, false, true, true]);
  });
});

describe('a thumbnail', () => {
  const sizeOf = async (image: Buffer): Promise<unknown> => {
    const small = await drawSmall(image);
    if (typeof small === 'string') return small;
    const { format, width, height } = await sharp(small).metadata();
    return [format, width, height];
  };

  it('is a WebP of at most 256 pixels in the proportions of its image', async () => {
    expect(await sizeOf(makePng(1, 600, 300))).toEqual(['webp', thumbnailSize, thumbnailSize / 2]);
    expect(await sizeOf(makePng(1, 20, 400))).toEqual(['webp', 13, thumbnailSize]);
    expect(await sizeOf(makePng(1, 30, 20))).toEqual(['webp', 30, 20]);
  });

  it('has the orientation of its image, however the camera was held', async () => {
    const turned = await sharp(makePng(1, 400, 200))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(await sizeOf(turned)).toEqual(['webp', thumbnailSize / 2, thumbnailSize]);
  });

  it('is not made of an image with too many pixels, as its header shows', async () => {
    const bomb = makePng(1, 8, 8);
    bomb.writeUInt32BE(maxPixels, 16);
    bomb.writeUInt32BE(2, 20);
    expect(await sizeOf(bomb)).toBe('too-large');
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('not an image')],
    ['half an image', makePng(1, 64, 64).subarray(0, 100)],
    [
      'a head without a body',
      Buffer.concat([makePng(1, 64, 64).subarray(0, 60), Buffer.alloc(40), makePng(1).subarray(-12)]),
    ],
  ])('is not made of %s', async (_what, bytes) => {
    expect(await sizeOf(bytes)).toBe('broken');
  });
});
