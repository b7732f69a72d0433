import { describe, expect, it } from 'vitest';
import { createImageService } from '../../../src/service/client.ts';
import { namePresets } from '../../../src/service/names.ts';

const never = new AbortController().signal;

/** A service whose tasks are these records, by id; keeps the submissions. */
function serviceOf(records: Readonly<Record<string, object>>, clicks?: 'auto' | 'action' | 'change') {
  const sent: (readonly [string, unknown])[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const [, id] = /task\/(\w+)\/fetch$/.exec(pathname) ?? [];
    if (id !== undefined) return Response.json({ id, status: 'SUCCESS', ...records[id] });
    if (pathname.endsWith('list-by-condition'))
      return Response.json(
        Object.entries(records).map(([known, record]) => ({ id: known, status: 'SUCCESS', ...record })),
      );
    sent.push([pathname, JSON.parse(await new Response(init?.body ?? null).text())]);
    return Response.json({ code: 1, result: '9', properties: {} });
  };
  const service = createImageService({
    baseUrl: 'http://gateway.example',
    apiKey: 'sk-0123456789abcdef',
    names: namePresets['midjourney-proxy'],
    requestMs: 1_000,
    fetch,
    ...(clicks === undefined ? {} : { clicks }),
  });
  const buttonsOf = async (id: string): Promise<readonly string[]> => {
    const task = await service.fetchTask(id, never);
    return task.ok ? task.value.buttons.map(({ customId }) => customId) : ['failed'];
  };
  return { service, sent, buttonsOf };
}

const shown = { buttons: [{ customId: 'MJ::JOB::upsample::1::x', label: 'U1' }] };

describe('a gateway that shows no buttons', () => {
  it.each(['IMAGINE', 'VARIATION', 'REROLL', 'BLEND', 'imagine', undefined])(
    'gets the buttons of change for a grid of %s',
    async (action) => {
      const { buttonsOf } = serviceOf({ a: { action } });
      expect(await buttonsOf('a')).toHaveLength(9);
    },
  );

  it.each(['UPSCALE', 'DESCRIBE', 'VIDEO'])('gets no buttons for the result of %s', async (action) => {
    const { service } = serviceOf({ a: { action } });
    expect(await service.fetchTask('a', never)).toMatchObject({
      value: { buttons: [], buttonless: 'other' },
    });
  });

  it('gets them in a list of tasks too', async () => {
    const { service } = serviceOf({ a: {} });
    const tasks = await service.fetchTasks(['a'], never);
    expect(tasks.ok && tasks.value[0]?.buttons).toHaveLength(9);
  });

  it('is not assumed after a button was shown, or where null stands for no buttons', async () => {
    const { buttonsOf } = serviceOf({ a: shown, b: {}, c: { buttons: null } });
    expect(await buttonsOf('c')).toEqual([]);
    expect(await buttonsOf('a')).toHaveLength(1);
    expect(await buttonsOf('b')).toEqual([]);
  });

  it('is never assumed with clicks: action, and always with clicks: change', async () => {
    expect(await serviceOf({ a: {} }, 'action').buttonsOf('a')).toEqual([]);
    const { buttonsOf } = serviceOf({ a: shown, b: {} }, 'change');
    expect(await buttonsOf('a')).toEqual(['MJ::JOB::upsample::1::x']);
    expect(await buttonsOf('b')).toHaveLength(9);
  });
});

describe('a click', () => {
  it.each([
    ['auto', 'change::upsample::3', false, 'change', { action: 'UPSCALE', index: 3 }],
    ['auto', 'change::variation::2', false, 'change', { action: 'VARIATION', index: 2 }],
    ['auto', 'change::reroll', false, 'change', { action: 'REROLL' }],
    ['action', 'change::reroll', false, 'change', { action: 'REROLL' }],
    ['change', 'MJ::JOB::upsample::1::x', false, 'change', { action: 'UPSCALE', index: 1 }],
    ['change', 'MJ::JOB::reroll::0::x::SOLO', false, 'change', { action: 'REROLL' }],
    ['auto', 'MJ::JOB::upsample::1::x', false, 'action', { customId: 'MJ::JOB::upsample::1::x' }],
    ['change', 'MJ::JOB::low_variation::1::x', false, 'action', { customId: 'MJ::JOB::low_variation::1::x' }],
    [
      'change',
      'MJ::JOB::upsample_v6_2x_subtle::1::x',
      false,
      'action',
      { customId: 'MJ::JOB::upsample_v6_2x_subtle::1::x' },
    ],
    [
      'change',
      'MJ::JOB::variation::1::x',
      true,
      'action',
      { customId: 'MJ::JOB::variation::1::x', enableRemix: true },
    ],
  ] as const)('with clicks %s on %s goes by %s', async (clicks, customId, remix, path, fields) => {
    const { service, sent } = serviceOf({}, clicks);
    const enableRemix = remix ? { enableRemix: true } : {};
    await service.action({ taskId: '1', customId, ...enableRemix, speed: undefined, tag: 't' }, never);
    expect(sent).toEqual([[`/mj/submit/${path}`, { taskId: '1', ...fields, state: 't' }]]);
  });
});
