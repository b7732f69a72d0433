import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../cli/test-io.ts';
import { isInstalled } from '../rig/cli.ts';
import type { FakeServiceOptions } from '../rig/fake-service.ts';
import { useModalLag } from '../rig/modal-lag.ts';
import { openPlace, type RunPlace } from '../rig/run-place.ts';
import { everyKind, oneModal, oneOfEveryKind } from './pipelines.ts';

// A gateway may lag for 45 s; here nothing does, but for those that show MODAL until the work is done.
useModalLag(300);

const repaint = async (place: RunPlace): Promise<Record<string, string>> =>
  (await place.rows()).find(({ step }) => step === 'repaint') ?? {};

/** What is asked of a service that answers modals so, and is asked twice. */
const quirks: readonly (readonly [string, FakeServiceOptions])[] = [
  ['code 21 at once, and a new task', {}],
  ['code 21 at once, and the same task', { modalTask: 'same' }],
  ['code 1, so that only a look shows MODAL', { modalCode: 1 }],
  ['code 1, and the same task', { modalCode: 1, modalTask: 'same' }],
  ['MODAL until the work is done', { modalLingers: true, polls: 3 }],
  ['MODAL of the same task until the work is done', { modalLingers: true, modalTask: 'same', polls: 3 }],
  ['ids as bare numbers beyond 2^53', { bareIds: true, id: (n) => `1400192973884${1000 + n}` }],
  ['tasks that cannot be listed', { listing: false }],
  ['links that work once', { downloads: 1 }],
  ['the names of a midjourney-proxy', { names: 'midjourney-proxy' }],
];

describe('a run of every kind of image work', () => {
  it.each(quirks)('against a service with %s', async (_name, options) => {
    const names = options.names === undefined ? '' : `, names: ${options.names}`;
    const pipeline = oneOfEveryKind.replace('{ id: fake }', `{ id: fake${names} }`);
    await using place = await openPlace(pipeline, options);
    const { service } = place;
    const { code, err } = await place.run();
    expect(code, err).toBe(0);
    const rows = await place.rows();
    expect(rows.map(({ status }) => status)).toEqual(Array(everyKind.rows).fill('done'));
    // Every attempt was a task, and every modal was answered once.
    const jobs = new Map(rows.map(({ job = '', attempts = '' }) => [job, attempts]));
    expect([...jobs.values()]).toEqual(Array(everyKind.jobs).fill('1'));
    expect(service.submits.all.length).toBe(everyKind.jobs);
    expect([service.count('modal'), service.submits.modals.length]).toEqual([3, 3]);
    // Each task carries the key of its job.
    expect(new Set(service.submits.all.map(({ task }) => task.tag))).toEqual(new Set(jobs.keys()));

    const manifest = join(place.directory, 'manifest.csv');
    const bytes = await readFile(manifest);
    const asked =
      service.submits.all.length + service.count('fetch') + service.count('list') + service.count('image');
    const again = await place.run();
    expect(again.code, again.err).toBe(0);
    expect(
      service.submits.all.length + service.count('fetch') + service.count('list') + service.count('image'),
    ).toBe(asked);
    expect((await readFile(manifest)).equals(bytes)).toBe(true);
  });

  it('confirms a modal with the pipeline’s values: prompt, and a mask that is white where it is repainted', async () => {
    await using place = await openPlace(oneModal);
    expect((await place.run()).code).toBe(0);
    const [modal] = place.service.submits.modals;
    expect(modal?.body).toMatchObject({ taskId: modal?.task.id, prompt: 'a red scarf' });
    expect(modal?.body['maskBase64']).toMatch(/^data:image\/png;base64,/);
    const [click] = place.service.submits.all.slice(-1);
    expect(click?.body).toMatchObject({ enableRemix: true });
    expect(await repaint(place)).toMatchObject({ prompt: 'a red scarf', task_id: modal?.result.id });
  });
});

/** What a describe suggests is drawn, and varied with the words that it was drawn from. */
const suggested = `name: killed
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms }
poll: { min: 5ms, max: 20ms }
steps:
  grid:
    imagine: a fox
    path: U1
  words:
    from: grid/U1
    describe: { image: parent }
    path: [prompt 2, { button: V1, remix: true }, U1, { button: Vary (Strong), remix: true }]
`;

it('the prompt of a describe confirms its button and every remix below, and the manifest shows it', async () => {
  await using place = await openPlace(suggested);
  const { code, err } = await place.run();
  expect(code, err).toBe(0);
  const prompts = place.service.submits.modals.map(({ body }) => body['prompt']);
  expect([prompts.length, new Set(prompts).size]).toEqual([3, 1]);
  expect(prompts[0]).toMatch(/^describe .*, way 2 --ar 1:1$/);
  const below = (await place.rows()).filter(({ branch = '' }) => branch.includes('prompt 2'));
  expect(below.map(({ prompt }) => prompt)).toEqual(Array(4).fill(prompts[0]));
});

/** What is known of gateways (gateway 5.4) names the customId of a manual animation, and no label. */
const byHand = (answer: string): string => `name: killed
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms }
poll: { min: 5ms, max: 20ms }
steps:
  grid:
    imagine: a fox
    path: [U1, { button: "/::video::.*::manual$/"${answer} }, U2]
`;

describe('a manual animation', () => {
  it.each([21, 1] as const)('is confirmed with the prompt beside its button: code %i', async (modalCode) => {
    await using place = await openPlace(byHand(', prompt: it runs'), { manualAnimation: true, modalCode });
    const { code, err } = await place.run();
    expect(code, err).toBe(0);
    const { modals, all } = place.service.submits;
    expect(modals.map(({ body }) => body['prompt'])).toEqual(['it runs']);
    expect(modals[0]?.body).not.toHaveProperty('maskBase64');
    expect(all.map(({ body }) => body['enableRemix'])).toEqual(Array(4).fill(undefined));
    const films = (await place.rows()).filter(({ mime }) => mime === 'video/mp4');
    expect(films.map(({ prompt, output }) => [prompt, output])).toEqual([
      ...['1', '2', '3', '4'].map((output) => ['it runs', output]),
      ['it runs', '1'],
    ]);
  });

  it('without a prompt is an error of the pipeline, and nothing is asked for', async () => {
    await using place = await openPlace(byHand(''), { manualAnimation: true });
    const { code, err } = await place.run();
    expect([code, place.service.count('imagine')]).toEqual([2, 0]);
    expect(err).toContain('modal.prompt');
  });
});

/** A variation without anything that could answer a modal. */
const unanswered = `name: killed
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms }
poll: { min: 5ms, max: 20ms }
steps:
  grid:
    imagine: a fox
    path: V1
`;

describe('a modal that nobody confirms', () => {
  it.each([21, 1] as const)(
    'fails its job with modal.unanswered and what to write: code %i',
    async (modalCode) => {
      await using place = await openPlace(unanswered, { remix: true, modalCode });
      const { service } = place;
      const first = await place.run();
      expect(first.code, first.err).toBe(1);
      const row = (await place.rows()).find(({ branch }) => branch === 'V1');
      expect(row).toMatchObject({ status: 'failed', error_code: 'modal.unanswered', attempts: '1' });
      expect(row?.['error_message']).toMatch(/`prompt`.*`mask`/);
      expect(service.count('modal')).toBe(0);
      // It stays so: neither another click nor a modal.
      expect((await place.run()).code).toBe(1);
      expect([service.count('action'), service.count('modal')]).toEqual([1, 0]);
    },
  );
});

/** Below one grid: what has to be asked for, and what does not. */
const remixed = `name: killed
service: { id: fake }
poll: { min: 5ms, max: 20ms }
steps:
  grid: { imagine: a fox }
  same: { from: grid, click: V1, remix: true }
  other: { from: grid, click: V2, remix: true, prompt: an owl }
`;

it('a gateway that opens no window fails what was to be said there, and nothing else', async () => {
  await using place = await openPlace(remixed, { windowless: true });
  expect((await place.run()).code).toBe(1);
  const rows = await place.rows();
  expect(rows.map(({ step, status, error_code }) => [step, status, error_code])).toEqual([
    ['grid', 'done', ''],
    ['same', 'done', ''],
    ['other', 'failed', 'modal.not-opened'],
  ]);
  expect(rows[2]?.['error_message']).toMatch(/V2.*`prompt`/);
  // It stays so without a word of the user's.
  expect((await place.run()).code).toBe(1);
  expect([place.service.count('action'), place.service.count('modal')]).toEqual([2, 0]);
});

describe('a modal whose confirmation gets no response', () => {
  it('is polled first: one that was carried out is not sent again', async () => {
    await using place = await openPlace(oneModal);
    const { service } = place;
    service.fault('modal', { reset: 'after' }, { times: 1 });
    const { code, err } = await place.run();
    expect(code, err).toBe(0);
    expect([service.count('modal'), service.count('action')]).toEqual([1, 2]);
    expect(await repaint(place)).toMatchObject({ status: 'done', attempts: '1' });
  });

  // A gateway lags for milliseconds in this process alone.
  it.skipIf(isInstalled)(
    'is in doubt while MODAL shows, and --in-doubt retry sends the modal again, never the click',
    async () => {
      await using place = await openPlace(oneModal);
      const { service } = place;
      service.fault('modal', { reset: 'before' }, { times: 1 });
      const lost = await place.run();
      expect(lost.code, lost.err).toBe(5);
      expect(await repaint(place)).toMatchObject({ status: 'in-doubt' });
      // By itself it does nothing.
      expect((await place.run()).code).toBe(5);
      expect([service.count('modal'), service.count('action')]).toEqual([1, 2]);

      const retried = await place.run('--in-doubt', 'retry');
      expect(retried.code, retried.err).toBe(0);
      expect([service.count('modal'), service.count('action')]).toEqual([2, 2]);
      expect(service.submits.secondModals).toEqual([]);
      expect(await repaint(place)).toMatchObject({ status: 'done', attempts: '2' });
    },
  );

  // A gateway lags for milliseconds in this process alone.
  it.skipIf(isInstalled)(
    'stays in doubt while a service that took it shows MODAL until the work is done, and is found then',
    async () => {
      await using place = await openPlace(oneModal, {
        modalLingers: true,
        script: ({ pressed }) => (pressed?.label === 'Vary (Region)' ? { polls: Infinity } : undefined),
      });
      const { service } = place;
      service.fault('modal', { reset: 'after' }, { times: 1 });
      expect((await place.run()).code).toBe(5);
      // On the user's word it is sent again. The refusal says nothing of the first one.
      expect((await place.run('--in-doubt', 'retry')).code).toBe(5);
      expect([service.count('modal'), service.submits.secondModals.length]).toEqual([2, 1]);
      service.finish();
      const found = await place.run('--in-doubt', 'retry');
      expect(found.code, found.err).toBe(0);
      expect([service.count('modal'), service.submits.modals.length, service.count('action')]).toEqual([
        2, 1, 2,
      ]);
      expect(await repaint(place)).toMatchObject({ status: 'done' });
    },
  );
});

describe('promptpress resolve, of a job whose modal is in doubt,', () => {
  const lost = async (place: RunPlace): Promise<string> => {
    place.service.fault('modal', { reset: 'before' }, { times: 1 });
    expect((await place.run()).code).toBe(5);
    return (await repaint(place))['job'] ?? '';
  };
  const resolve = (place: RunPlace, ...args: string[]): Promise<Said> =>
    promptpress(['resolve', ...args], { cwd: place.folder, env: place.env });

  it('--retry sends the modal again, and does not click', async () => {
    await using place = await openPlace(oneModal);
    const job = await lost(place);
    const said = await resolve(place, job, place.directory, '--retry');
    expect(said.code, said.err).toBe(0);
    const next = await place.run();
    expect(next.code, next.err).toBe(0);
    expect([place.service.count('modal'), place.service.count('action')]).toEqual([2, 2]);
    expect(await repaint(place)).toMatchObject({ status: 'done' });
  });

  // A gateway lags for milliseconds in this process alone.
  it.skipIf(isInstalled)('--task continues with the task that was found', async () => {
    await using place = await openPlace(oneModal);
    const { service } = place;
    const job = await lost(place);
    const waiting = service.submits.all.at(-1)?.task.id;
    const body = { taskId: waiting, prompt: 'a red scarf', maskBase64: 'data:image/png;base64,aGk=' };
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/img/submit/modal`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const { result } = (await response.json()) as { result: string };
    const said = await resolve(place, job, place.directory, '--task', result);
    expect(said.code, said.err).toBe(0);
    const next = await place.run();
    expect(next.code, next.err).toBe(0);
    expect([service.submits.modals.length, service.count('action')]).toEqual([1, 2]);
    expect(await repaint(place)).toMatchObject({ status: 'done', task_id: result });
  });
});

describe('the confirmation of a modal', () => {
  it.each([
    ['queue full', { code: 23, description: 'full' }],
    ['503', { status: 503, body: { error: { message: 'busy', type: 'x', code: '' } } }],
    ['429', { status: 429, body: { error: { message: 'slow', type: 'x', code: '' } } }],
  ] as const)('is sent again after %s, and its click is not', async (_name, refusal) => {
    await using place = await openPlace(oneModal);
    const { service } = place;
    service.fault('modal', refusal, { times: 1 });
    const { code, err } = await place.run();
    expect(code, err).toBe(0);
    expect([service.count('modal'), service.count('action')]).toEqual([2, 2]);
    expect(service.submits.modals.length).toBe(1);
  });

  it.each([
    [24, 'task.moderated'],
    [4, 'submit.refused'],
  ])(
    'that is refused with code %i fails its job, and --retry-failed confirms the open dialog, without a click',
    async (code, error_code) => {
      await using place = await openPlace(oneModal);
      const { service } = place;
      service.fault('modal', { code, description: 'no' }, { times: 1 });
      expect((await place.run()).code).toBe(1);
      expect(await repaint(place)).toMatchObject({ status: 'failed', error_code });
      const retried = await place.run('--retry-failed');
      expect(retried.code, retried.err).toBe(0);
      expect(service.submits.modals.length).toBe(1);
      expect([service.count('modal'), service.count('action')]).toEqual([2, 2]);
      expect(await repaint(place)).toMatchObject({ status: 'done', attempts: '2' });
    },
  );

  it('that is refused is tried again with a click where its dialog is gone', async () => {
    let isGone = false;
    await using place = await openPlace(oneModal, {
      script: ({ pressed, number }) =>
        pressed?.label === 'Vary (Region)' && number === 3
          ? { answer: () => (isGone ? { status: 'FAILURE', failReason: 'no', progress: '' } : {}) }
          : undefined,
    });
    const { service } = place;
    service.fault('modal', { code: 4, description: 'no' }, { times: 1 });
    expect((await place.run()).code).toBe(1);
    isGone = true;
    const retried = await place.run('--retry-failed');
    expect(retried.code, retried.err).toBe(0);
    expect([service.count('modal'), service.count('action')]).toEqual([2, 3]);
    expect(await repaint(place)).toMatchObject({ status: 'done', attempts: '2' });
  });
});

/** What is asked for without a grid before it. */
const film = `name: killed
service: { id: fake }
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms }
timeouts: { task: 3s }
poll: { min: 5ms, max: 20ms }
steps:
  grid:
    imagine: a fox
    path: U1
  film:
    from: grid/U1
    video: { image: parent, batchSize: 2 }
  repaint:
    from: grid/U1
    click: Vary (Region)
    prompt: a red scarf
    mask: { shapes: [{ ellipse: [0, 0, 1, 1] }] }
`;

it('films and repaints that come late are collected by the next run, and paid once', async () => {
  const late = new Set(['video', 'Vary (Region)']);
  await using place = await openPlace(film, {
    script: ({ kind, pressed }) =>
      late.has(kind) || late.has(pressed?.label ?? '') ? { polls: Infinity } : undefined,
  });
  const { service } = place;
  const first = await place.run();
  expect(first.code, first.err).toBe(1);
  const failed = (await place.rows()).filter(({ status }) => status === 'failed');
  expect(failed.map(({ step, error_code }) => [step, error_code])).toEqual([
    ['film', 'task.timeout'],
    ['repaint', 'task.timeout'],
  ]);
  service.finish();
  const next = await place.run();
  expect(next.code, next.err).toBe(0);
  expect((await place.rows()).map(({ step, output, status }) => [step, output, status])).toEqual([
    ['grid', '1', 'done'],
    ['grid', '1', 'done'],
    ['film', '1', 'done'],
    ['film', '2', 'done'],
    ['repaint', '1', 'done'],
  ]);
  expect([service.submits.all.length, service.count('modal')]).toEqual([4, 1]);
});
