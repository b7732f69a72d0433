import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { imagineDrawing, plateFrame, upscaleDrawing } from '../../../src/sandbox/draw/lineage.ts';
import { Studio } from '../../../src/sandbox/draw/studio.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { repository } from '../../rig/documents.ts';
import { plain } from '../pixels.ts';

const settings = { pixels: 64, drawers: 1, imageCache: 1_000_000 };
const noImages = (): Buffer => {
  throw new Error('No picture has another one in it.');
};
const grid = (prompt: string) => imagineDrawing(parsePrompt(prompt));
const built = pathToFileURL(join(repository, 'dist/sandbox/draw/thread.js'));

it('rejects the waiting pictures when it is closed, and waits for those in progress', async () => {
  const studio = new Studio(settings, noImages);
  const drawn = Array.from({ length: 20 }, (_, at) => studio.picture(grid(`fox ${at}`)));
  const settled = Promise.allSettled(drawn);
  await drawn[0];
  await studio.close();
  const kinds = (await settled).map(({ status }) => status);
  expect(kinds.filter((status) => status === 'fulfilled').length).toBeLessThan(5);
});

it('draws the same bytes in one thread, in three and in none, whatever the order', async () => {
  const photo = await plain('#336699');
  const plate = { photos: [{ sha256: 'photo', width: 64, height: 64 }], aspect: 1 };
  const drawings = [
    ...['a fox, ink', 'an owl, oil on canvas', 'a boat'].map(grid),
    upscaleDrawing(grid('a fox, ink'), 2),
    { size: 'whole' as const, frames: [plateFrame(plate, 'a photo', 'seed')] },
  ];
  const drawn = async (file: URL | undefined, drawers: number, from: number): Promise<readonly string[]> => {
    const studio = new Studio({ ...settings, drawers }, () => photo, file);
    const rotated = [...drawings.slice(from), ...drawings.slice(0, from)];
    const pictures = await Promise.all(rotated.map((drawing) => studio.picture(drawing)));
    await studio.close();
    const texts = pictures.map((picture) => picture.toString('base64'));
    return [...texts.slice(drawings.length - from), ...texts.slice(0, drawings.length - from)];
  };
  const here = await drawn(undefined, 1, 0);
  expect(new Set(here).size).toBe(drawings.length);
  expect(await drawn(built, 1, 2)).toEqual(here);
  expect(await drawn(built, 3, 3)).toEqual(here);
});

it('draws nothing that nobody waits for any more', async () => {
  const studio = new Studio(settings, noImages);
  const first = studio.picture(grid('a fox'));
  const next = studio.picture(grid('an owl'));
  const left = new AbortController();
  const abandoned = studio.picture(grid('a hare'), left.signal);
  const shared = [studio.picture(grid('a lynx'), left.signal), studio.picture(grid('a lynx'))];
  left.abort();
  await expect(abandoned).rejects.toThrow('Nobody waits');
  expect(await Promise.all([first, next, ...shared])).toHaveLength(4);
  await studio.close();
});

it('refuses pictures beyond two thousand that wait', async () => {
  const studio = new Studio(settings, noImages);
  const all = Array.from({ length: 2_003 }, (_, at) => studio.picture(grid(`fox ${at}`)));
  const settled = Promise.allSettled(all);
  await expect(all.at(-1)).rejects.toThrow('2000 pictures wait');
  await studio.close();
  expect((await settled).filter(({ status }) => status === 'fulfilled').length).toBeLessThan(4);
});

it('says that a thread has ended or cannot be started, and starts another one for the next picture', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'thread.mjs');
  const studio = new Studio(settings, noImages, pathToFileURL(file));
  await expect(studio.picture(grid('a fox'))).rejects.toMatchObject({
    message: 'The thread that draws pictures has ended (exit code 1).',
    cause: { message: expect.stringContaining('thread.mjs') as string },
  });
  await writeFile(
    file,
    'import { parentPort } from "node:worker_threads"; parentPort.once("message", () => process.exit(7));',
  );
  await expect(studio.picture(grid('a fox'))).rejects.toThrow('exit code 7');
  const throwing = 'parentPort.once("message", () => { throw new RangeError("no room"); });';
  await writeFile(file, `import { parentPort } from "node:worker_threads"; ${throwing}`);
  await expect(studio.picture(grid('a fox'))).rejects.toMatchObject({
    cause: { name: 'RangeError', message: 'no room' },
  });
  await writeFile(file, `import ${JSON.stringify(built.href)};`);
  expect((await studio.picture(grid('a fox'))).subarray(1, 4).toString()).toBe('PNG');
  await studio.close();
});

it('says why a picture could not be drawn in a thread, and draws the next one', async () => {
  const plate = { photos: [{ sha256: 'photo', width: 64, height: 64 }], aspect: 1 };
  const studio = new Studio(settings, () => Buffer.from('no image'), built);
  const broken = studio.picture({ size: 'whole', frames: [plateFrame(plate, 'a photo', 'seed')] });
  await expect(broken).rejects.toThrow('unsupported image format');
  expect((await studio.picture(grid('a fox'))).length).toBeGreaterThan(100);
  await studio.close();
});

it('keeps a process until the pictures in progress are drawn', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'thread.mjs');
  // By the time it answers, nothing else keeps the process.
  const answering = 'setTimeout(() => parentPort.postMessage({ id, bytes: Buffer.from("drawn") }), 50)';
  await writeFile(
    file,
    `import { parentPort } from "node:worker_threads"; parentPort.on("message", ({ id }) => { ${answering}; });`,
  );
  const source = (path: string): string => JSON.stringify(pathToFileURL(join(repository, path)).href);
  const script = `
    import { Studio } from ${source('src/sandbox/draw/studio.ts')};
    import { imagineDrawing } from ${source('src/sandbox/draw/lineage.ts')};
    import { parsePrompt } from ${source('src/sandbox/prompt/flags.ts')};
    const studio = new Studio(${JSON.stringify(settings)}, () => undefined, new URL(${JSON.stringify(pathToFileURL(file).href)}));
    const drawing = imagineDrawing(parsePrompt('a fox'));
    const picture = studio.picture(drawing);
    await studio.close();
    console.log(String(await picture));
  `;
  const main = join(folder.path, 'main.mjs');
  await writeFile(main, script);
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', main], { cwd: repository });
  expect((await run).stdout).toBe('drawn\n');
});
