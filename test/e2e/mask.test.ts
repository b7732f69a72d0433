import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { makePng } from '../rig/png.ts';
import { openPlace, type RunPlace } from '../rig/run-place.ts';

/** Pictures of the fake service are 8 × 8 pixels. */
const pipeline = `name: killed
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms, resubmits: 1, patience: 100ms }
poll: { min: 5ms, max: 20ms }
steps:
  grid:
    imagine: a fox
    path: U1
  repaint:
    from: grid/U1
    click: Vary (Region)
    prompt: a red scarf
    mask: mask.png
`;

const plain = (shade: number, width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: shade, g: shade, b: shade } } })
    .png()
    .toBuffer();

async function placeWith(mask: Buffer): Promise<RunPlace> {
  const place = await openPlace(pipeline);
  await writeFile(join(place.folder, 'mask.png'), mask);
  return place;
}

const repaint = async (place: RunPlace) => (await place.rows()).find(({ step }) => step === 'repaint');
/** Requests, taken or not. */
const asked = ({ service }: RunPlace) =>
  (['imagine', 'action', 'modal'] as const).map((route) => service.count(route));

describe('a mask that cannot confirm its modal', () => {
  it.each([
    ['has another size', () => plain(255, 8, 7), 'mask.size'],
    ['leaves nothing to repaint', () => plain(0, 8, 8), 'mask.empty'],
    ['is damaged', async () => makePng(1).subarray(0, 60), 'mask.type'],
  ] as const)('because it %s, fails its job before the button is pressed', async (_, mask, code) => {
    await using place = await placeWith(await mask());
    const said = await place.run();
    expect(said.code, said.err).toBe(1);
    expect(await repaint(place)).toMatchObject({ status: 'failed', error_code: code, attempts: '0' });
    expect(asked(place)).toEqual([1, 1, 0]);
    // It stays so, whoever asks again.
    expect((await place.run('--retry-failed')).code).toBe(1);
    expect(asked(place)).toEqual([1, 1, 0]);
    // Mended, it is pressed once and answered once.
    await writeFile(join(place.folder, 'mask.png'), await plain(255, 8, 8));
    const mended = await place.run();
    expect(mended.code, mended.err).toBe(0);
    expect(asked(place)).toEqual([1, 2, 1]);
  });

  it('because it is another file once its modal is open, fails that, and is not clicked for what it is now', async () => {
    await using place = await placeWith(await plain(255, 8, 8));
    const { service, folder } = place;
    const slow = service.fault('modal', {
      status: 429,
      body: { error: { message: 'slow', type: 'x', code: '' } },
    });
    // The route only refuses, so the run stops with an open modal.
    const stopped = await place.run();
    expect(stopped.code, stopped.err).toBe(3);
    expect(await repaint(place)).toMatchObject({ status: 'modal', attempts: '1' });
    const refused = service.count('modal');
    slow.remove();

    await copyFile(join(folder, 'mask.png'), join(folder, 'kept.png'));
    await writeFile(join(folder, 'mask.png'), await plain(255, 4, 4));
    const changed = await place.run();
    expect(changed.code, changed.err).toBe(1);
    expect(await repaint(place)).toMatchObject({ status: 'failed', error_code: 'mask.size', attempts: '0' });
    expect([service.count('action'), service.count('modal')]).toEqual([2, refused]);

    // The file as it was asks for the first job, whose modal still waits.
    await rm(join(folder, 'mask.png'));
    await copyFile(join(folder, 'kept.png'), join(folder, 'mask.png'));
    const restored = await place.run('--retry-failed');
    expect(restored.code, restored.err).toBe(0);
    expect(await repaint(place)).toMatchObject({ status: 'done', attempts: '1' });
    expect([service.count('action'), service.count('modal')]).toEqual([2, refused + 1]);
  });
});
