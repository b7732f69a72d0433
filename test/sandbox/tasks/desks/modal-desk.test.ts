import { afterEach, describe, expect, test } from 'vitest';
import { type Client, start } from '../../client.ts';
import { dataUri, differences, maskOf, plain, raster } from '../../pixels.ts';

let client: Client;
afterEach(() => client.sandbox.close());

const rectangle = '<rect x="8" y="20" width="30" height="30"/>';
const free = '<path d="M10 50 Q 20 5 40 20 T 60 60 Z"/><circle cx="52" cy="12" r="8"/>';

/** An upscaled image of the client's sandbox. */
const upscaled = async (prompt = 'a fox at dusk'): Promise<string> =>
  client.press(await client.finished(prompt), 'U2');

/** The task that waits after a click. */
const opened = async (parent: string, label: string, more: object = {}): Promise<string> => {
  const { body } = await client.click(parent, label, more);
  expect((await client.task(body.result)).status).toBe('MODAL');
  return body.result;
};

describe('Vary (Region) follows its mask', () => {
  test.each([
    ['a rectangle', rectangle, ''],
    ['a free form', free, ''],
    ['a free form, in oil', free, ', oil on canvas'],
    ['a rectangle, with a land of its own', rectangle, ''],
  ])('%s', async (name, shape, style) => {
    client = await start();
    const parent = await upscaled(`a fox at dusk${style}`);
    const mask = await maskOf(shape, 'white');
    const taskId = await opened(parent, 'Vary (Region)', { enableRemix: true });
    const prompt = name.endsWith('own') ? 'a snowy night' : 'a green lighthouse';
    const { body } = await client.submit('modal', { taskId, prompt, maskBase64: dataUri(mask) });
    expect(body).toMatchObject({ code: 1, result: expect.not.stringMatching(taskId) });
    client.wait();
    expect(await client.task(body.result)).toMatchObject({ action: 'INPAINT', prompt, status: 'SUCCESS' });

    const before = await client.picture(parent);
    const seen = new Set<string>();
    for (const label of ['U1', 'U2', 'U3', 'U4']) {
      const after = await client.picture(await client.press(body.result, label));
      const { inside, outside, changedInside, changedOutside } = await differences(
        before,
        after,
        mask,
        'white',
      );
      expect(inside).toBeGreaterThan(500);
      expect(outside).toBeGreaterThan(500);
      expect(changedOutside).toBe(0);
      expect(changedInside / inside).toBeGreaterThan(0.9);
      seen.add(after.toString('base64'));
    }
    expect(seen.size).toBe(4);
  });

  test('a painted region stays in place through later variations and zooms', async () => {
    client = await start();
    const parent = await upscaled('a lake at night');
    const taskId = await opened(parent, 'Vary (Region)');
    const maskBase64 = dataUri(await maskOf(rectangle, 'white'));
    const { body } = await client.submit('modal', { taskId, prompt: 'a red balloon', maskBase64 });
    client.wait();
    const one = await client.press(body.result, 'U1');
    for (const label of ['Vary (Subtle)', 'Vary (Strong)', 'Zoom Out 2x', '⬅️', '🔄', 'Upscale (Creative)']) {
      const next = await client.press(one, label);
      expect((await raster(await client.picture(next))).width).toBeGreaterThan(0);
    }
    const again = await opened(one, 'Vary (Region)');
    expect((await client.submit('modal', { taskId: again, prompt: 'a cat', maskBase64 })).body.code).toBe(1);
  });

  test('another prompt paints something else, the same one the same', async () => {
    client = await start();
    const parent = await upscaled();
    const maskBase64 = dataUri(await maskOf(rectangle, 'white'));
    const pictures: string[] = [];
    for (const prompt of ['a red scarf', 'a red scarf', 'a blue scarf']) {
      const taskId = await opened(parent, 'Vary (Region)');
      const { body } = await client.submit('modal', { taskId, prompt, maskBase64 });
      client.wait();
      pictures.push((await client.picture(body.result)).toString('base64'));
    }
    expect(pictures[0]).toBe(pictures[1]);
    expect(pictures[0]).not.toBe(pictures[2]);
  });
});

describe('a modal is refused', () => {
  test.each([
    ['without a mask', async () => ({}), /^maskBase64 is required/],
    ['with a mask that is no data URI', async () => ({ maskBase64: 'AAAA' }), /PNG as a data URI/],
    ['with a JPEG', async () => ({ maskBase64: 'data:image/jpeg;base64,AAAA' }), /PNG as a data URI/],
    ['with bytes that are none', async () => ({ maskBase64: 'data:image/png;base64,AAAA' }), /are not a PNG/],
    [
      'with a mask of another size',
      async () => ({ maskBase64: dataUri(await plain('#fff', 32, 40)) }),
      /32 × 40 pixels, and the image 64 × 64/,
    ],
    [
      'with a mask that paints nothing',
      async () => ({ maskBase64: dataUri(await plain('#000')) }),
      /nothing is white/,
    ],
    ['with a banned prompt', async () => ({ prompt: '[banned]' }), /sensitive/],
  ])('%s', async (_name, more, words) => {
    client = await start();
    const taskId = await opened(await upscaled(), 'Vary (Region)');
    const { status, body } = await client.submit('modal', { taskId, prompt: 'a cat', ...(await more()) });
    expect([status, body.result]).toEqual([200, null]);
    expect([4, 24]).toContain(body.code);
    expect(body.description).toMatch(words);
    expect((await client.task(taskId)).status).toBe('MODAL');
    expect(client.sandbox.counters().modals).toEqual({ answered: 0, repeated: 0 });
  });

  test('for a task without a modal, for an unknown task, and for an answered one', async () => {
    client = await start();
    const parent = await upscaled();
    expect((await client.submit('modal', { taskId: parent, prompt: 'x' })).body).toMatchObject({ code: 4 });
    const unknown = await client.submit('modal', { taskId: '17', prompt: 'x' });
    expect([unknown.status, unknown.body.code]).toEqual([404, 3]);
    const taskId = await opened(parent, 'Custom Zoom');
    const response = { taskId, prompt: 'a fox --zoom 2' };
    expect((await client.submit('modal', response)).body.code).toBe(1);
    const again = (await client.submit('modal', response)).body;
    expect(again).toMatchObject({ code: 4, result: null });
    expect(again.description).toContain('submitted already');
    expect(client.sandbox.counters()).toMatchObject({
      modals: { answered: 1, repeated: 1 },
      requests: { modal: { 200: 3, 404: 1 } },
    });
  });
});

test.each(['', ' --zoom 3', ' --zoom 0.5', ' --zoom', ' --zoom 1.5x'])(
  'Custom Zoom wants a factor: "%s"',
  async (flag) => {
    client = await start();
    const taskId = await opened(await upscaled(), 'Custom Zoom');
    const { body } = await client.submit('modal', { taskId, prompt: `a fox${flag}` });
    expect(body.code).toBe(4);
    expect(body.description).toContain('--zoom');
  },
);

test('Custom Zoom shows more by its factor, also in another shape', async () => {
  client = await start({ settings: { pixels: 128 } });
  const parent = await upscaled();
  const shapes: number[] = [];
  for (const flags of ['--zoom 2', '--zoom 1.2 --ar 2:1', '--zoom 1 --ar 1:2']) {
    const taskId = await opened(parent, 'Custom Zoom');
    const { body } = await client.submit('modal', { taskId, prompt: `a fox at dusk ${flags}` });
    client.wait();
    const { width, height } = await raster(await client.picture(await client.press(body.result, 'U1')));
    shapes.push(Math.round((10 * width) / height));
  }
  expect(shapes).toEqual([10, 20, 5]);
  const tasks = (await client.send('GET', '/img/task/list')).body;
  expect(tasks.filter(({ action }: { action: string }) => action === 'CUSTOM_ZOOM')).toHaveLength(6);
});

test.each(['Vary (Strong)', '🔄', '⬅️', 'Animate (Low motion)'])(
  '%s opens a modal with enableRemix',
  async (label) => {
    client = await start();
    const parent = await upscaled();
    const plainly = (await client.click(parent, label)).body;
    const taskId = await opened(parent, label, { enableRemix: true });
    const { body } = await client.submit('modal', { taskId, prompt: 'an owl in snow' });
    const same = (
      await client.submit('modal', { taskId: await opened(parent, label, { enableRemix: true }) })
    ).body;
    client.wait();
    const before = await client.task(plainly.result);
    const after = await client.task(body.result);
    expect(after).toMatchObject({ action: before.action, prompt: 'an owl in snow', status: 'SUCCESS' });
    expect((await client.task(same.result)).prompt).toBe('a fox at dusk');
    expect(after.buttons).toHaveLength(before.buttons.length);
    const show = (task: { imageUrl: string; videoUrl: string }) =>
      client.bytes(task.videoUrl || task.imageUrl);
    expect((await show(before)).equals(await show(after))).toBe(false);
  },
);

test('an account without remix refuses it only for buttons that need it', async () => {
  client = await start({ settings: { quirks: new Set(['no-remix']) } });
  const parent = await upscaled();
  expect((await client.click(parent, 'Vary (Strong)', { enableRemix: true })).body).toMatchObject({
    code: 4,
  });
  expect((await client.click(parent, 'Vary (Strong)')).body.code).toBe(1);
  await opened(parent, 'Vary (Region)', { enableRemix: true });
});

describe('an answered modal', () => {
  test('continues under the same id', async () => {
    client = await start({ settings: { modalTask: 'same' } });
    const taskId = await opened(await upscaled(), 'Custom Zoom');
    const made = client.sandbox.counters().tasks.made;
    const { body } = await client.submit('modal', { taskId, prompt: 'a fox --zoom 2' });
    expect(body).toMatchObject({ code: 1, result: taskId });
    expect((await client.task(taskId)).status).toBe('NOT_START');
    client.wait();
    expect(await client.task(taskId)).toMatchObject({ status: 'SUCCESS', prompt: 'a fox --zoom 2' });
    expect(client.sandbox.counters().tasks.made).toBe(made);
  });

  test.each(['new', 'same'] as const)('shows MODAL until the work is done, id %s', async (modalTask) => {
    client = await start({ settings: { quirks: new Set(['modal-linger']), modalTask, spread: 0 } });
    const taskId = await opened(await upscaled(), 'Custom Zoom');
    const { body } = await client.submit('modal', { taskId, prompt: 'a fox --zoom 2' });
    client.clock.time += 2399;
    expect((await client.task(taskId)).status).toBe('MODAL');
    expect((await client.task(body.result)).status).toBe(modalTask === 'same' ? 'MODAL' : 'IN_PROGRESS');
    client.clock.time += 1;
    expect((await client.task(body.result)).status).toBe('SUCCESS');
    expect((await client.task(taskId)).status).toBe('SUCCESS');
  });

  test('shows its answer to a client that lost the response', async () => {
    client = await start();
    const taskId = await opened(await upscaled(), 'Custom Zoom');
    await client.submit('modal', { taskId, prompt: 'a fox --zoom 2' });
    client.wait();
    const task = await client.task(taskId);
    expect(task.status).toBe('SUCCESS');
    expect((await client.action(taskId, task.buttons[0].customId)).body.code).toBe(1);
  });

  test('fails if it is answered too late', async () => {
    client = await start({ settings: { modalLife: 3_600_000 } });
    const taskId = await opened(await upscaled(), 'Custom Zoom');
    client.clock.time += 3_600_001;
    const { body } = await client.submit('modal', { taskId, prompt: 'a fox --zoom 2' });
    client.wait();
    expect(await client.task(body.result)).toMatchObject({ status: 'FAILURE', failReason: '任务提交超时' });
  });

  test('is refused without a prompt if there is no earlier one', async () => {
    client = await start();
    const image = dataUri(await plain('#884422'));
    const blend = (await client.submit('blend', { base64Array: [image, image] })).body.result;
    client.wait();
    const taskId = await opened(await client.press(blend, 'U1'), 'Vary (Strong)', { enableRemix: true });
    const { body } = await client.submit('modal', { taskId, prompt: '  ' });
    expect(body).toMatchObject({ code: 4, description: 'prompt不能为空' });
  });
});
