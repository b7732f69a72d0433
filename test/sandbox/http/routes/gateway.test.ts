import { afterEach, describe, expect, test } from 'vitest';
import type { Client } from '../../client.ts';
import { dataUri, plain } from '../../pixels.ts';
import { struck } from '../../struck.ts';

let client: Client;
afterEach(() => client.sandbox.close());

describe('a click whose parent is not ready is refused once', () => {
  const refusals = [
    ['', 400, { description: 'task_status_not_success ', type: 'upstream_error', code: 4 }],
    ['=status', 200, { code: 4, description: '关联任务状态错误', result: null, properties: {} }],
    ['=missing', 200, { code: 3, description: '关联任务不存在或失效', result: null, properties: {} }],
    ['=button', 400, { error: { message: 'custom_id is not valid' } }],
  ] as const;
  test.each(refusals)('action:not-ready%s', async (words, status, body) => {
    client = await struck({}, `action:not-ready${words}:at 1`);
    const id = await client.finished('a fox');
    const response = await client.click(id, 'U1');
    expect([response.status, response.body]).toEqual([status, body]);
    expect(client.sandbox.counters().tasks.made).toBe(1);
    expect((await client.click(id, 'U1')).body.code).toBe(1);
  });
});

test('a saturated channel is answered with code 30 and 429', async () => {
  client = await struck({}, 'submit:code=30:at 1');
  const response = await client.imagine('a fox');
  expect([response.status, response.body]).toEqual([
    429,
    {
      description: '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。 ',
      type: 'upstream_error',
      code: 30,
    },
  ]);
  expect((await client.imagine('a fox')).body.code).toBe(1);
});

describe('a gateway that rewrites codes', () => {
  test('sends 1 instead of 22', async () => {
    client = await struck({ quirks: new Set(['rewrite-codes']), concurrency: 1 });
    // One works and one waits.
    for (const prompt of ['a fox', 'a cat']) await client.imagine(prompt);
    expect((await client.imagine('an owl')).body).toMatchObject({
      code: 1,
      properties: { numberOfQueues: 1 },
    });
  });

  test('sends 1 instead of 21, except for Vary (Region) and Custom Zoom', async () => {
    client = await struck({ quirks: new Set(['rewrite-codes']) });
    const id = await client.press(await client.finished('a fox'), 'U1');
    const codes: Record<string, number> = {};
    for (const label of [
      'Vary (Region)',
      'Custom Zoom',
      'Vary (Strong)',
      '⬅️',
      '🔄',
      'Animate (Low motion)',
    ]) {
      const { body } = await client.click(id, label, { enableRemix: true });
      codes[label] = body.code;
      expect((await client.task(body.result)).status).toBe('MODAL');
    }
    expect(codes).toEqual({
      'Vary (Region)': 21,
      'Custom Zoom': 21,
      'Vary (Strong)': 1,
      '⬅️': 1,
      '🔄': 1,
      'Animate (Low motion)': 1,
    });
  });
});

describe('a stock gateway knows only the ordinary buttons', () => {
  const flat = (customId: string): object => ({
    description: `unknown_action:${customId} `,
    type: 'upstream_error',
    code: 4,
  });

  test('of an image', async () => {
    client = await struck({
      quirks: new Set(['stock-buttons', 'bookmarks', 'manual-animate']),
      errorShape: 'flat',
    });
    const id = await client.press(await client.finished('a fox'), 'U1');
    const { buttons } = await client.task(id);
    const refused: string[] = [];
    for (const { customId, label, emoji } of buttons) {
      const { status, body } = await client.action(id, customId);
      if (status === 200) continue;
      expect([status, body]).toEqual([400, flat(customId)]);
      refused.push(label === '' ? emoji : label);
    }
    expect(buttons).toHaveLength(18);
    expect(refused).toEqual([
      'Animate (High motion)',
      'Animate (Low motion)',
      'Manual High Motion',
      'Manual Low Motion',
      '❤️',
    ]);
  });

  test('of a video and of a describe', async () => {
    client = await struck({ quirks: new Set(['stock-buttons']) });
    const image = dataUri(await plain('#446688'));
    const ids: string[] = [];
    for (const [route, body] of [
      ['video', { image, motion: 'low' }],
      ['describe', { base64: image }],
    ] as const) {
      ids.push((await client.submit(route, body)).body.result);
    }
    client.wait();
    const responses: string[] = [];
    for (const id of ids) {
      for (const { customId } of (await client.task(id)).buttons) {
        const { status, body } = await client.action(id, customId);
        const isNamed = body.error?.message.startsWith(`unknown_action:${customId} (request id: `);
        responses.push(`${status}${isNamed === true ? ' unknown' : ''}`);
      }
    }
    const unknown = Array.from({ length: 4 }, () => '400 unknown');
    // U1 to U4 of the videos and their reroll; four prompts, describe again and imagine all.
    expect(responses).toEqual([...unknown, '200', ...unknown, '400 unknown', '400 unknown']);
  });
});

test('a gateway that drops remix opens no modal and uses the earlier prompt', async () => {
  client = await struck({ quirks: new Set(['ignore-remix']) });
  const id = await client.press(await client.finished('a fox'), 'U1');
  const { body } = await client.click(id, 'Vary (Strong)', { enableRemix: true });
  expect(body.code).toBe(1);
  client.wait();
  expect(await client.task(body.result)).toMatchObject({ status: 'SUCCESS', prompt: 'a fox' });
  expect((await client.click(id, 'Vary (Region)', { enableRemix: true })).body.code).toBe(21);
});

test('a gateway that drops remix does not refuse it', async () => {
  client = await struck({ quirks: new Set(['ignore-remix', 'no-remix']) });
  const id = await client.finished('a fox');
  expect((await client.click(id, 'V1', { enableRemix: true })).body.code).toBe(1);
});
