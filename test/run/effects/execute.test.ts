import { describe, expect, it } from 'vitest';
import type { Attempt, JobRecord } from '../../../src/plan/job.ts';
import { Effects } from '../../../src/run/effects/execute.ts';
import type { Job, Send } from '../../../src/run/machine/job.ts';
import type { RunPorts, RunSettings } from '../../../src/run/ports.ts';
import type { ImageService, Task } from '../../../src/service/image-service.ts';
import { failure } from '../../rig/failure.ts';
import { cutNowhere } from '../../rig/frames.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { keptNowhere, noText } from '../../rig/text-ports.ts';
import { textReply } from '../../rig/text-reply.ts';

const running = new AbortController().signal;
const accepted = { ok: true, value: { kind: 'accepted', taskId: 'T2', code: 1 } } as const;
const refused = (error: ReturnType<typeof failure>) => ({ ok: false, error }) as const;
const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  state: 'unfinished',
  status: 'IN_PROGRESS',
  buttons: [],
  ...more,
});

/** Effects whose ports note their last request and its signal; each request takes 25 ms. */
function rig(
  change: {
    readonly service?: Partial<ImageService>;
    readonly artifacts?: Partial<RunPorts['artifacts']>;
    readonly text?: Partial<RunPorts['text']>;
    readonly inputs?: Partial<RunPorts['inputs']>;
    readonly settings?: Pick<RunSettings, 'tag'>;
    readonly records?: readonly JobRecord[];
    readonly attempts?: readonly Attempt[];
  } = {},
) {
  let now = epoch;
  const requests: (readonly [name: string, request: unknown, isAborted: () => boolean])[] = [];
  const noted =
    <T>(name: string, result: T) =>
    (request: unknown, signal: AbortSignal): Promise<T> => {
      requests.push([name, request, () => signal.aborted]);
      now += 25;
      return Promise.resolve(result);
    };
  const store = memoryStore();
  store.commit({ records: change.records ?? [], attempts: change.attempts ?? [] });
  const ports: RunPorts = {
    ...noText,
    store,
    random: () => 0.5,
    clock: { now: () => now, at: () => () => undefined },
    text: {
      ...noText.text,
      ask: noted('ask', { ok: true as const, value: textReply({ text: 'Hello.' }) }),
      ...change.text,
    },
    inputs: {
      load: noted('load', {
        ok: true as const,
        value: { mimeType: 'image/png', data: 'AAAA', width: 64, height: 32 },
      }),
      mask: noted('mask', {
        ok: true as const,
        value: { mimeType: 'image/png', data: 'MMMM', width: 64, height: 32 },
      }),
      ...change.inputs,
    },
    artifacts: {
      save: noted('save', {
        ok: true as const,
        value: { output: 3, file: 'f', bytes: 1, sha256: 'x', mime: 'image/png' },
      }),
      cut: cutNowhere,
      keep: keptNowhere,
      close: () => Promise.resolve(),
      ...change.artifacts,
    },
    service: {
      action: noted('action', accepted),
      modal: noted('modal', accepted),
      begin: noted('begin', accepted),
      fetchTask: noted('fetchTask', { ok: true as const, value: task('T1') }),
      fetchTasks: noted('fetchTasks', { ok: true as const, value: [task('T1')] }),
      close: () => Promise.resolve(),
      ...change.service,
    },
  };
  const effects = new Effects(ports, {
    speed: 'fast',
    retry: { attempts: 2, baseMs: 1, capMs: 1 } as RunSettings['retry'],
    ...change.settings,
  });
  const carryOut = (record: JobRecord, send: Send, more: Partial<Job> = {}, signal = running) =>
    effects.carryOut({ job: job(record, more), send }, signal);
  return { requests, carryOut, ports };
}

const parent = imagineRecord({
  status: 'done',
  artifacts: [{ output: 1, file: 'a.png', bytes: 3, sha256: 'x', mime: 'image/png', width: 64, height: 32 }],
});
const shown = [{ url: 'https://i/1.png' }] as const;
const click = clickRecord({
  status: 'submitting',
  pressed: { customId: 'MJ::Inpaint', label: '', emoji: '' },
  modal: { taskId: 'M1', sent: 1 },
  request: {
    kind: 'click',
    press: [],
    fields: { prompt: 'a hat' },
    mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] },
  },
});
const edit = imagineRecord({
  kind: 'edit',
  request: {
    kind: 'edit',
    fields: {},
    images: [...shown],
    mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] },
  },
});

describe('every request', () => {
  const table: readonly (readonly [string, JobRecord, Send])[] = [
    ['action', click, { kind: 'submit' }],
    ['begin', edit, { kind: 'submit' }],
    ['modal', click, { kind: 'modal' }],
    ['mask', click, { kind: 'mask' }],
    ['fetchTask', click, { kind: 'fetch', taskId: 'T1', why: 'poll' }],
    ['fetchTasks', click, { kind: 'list', targets: [{ key: 'bb22', taskId: 'T1' }] }],
    ['save', click, { kind: 'save', source: { url: 'https://i/2', media: 'image' }, output: 3 }],
    [
      'ask',
      textRecord({ request: { kind: 'generate', fields: { model: 'm' }, images: [...shown] } }),
      { kind: 'ask' },
    ],
  ];
  it.each(table)('ends with the run: %s, and its reads before it', async (name, record, send) => {
    const run = new AbortController();
    const { requests, carryOut } = rig({ records: [parent] });
    await carryOut(record, send, {}, run.signal);
    expect(requests.map(([one]) => one)).toContain(name);
    expect(requests.map(([, , isAborted]) => isAborted())).toEqual(requests.map(() => false));
    run.abort();
    expect(requests.map(([, , isAborted]) => isAborted())).toEqual(requests.map(() => true));
  });

  it('and a search end with the run', async () => {
    const run = new AbortController();
    let isAborted = () => false;
    const listTasks = (signal: AbortSignal) => {
      isAborted = () => signal.aborted;
      return Promise.resolve({ ok: true, value: [] } as const);
    };
    await rig({ service: { listTasks } }).carryOut(parent, { kind: 'search' }, {}, run.signal);
    run.abort();
    expect(isAborted()).toBe(true);
  });
});

describe('a submission', () => {
  it('carries the tag of its job unless the pipeline says otherwise', async () => {
    const tagged = rig();
    await tagged.carryOut(imagineRecord(), { kind: 'submit' });
    const bare = rig({ settings: { tag: false } });
    await bare.carryOut(imagineRecord(), { kind: 'submit' });
    const common = { kind: 'imagine', fields: { prompt: 'a fox' }, images: [], speed: 'fast' };
    expect([tagged, bare].map(({ requests }) => requests[0]?.[1])).toEqual([
      { ...common, tag: 'aa11' },
      common,
    ]);
  });

  it('of a click presses its button on the parent’s task, with the extra fields of its step', async () => {
    const { requests, carryOut } = rig();
    const request = { kind: 'click', press: [], fields: {}, extra: { notifyHook: 'h' } } as const;
    const pressed = { customId: 'MJ::JOB::upsample::1::x', label: 'U1', emoji: '' };
    await carryOut(clickRecord({ pressed, request }), { kind: 'submit' }, { parentTaskId: 'T9' });
    expect(requests.map(([name, sent]) => [name, sent])).toEqual([
      [
        'action',
        {
          taskId: 'T9',
          customId: 'MJ::JOB::upsample::1::x',
          extra: { notifyHook: 'h' },
          speed: 'fast',
          tag: 'bb22',
        },
      ],
    ]);
  });
});

describe('a search', () => {
  it('finds the tasks with the job’s tag that no attempt of the job knows', async () => {
    const tagged = { tag: 'aa11', submittedAt: epoch };
    const listTasks = () =>
      Promise.resolve({
        ok: true,
        value: [
          task('T1', tagged),
          task('T2', tagged),
          task('T3', { ...tagged, tag: 'other' }),
          task('T4', { ...tagged, state: 'success' }),
        ],
      } as const);
    const { carryOut } = rig({
      service: { listTasks },
      attempts: [{ key: 'aa11', at: epoch, outcome: 'accepted', taskId: 'T1' }],
    });
    const result = await carryOut(imagineRecord({ submittedAt: epoch }), { kind: 'search' });
    expect(result).toMatchObject({
      input: { type: 'searched', key: 'aa11', result: { ok: true, value: [{ id: 'T4' }, { id: 'T2' }] } },
      event: { route: 'poll', outcome: '2 tasks found' },
    });
  });

  it('has no result at a service that lists no tasks, unlike an empty list', async () => {
    expect(await rig().carryOut(parent, { kind: 'search' })).toMatchObject({
      input: { type: 'searched', result: { ok: false, error: { code: 'service.no-listing' } } },
    });
  });
});

describe('a request that the run aborted', () => {
  it.each([
    ['connection.aborted', { kind: 'fetch', taskId: 'T1', why: 'poll' }],
    ['download.aborted', { kind: 'save', source: { url: 'https://i/2', media: 'image' }, output: 1 }],
  ] as const)('has no result: %s', async (code, send) => {
    const { carryOut } = rig({
      service: { fetchTask: () => Promise.resolve(refused(failure(code, 'retry'))) },
      artifacts: {
        save: () => Promise.resolve({ ok: false, error: { code, class: 'retry', message: 'x' } }),
      },
    });
    expect(await carryOut(parent, send)).toBeUndefined();
  });

  it('has one where it certainly never left, even while its images were read', async () => {
    const unsent = rig({
      service: { begin: () => Promise.resolve(refused(failure('connection.aborted', 'unsent'))) },
    });
    expect(await unsent.carryOut(imagineRecord(), { kind: 'submit' })).toMatchObject({
      input: { type: 'submitted', result: { ok: false, error: { class: 'unsent' } } },
    });
    const error = { code: 'download.aborted', class: 'retry', message: 'left' } as const;
    const unread = rig({ inputs: { load: () => Promise.resolve({ ok: false, error }) } });
    const record = imagineRecord({ request: { kind: 'imagine', fields: {}, images: [...shown] } });
    expect(await unread.carryOut(record, { kind: 'submit' })).toMatchObject({
      input: { type: 'unread', error },
      event: { outcome: 'download.aborted' },
    });
  });
});

describe('a save', () => {
  it('fetches the link with the number of its output and its kind of file', async () => {
    const { requests, carryOut } = rig();
    const send = { kind: 'save', source: { url: 'https://i/2', media: 'video' }, output: 3 } as const;
    await carryOut(parent, send);
    expect(requests[0]?.[1]).toEqual({ key: 'aa11', output: 3, url: 'https://i/2', media: 'video' });
  });

  it('writes no file for a text, which the record contains', async () => {
    const { requests, carryOut } = rig();
    const send = { kind: 'save', source: { isText: true }, output: 1 } as const;
    expect(await carryOut(parent, send)).toMatchObject({
      input: { type: 'saved', result: { ok: true, value: undefined } },
    });
    expect(requests).toEqual([]);
  });
});

describe('the log of a request', () => {
  const poll = { kind: 'fetch', taskId: 'T1', why: 'poll' } as const;

  it('has duration, route, job and outcome', async () => {
    expect((await rig().carryOut(parent, poll))?.event).toEqual({
      type: 'request:end',
      route: 'poll',
      key: 'aa11',
      ms: 25,
      outcome: 'IN_PROGRESS',
    });
  });

  it('has the number of listed tasks that the service knew', async () => {
    const targets = ['T1', 'T2', 'T3'].map((taskId) => ({ key: `k${taskId}`, taskId }));
    const { requests, carryOut } = rig();
    const result = await carryOut(parent, { kind: 'list', targets });
    expect(result?.event).toMatchObject({ outcome: '1 of 3 tasks' });
    expect(result?.input).toMatchObject({ type: 'listed', targets });
    expect(requests[0]?.[1]).toEqual(['T1', 'T2', 'T3']);
  });

  it('has code and message of a failure, including a mask that does not fit', async () => {
    const error = { code: 'mask.size', class: 'permanent', message: 'It is 64 × 64.' } as const;
    const masks = rig({
      records: [parent],
      inputs: { mask: () => Promise.resolve({ ok: false, error }) },
    });
    expect((await masks.carryOut(click, { kind: 'mask' }))?.event).toMatchObject({
      route: 'download',
      outcome: 'mask.size',
      message: 'It is 64 × 64.',
    });
    const polls = rig({
      service: { fetchTask: () => Promise.resolve(refused(failure('service.busy', 'retry'))) },
    });
    expect((await polls.carryOut(parent, poll))?.event).toMatchObject({
      outcome: 'service.busy',
      message: 'service.busy (made up)',
    });
  });

  it('has the code of a reply that is not a result', async () => {
    const answers = (text: string) =>
      rig({ text: { ask: () => Promise.resolve({ ok: true, value: textReply({ text }) }) } }).carryOut(
        textRecord(),
        { kind: 'ask' },
      );
    const outcomes = [(await answers('Hello.'))?.event, (await answers(' '))?.event];
    expect(outcomes).toMatchObject([{ route: 'text', outcome: 'done' }, { outcome: 'text.empty' }]);
  });

  it('has one word for an accepted submission, and for a mask that fits', async () => {
    const { carryOut } = rig({ records: [parent] });
    expect((await carryOut(imagineRecord(), { kind: 'submit' }))?.event).toMatchObject({
      route: 'submit',
      outcome: 'accepted',
    });
    expect((await carryOut(click, { kind: 'mask' }))?.event).toMatchObject({ outcome: 'masked' });
  });
});

describe('what the service tells of its limits comes beside the result', () => {
  const told = [{ of: 'requests', limit: 60, remaining: 59, resetMs: 1000 }] as const;
  const list = { kind: 'list', targets: [{ key: 'bb22', taskId: 'T1' }] } as const;
  const sends: readonly (readonly [type: string, record: JobRecord, send: Send])[] = [
    ['submitted', imagineRecord(), { kind: 'submit' }],
    ['submitted', { ...click, request: { kind: 'click', press: [], fields: {} } }, { kind: 'modal' }],
    ['fetched', click, { kind: 'fetch', taskId: 'T1', why: 'poll' }],
    ['listed', click, list],
    ['searched', imagineRecord(), { kind: 'search' }],
    ['asked', textRecord(), { kind: 'ask' }],
  ];
  const replying = (
    result: { readonly ok: false; readonly error: ReturnType<typeof failure> } | undefined,
    tells: object,
  ) => {
    const reply =
      <T>(value: T) =>
      () =>
        Promise.resolve({ ...(result ?? { ok: true as const, value }), ...tells });
    const { value } = accepted;
    return rig({
      service: {
        begin: reply(value),
        modal: reply(value),
        fetchTask: reply(task('T1')),
        fetchTasks: reply([task('T1')]),
        listTasks: reply([task('T1')]),
      },
      text: { ask: reply(textReply({ text: 'Hello.' })) },
    });
  };

  it.each(sends)('%s', async (type, record, send) => {
    const answer = await replying(undefined, { told }).carryOut(record, send);
    expect(answer?.input).toMatchObject({ type, told });
    const refusal = await replying(refused(failure('service.throttled', 'throttle')), { told }).carryOut(
      record,
      send,
    );
    expect(refusal?.input).toMatchObject({ type, told });
    const mute = await replying(undefined, {}).carryOut(record, send);
    expect(mute?.input).not.toHaveProperty('told');
  });
});
