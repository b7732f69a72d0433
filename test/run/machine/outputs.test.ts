import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import { adopt } from '../../../src/run/machine/resume.ts';
import { failure } from '../../rig/failure.ts';
import type { Submission } from '../../rig/gateway/scripted-gateway.ts';
import { context, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { world } from '../../rig/world.ts';

const film = `name: test
steps:
  grid: { imagine: "a fox", path: U1 }
  film:
    from: grid/U1
    video: { image: parent, motion: low }
`;
const isFilm = ({ pressed, number }: Submission): boolean => pressed === '' && number > 1;

describe('a task with several files', () => {
  it('has one artifact for each video, in order', async () => {
    const { run, store } = await world(film);
    expect(run().end).toEqual({ kind: 'complete' });
    const [record] = [...store.withStatus('done')].filter(({ kind }) => kind === 'video');
    expect(record?.artifacts.map(({ output }) => output)).toEqual([1, 2, 3, 4]);
  });

  it('continues with the first missing file, wherever the run is killed', async () => {
    const calm = (await world(film)).run();
    for (let turn = 1; turn <= calm.turns; turn++) {
      const saves: number[] = [];
      const killed = await world(film, {
        onSave: (_, __, output) => {
          saves.push(output);
          return undefined;
        },
      });
      killed.run({ dieAfterTurns: turn });
      killed.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
      killed.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
      expect(killed.statuses()).toEqual({ done: 3 });
      // Of each kill at most one file is fetched again.
      expect(saves.length).toBeLessThanOrEqual(7);
      const [record] = [...killed.store.withStatus('done')].filter(({ kind }) => kind === 'video');
      expect(record?.artifacts.map(({ output }) => output)).toEqual([1, 2, 3, 4]);
    }
  });

  it('fetches fresh links when one is refused, and continues with the same file', async () => {
    let refused = 0;
    const { run, store } = await world(film, {
      onSave: (_, __, output) =>
        output === 3 && ++refused === 1
          ? { ok: false, error: { code: 'download.refused', class: 'fresh-link', message: '403' } }
          : undefined,
    });
    run();
    const [record] = [...store.withStatus('done')].filter(({ kind }) => kind === 'video');
    expect([record?.artifacts.length, refused]).toEqual([4, 2]);
  });

  it('fetches fresh links when one fails twice, and downloads every other file once', async () => {
    const asked: string[] = [];
    let unreached = 0;
    const { run, store } = await world(film, {
      onFetch: () => {
        asked.push('poll');
        return undefined;
      },
      onSave: (_, __, output) => {
        asked.push(`file ${output}`);
        return output === 3 && ++unreached <= 2
          ? { ok: false, error: { code: 'download.connection', class: 'retry', message: 'not found' } }
          : undefined;
      },
    });
    run();
    const [record] = [...store.withStatus('done')].filter(({ kind }) => kind === 'video');
    expect(record?.artifacts.map(({ output }) => output)).toEqual([1, 2, 3, 4]);
    expect(asked.slice(-7)).toEqual(['file 1', 'file 2', 'file 3', 'file 3', 'poll', 'file 3', 'file 4']);
  });
});

describe('a describe', () => {
  const running = (changes: Partial<JobRecord> = {}): Job =>
    job(
      imagineRecord({
        kind: 'describe',
        request: { kind: 'describe', fields: {}, images: [{ url: 'https://i/1' }] },
        status: 'running',
        taskId: 'T9',
        submittedAt: epoch,
        ...changes,
      }),
      { nextRequest: { kind: 'answer' } },
    );
  const ends = (from: Job, prompts: readonly string[]): Job =>
    step(
      from,
      {
        type: 'fetched',
        why: 'poll',
        result: {
          ok: true,
          value: {
            id: 'T9',
            state: 'success',
            status: 'SUCCESS',
            buttons: [],
            imageUrl: 'https://i/9',
            prompts,
          },
        },
      },
      context(),
    ).job;

  it('is done with its prompts, which its record has, and downloads nothing', () => {
    const { record, nextRequest } = ends(running(), ['a fox', 'a hare']);
    expect([record.status, record.result?.prompts, nextRequest.kind]).toEqual([
      'done',
      ['a fox', 'a hare'],
      'nothing',
    ]);
    // A release that wrote them may have left the job before it did.
    expect(adopt({ ...record, status: 'saving' }, 0, undefined).nextRequest).toEqual({
      kind: 'save',
      source: { isText: true },
      output: 1,
    });
  });

  it('is done with its prompts where no file is wanted', () => {
    const now = ends(running({ keep: false }), ['a fox']);
    expect([now.record.status, now.nextRequest.kind]).toEqual(['done', 'nothing']);
  });
});

describe('a task that ended too late', () => {
  const late = (what: (submit: Submission) => boolean) => ({
    duration: (submit: Submission) => (what(submit) ? 7_200_000 : 30_000),
  });
  const day = 86_400_000;

  it.each([
    ['a modal’s, its id its own', {}],
    ['a modal’s, its id that of the click', { sameTask: true }],
  ])('is saved by the next run, nothing submitted again: %s', async (_, more) => {
    const text = `name: test
steps:
  grid: { imagine: "a fox", path: U1 }
  wide: { from: grid/U1, click: Custom Zoom, prompt: "a fox --zoom 2" }
`;
    const zoom = await world(text, { ...late(({ pressed }) => pressed.endsWith('Custom Zoom')), ...more });
    const first = zoom.run();
    expect(zoom.statuses()).toEqual({ done: 2, failed: 1 });
    const submits = [zoom.service.submits.length, zoom.service.modals.length];
    zoom.run({ startAt: first.endedAt + day });
    expect(zoom.statuses()).toEqual({ done: 3 });
    expect([zoom.service.submits.length, zoom.service.modals.length]).toEqual(submits);
  });

  it('is saved by the next run with all its files: a video', async () => {
    const slow = await world(film, late(isFilm));
    const first = slow.run();
    expect(slow.statuses()).toEqual({ done: 2, failed: 1 });
    slow.run({ startAt: first.endedAt + day });
    const [record] = [...slow.store.withStatus('done')].filter(({ kind }) => kind === 'video');
    expect([record?.artifacts.length, record?.attempts]).toEqual([4, 1]);
  });

  it('confirms a modal that opens only after its click was given up', async () => {
    const text = `name: test
steps:
  grid: { imagine: "a fox", path: U1 }
  wide: { from: grid/U1, click: Custom Zoom, prompt: "a fox --zoom 2" }
`;
    let blind = true;
    const zoom = await world(text, {
      modalCode: 1,
      onFetch: (id) => (blind && id.endsWith('3') ? failure('service.task-unknown', 'retry') : undefined),
    });
    const first = zoom.run();
    expect(zoom.statuses()).toEqual({ done: 2, failed: 1 });
    blind = false;
    zoom.run({ startAt: first.endedAt + day });
    expect(zoom.statuses()).toEqual({ done: 3 });
    expect([zoom.service.submits.length, zoom.service.modals.length]).toEqual([3, 1]);
  });
});

it('a later run finds a lost confirm that a gateway hides until the work is done', async () => {
  const text = `name: test
steps:
  grid: { imagine: "a fox", path: U1 }
  wide: { from: grid/U1, click: Custom Zoom, prompt: "a fox --zoom 2" }
`;
  const lost = await world(text, {
    sameTask: true,
    onModal: () => ({ error: failure('connection.lost', 'lost') }),
  });
  lost.run();
  expect(lost.statuses()).toEqual({ done: 2, 'in-doubt': 1 });
  lost.run();
  expect([lost.statuses(), lost.service.modals.length]).toEqual([{ done: 2, 'in-doubt': 1 }, 1]);
  // The work was done all the same.
  for (const confirm of lost.service.modals) lost.service.arrive(confirm);
  lost.run();
  expect([lost.statuses(), lost.service.modals.length]).toEqual([{ done: 3 }, 1]);
});
