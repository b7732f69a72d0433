import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import sharp from 'sharp';
import { expect, test } from 'vitest';

import { type FakeService, startFakeService } from './fake-service.ts';
import { makePng } from './png.ts';

const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' };

async function ask(url: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(url, init)).json()) as Record<string, unknown>;
}

const imagine = (service: FakeService, prompt: string): Promise<Record<string, unknown>> =>
  ask(`${service.url}/img/submit/imagine`, { prompt });

const poll = (service: FakeService, id: unknown): Promise<Record<string, unknown>> =>
  ask(`${service.url}/img/task/${String(id)}/fetch`);

test('images are real, and one for each task', async () => {
  const images = [makePng(1), makePng(2), makePng(1, 64, 32)];
  expect(new Set(images.map((image) => image.toString('base64'))).size).toBe(3);
  const sizes = await Promise.all(
    images.map(async (image) => (await sharp(image).stats(), sharp(image).metadata())),
  );
  expect(sizes.map(({ format, width, height }) => [format, width, height])).toEqual([
    ['png', 8, 8],
    ['png', 8, 8],
    ['png', 64, 32],
  ]);
});

test('a chain is counted, its links expire, its buttons age', async () => {
  const service = await startFakeService({ downloads: 1, polls: 0 });
  const { result: grid } = await imagine(service, 'fox');
  expect((await ask(`${service.url}/img/submit/action`, { taskId: grid, customId: 'x' }))['code']).toBe(4);
  const first = await poll(service, grid);
  const { customId } = (first['buttons'] as { customId: string }[])[0] ?? {};
  expect((await fetch(String(first['imageUrl']))).status).toBe(200);
  expect((await fetch(String(first['imageUrl']))).status).toBe(403);
  expect((await fetch(String((await poll(service, grid))['imageUrl']))).status).toBe(200);

  expect((await ask(`${service.url}/img-turbo/img/submit/action`, { taskId: grid, customId }))['code']).toBe(
    1,
  );
  service.renewButtons(String(grid));
  expect((await ask(`${service.url}/img/submit/action`, { taskId: grid, customId }))['code']).toBe(4);
  expect([...service.submits.byPath]).toEqual([
    ['fox', 1],
    ['fox > U1', 1],
  ]);
  expect([...service.submits.byClick]).toEqual([[`${String(grid)} ${customId}`, 1]]);
  expect(service.submits.all[1]?.task).toMatchObject({ speed: 'turbo', path: 'U1' });
  expect([service.count('action'), service.peak.tasks]).toEqual([3, 1]);
  await service.close();
});

test.each(['new', 'same'] as const)(
  'a modal waits, is confirmed once, and is shown as it is confirmed: %s',
  async (modalTask) => {
    const service = await startFakeService({ polls: 1, modalTask, modalLingers: true });
    const press = async (taskId: unknown, label: string, more = {}): Promise<Record<string, unknown>> => {
      service.finish();
      const { buttons } = await poll(service, taskId);
      const { customId } =
        (buttons as { label: string; customId: string }[]).find((b) => b.label === label) ?? {};
      return ask(`${service.url}/img/submit/action`, { taskId, customId, ...more });
    };
    const { result: grid } = await imagine(service, 'fox');
    expect((await press(grid, 'V1'))['code']).toBe(1);
    const { result: upscale } = await press(grid, 'U1');
    const { code, result: taskId } = await press(upscale, 'Vary (Region)', { state: 'job' });
    expect([code, (await poll(service, taskId))['status']]).toEqual([21, 'MODAL']);

    const modal = `${service.url}/img/submit/modal`;
    expect((await ask(modal, { taskId, prompt: 'a hat' }))['code']).toBe(4);
    const body = { taskId, prompt: 'a hat', maskBase64: 'data:image/png;base64,aGk=' };
    const answered = await ask(modal, body);
    expect([answered['code'], answered['result'] === taskId]).toEqual([1, modalTask === 'same']);
    expect((await ask(modal, body))['code']).toBe(4);
    expect([service.submits.modals.length, service.submits.secondModals]).toEqual([1, ['job']]);
    expect((await poll(service, taskId))['status']).toBe('MODAL');
    service.finish();
    const listed = (await ask(`${service.url}/img/task/list-by-condition`, {
      ids: [taskId, answered['result'], 'x'],
    })) as unknown as Record<string, unknown>[];
    expect(listed.map(({ status, state, prompt }) => [status, state, prompt])).toEqual(
      Array.from({ length: modalTask === 'same' ? 1 : 2 }, () => ['SUCCESS', 'job', 'a hat']),
    );
    await service.close();
  },
);

test('a task that begins from images is checked, and identified by its body', async () => {
  const service = await startFakeService({ polls: 0 });
  const submit = async (path: string, body: object): Promise<unknown> =>
    (await ask(`${service.url}/img/submit/${path}`, body))['code'];
  const image = 'data:image/png;base64,aGk=';
  expect(await submit('blend', { base64Array: [image] })).toBe(4);
  expect(await submit('blend', { base64Array: [image, image], state: 'a' })).toBe(1);
  expect(await submit('blend', { base64Array: [image, image], state: 'b' })).toBe(1);
  expect(await submit('describe', { base64: image })).toBe(1);
  expect(await submit('edits', { image, prompt: 'x' })).toBe(4);
  expect(await submit('video', { image, motion: 'low', batchSize: 2 })).toBe(1);
  expect([...service.submits.byPath.values()]).toEqual([2, 1, 1]);
  const [, , describe, video] = service.submits.all.map(({ task }) => task.id);
  const { properties } = await poll(service, describe);
  expect((properties as { finalPrompt: string }).finalPrompt).toMatch(/^1️⃣ describe .*4️⃣/s);
  const { videoUrls } = await poll(service, video);
  const films = await Promise.all((videoUrls as { url: string }[]).map(({ url }) => fetch(url)));
  expect(films.map((film) => [film.status, film.headers.get('content-type')])).toEqual([
    [200, 'video/mp4'],
    [200, 'video/mp4'],
  ]);
  await service.close();
});

test('faults hit when they are asked for', async () => {
  const service = await startFakeService();
  const fault = service.fault('imagine', { code: 23, description: 'full' }, { skip: 1, every: 2, times: 2 });
  const codes: unknown[] = [];
  for (let i = 0; i < 7; i++) codes.push((await imagine(service, 'fox'))['code']);
  expect(codes).toEqual([1, 23, 1, 23, 1, 1, 1]);
  expect([fault.hits, service.tasks.size]).toEqual([2, 5]);

  const hang = service.fault('fetch', { hang: 'before' });
  const looking = poll(service, '1700000000000001');
  await hang.hit();
  expect(hang.hanging).toBe(1);
  hang.release();
  expect(await looking).toMatchObject({ status: 'IN_PROGRESS' });
  await service.close();
});

test('lives as a process of its own', async () => {
  const file = fileURLToPath(new URL('fake-service.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(await ask(`${url}/img/submit/imagine`, { prompt: 'fox' })).toMatchObject({ code: 1 });
  expect(await ask(`${url}/fake/state`)).toMatchObject({ counts: { imagine: 1 }, byPath: { fox: 1 } });
  child.kill('SIGKILL');
  await once(child, 'close');
});
