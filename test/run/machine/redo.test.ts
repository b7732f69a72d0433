import { describe, expect, it } from 'vitest';
import { resolveInDoubt } from '../../../src/app/run/doubt/resolution.ts';
import { runExitCode } from '../../../src/app/run/exit-code.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import type { GatewayScript } from '../../rig/gateway/scripted-gateway.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { textReply } from '../../rig/text-reply.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, type World, world } from '../../rig/world.ts';

const keyOf = ({ plan, cells, store }: World, branch = ''): string => {
  const [cell] = cells;
  const slots = cell === undefined ? [] : plan.resolve(cell, (key) => store.get(key));
  return slots.find((slot) => slot.branch.join('/') === branch)?.job?.key ?? '';
};
const recordOf = (here: World): JobRecord | undefined => here.store.get(keyOf(here));
const redo = (here: World, more: Parameters<typeof virtualSettings>[0] = {}) => ({
  settings: virtualSettings(more),
  redo: { keys: [keyOf(here)], again: true },
});

/** What a record says of the result that it has. */
const standing = (record: JobRecord | undefined) => {
  const { status, taskId, result, artifacts, text, error, former } = record ?? {};
  return { status, taskId, result, artifacts, text, error, former };
};

/** A finished grid and its upscale; from then on, the script's changes hold. */
async function finished(text: string, later: GatewayScript) {
  const script: { -readonly [Member in keyof GatewayScript]: GatewayScript[Member] } = {};
  const here = await world(text, script);
  expect(here.run().end).toEqual({ kind: 'complete' });
  Object.assign(script, later);
  return { here, script, before: standing(recordOf(here)), attempts: recordOf(here)?.attempts ?? 0 };
}

const oneGrid = grid(1, 'U1');
const oneText = 'name: t\nsteps: { caption: { generate: { model: text-pro, prompt: Caption it. } } }\n';

describe('--redo of a finished image', () => {
  it.each<[string, ServiceFailure, 'complete' | 'stopped', number]>([
    ['is refused', failure('service.rejected', 'permanent', { status: 400 }), 'complete', 1],
    ['stops the run (401)', failure('service.unauthorized', 'stop', { status: 401 }), 'stopped', 0],
    ['is refused over and over', failure('service.unavailable', 'retry', { status: 503 }), 'complete', 1],
  ])('that %s leaves the job done with its earlier file', async (_what, error, end, failed) => {
    const { here, script, before, attempts } = await finished(oneGrid, { onSubmit: () => ({ error }) });
    const driven = here.run(redo(here));
    expect(driven.end?.kind).toBe(end);
    expect(standing(recordOf(here))).toEqual(before);
    expect([driven.redosFailed, recordOf(here)?.attempts]).toEqual([failed, attempts + driven.submits]);
    const notices = driven.events.filter((event) => event.type === 'run:notice');
    expect(notices.map(({ code }) => code)).toEqual(failed === 0 ? [] : ['redo.failed']);
    expect(here.store.attempts(keyOf(here)).some((attempt) => attempt.error?.code === error.code)).toBe(true);
    expect(here.statuses()).toEqual({ done: 2 });
    delete script.onSubmit;
    // What never had its answer is made by the next run, with its upscale.
    expect([here.run().submits, here.statuses()]).toEqual([failed === 0 ? 2 : 0, { done: 2 }]);
  });

  it('is done by a later run although the clock was set back since the job was done', async () => {
    const { here, before } = await finished(oneGrid, {});
    // The moment at which the job was done, by the clock of the first run.
    const startAt = recordOf(here)?.finishedAt ?? 0;
    const driven = here.run({ ...redo(here), startAt });
    expect([driven.submits, here.statuses()]).toEqual([2, { done: 2 }]);
    expect(recordOf(here)?.taskId).not.toBe(before.taskId);
  });

  it('leaves the job done where the service cannot be reached', async () => {
    const { here, before } = await finished(oneGrid, {
      onSubmit: () => ({ error: failure('connection.refused', 'unsent') }),
    });
    expect(here.run({ ...redo(here), drainAt: 1_700_000_000_000 + 400_000 }).end?.kind).toBe('interrupted');
    expect(standing(recordOf(here))).toEqual(before);
  });

  it('is in doubt after a 504 and the death of the run', async () => {
    const found = new Set<string>();
    for (let turn = 1; turn < 14; turn++) {
      const { here, script } = await finished(oneGrid, {});
      const first = here.service.submits.length;
      const hidden = { error: failure('service.unavailable', 'retry', { status: 504 }), made: true };
      Object.assign(script, {
        onSubmit: ({ number }) => (number === first + 1 ? hidden : undefined),
      } satisfies GatewayScript);
      here.run({ ...redo(here), dieAfterTurns: turn });
      const sent = here.service.submits.length - first;
      here.run();
      const record = recordOf(here);
      if (sent === 1) found.add(record?.status ?? 'none');
    }
    expect([...found]).toEqual(['in-doubt']);
  });

  it('leaves the job done where no budget is left', async () => {
    const { here, before } = await finished(oneGrid, {});
    expect(here.run(redo(here, { budget: { submits: 2 } })).end?.kind).toBe('budget');
    expect(standing(recordOf(here))).toEqual(before);
  });

  it('leaves the job done where its task fails, every submission counted', async () => {
    const { here, before, attempts } = await finished(oneGrid, {
      fails: () => '[Internal error] Something went wrong',
    });
    const driven = here.run(redo(here));
    // The first, and retry.resubmits more.
    expect([driven.submits, driven.redosFailed, recordOf(here)?.attempts]).toEqual([3, 1, attempts + 3]);
    expect(standing(recordOf(here))).toEqual(before);
    const failed = here.store.attempts(keyOf(here)).at(-1);
    expect([failed?.outcome, failed?.error?.code]).toEqual(['redo.failed', 'task.failed']);
  });

  it('is polled by the next run where its task is not finished in time, and its image is then saved', async () => {
    const { here, script, before } = await finished(oneGrid, { duration: () => 30 * 60_000 });
    const driven = here.run(redo(here));
    expect([driven.submits, recordOf(here)?.status, recordOf(here)?.error?.code]).toEqual([
      1,
      'failed',
      'task.timeout',
    ]);
    expect([recordOf(here)?.former?.taskId, recordOf(here)?.artifacts]).toEqual([
      before.taskId,
      before.artifacts,
    ]);
    const { taskId } = recordOf(here) ?? {};
    delete script.duration;
    // Only its upscale, which is made again from the new grid, is submitted.
    expect(here.run({ startAt: driven.endedAt + 30 * 60_000 }).submits).toBe(1);
    expect(standing(recordOf(here))).toMatchObject({ status: 'done', taskId });
    expect([taskId === before.taskId, recordOf(here)?.redone?.count]).toEqual([false, 1]);
  });

  it('is in doubt with its former file where its submission is lost, and is done again once the doubt is resolved', async () => {
    const { here, script, before } = await finished(oneGrid, {
      onSubmit: () => ({ error: failure('connection.lost', 'lost') }),
    });
    here.run(redo(here));
    expect([recordOf(here)?.status, recordOf(here)?.artifacts]).toEqual(['in-doubt', before.artifacts]);
    script.onSubmit = () => ({ error: failure('service.rejected', 'permanent', { status: 400 }) });
    expect(here.run({ settings: virtualSettings({ inDoubt: 'retry' }) }).redosFailed).toBe(1);
    expect(standing(recordOf(here))).toEqual(before);
  });

  it('is done as before, in doubt, or in progress, whenever the run dies', async () => {
    for (let turns = 1; turns < 80; turns++) {
      const { here, before } = await finished(oneGrid, {});
      const died = here.run({ ...redo(here), dieAfterTurns: turns });
      const record = recordOf(here);
      // There is a new result, or the files are those that there were.
      const isNew = record?.result !== undefined && record.taskId !== before.taskId;
      expect(isNew || record?.artifacts.length).toBe(isNew || before.artifacts?.length);
      expect(isNew || record?.status === 'done' || record?.former?.taskId === before.taskId).toBe(true);
      here.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
      expect(here.statuses()).toEqual({ done: 2 });
      if (died.end !== undefined) return;
    }
    throw new Error('The run does not end.');
  });

  it('replaces the former result, once', async () => {
    const { here, before, attempts } = await finished(oneGrid, {});
    const { submits, redosFailed } = here.run(redo(here));
    // Its upscale is made again too.
    expect([submits, redosFailed, recordOf(here)?.attempts]).toEqual([2, 0, attempts + 1]);
    expect(recordOf(here)?.taskId).not.toBe(before.taskId);
    expect([recordOf(here)?.status, recordOf(here)?.former]).toEqual(['done', undefined]);
  });
});

describe('--redo of a finished text', () => {
  it.each<[string, NonNullable<GatewayScript['onAsk']>]>([
    ['is refused', () => failure('service.rejected', 'permanent', { status: 400 })],
    ['says nothing', () => textReply({ text: '' })],
    ['is filtered', () => textReply({ text: 'Half of', finishReason: 'SAFETY' })],
  ])('that %s keeps the former reply', async (_what, onAsk) => {
    const { here, script, before } = await finished(oneText, { onAsk });
    const tokens = here.store.totals().tokens;
    const driven = here.run(redo(here));
    expect(standing(recordOf(here))).toEqual(before);
    expect([driven.end?.kind, driven.redosFailed]).toEqual(['complete', 1]);
    expect(here.store.totals().tokens).toBe(tokens + driven.tokens);
    delete script.onAsk;
    expect(here.run().submits).toBe(0);
  });

  it('is done by the next run where this one dies before the new reply arrives', async () => {
    const { here, before } = await finished(oneText, {});
    here.run({ ...redo(here), dieAfterTurns: 1 });
    expect(recordOf(here)).toMatchObject({ status: 'submitting', former: { text: before.text } });
    expect([here.run().submits, recordOf(here)?.status, recordOf(here)?.redone?.count]).toEqual([
      1,
      'done',
      1,
    ]);
    expect(here.run().submits).toBe(0);
  });
});

describe('a redo in doubt that the user gives up', () => {
  it('leaves the job done as before', () => {
    const former = { resubmits: 0, taskId: 'T1', finishedAt: 5 };
    const doubtful = imagineRecord({ status: 'in-doubt', attempts: 2, former });
    const { records, attempts } = resolveInDoubt(doubtful, { kind: 'drop' }, undefined, 9);
    expect(records).toEqual([imagineRecord({ status: 'done', attempts: 2, taskId: 'T1', finishedAt: 5 })]);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['user.dropped']);
  });

  it('leaves the job with its old result beside its new parent', () => {
    const former = { resubmits: 0, from: { p: 1 } };
    const doubtful = imagineRecord({ status: 'in-doubt', attempts: 2, former, from: { p: 2 } });
    const [left] = resolveInDoubt(doubtful, { kind: 'drop' }, undefined, 9).records;
    expect(left).toMatchObject({ status: 'done', from: { p: 1 }, kept: { p: 2 } });
  });
});

describe('the exit code of a run', () => {
  it('is 1 where everything is done and a redo failed', () => {
    expect(runExitCode({ kind: 'complete' }, undefined, undefined, 1)).toBe(1);
    expect(
      runExitCode({ kind: 'stopped', code: 'route.refused', message: 'because' }, undefined, undefined, 1),
    ).toBe(3);
  });
});
