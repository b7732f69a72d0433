import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../../src/artifacts/writer.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import { admitCells } from '../../../../src/run/scheduler/cell-admission.ts';
import { drain } from '../../../../src/run/scheduler/drain.ts';
import { noteSaved } from '../../../../src/run/scheduler/failed-files.ts';
import { placeJob } from '../../../../src/run/scheduler/place-job.ts';
import { FileTroubles, filesInVain } from '../../../../src/run/scheduler/state/file-troubles.ts';
import { epoch, imagineRecord, job } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid } from '../../../rig/world.ts';
import { eventsOf, jobOf, schedulerRig } from '../scheduler-rig.ts';

const savingJob = (key: string): Job =>
  job(imagineRecord({ key, status: 'saving', taskId: 'T' }), { nextRequest: { kind: 'answer' } });
const patienceMs = 600_000;
const failure = (kind: SaveFailure['class']): SaveFailure => ({
  code: 'download.status',
  class: kind,
  message: 'no',
});

/** So many files fail, one a second. @returns when the last one did, ms since the epoch of tests */
function fail(files: FileTroubles, kinds: readonly SaveFailure['class'][], from = 0): number {
  for (const [at, kind] of kinds.entries())
    files.failed(`${from}/${at}`, failure(kind), epoch + from + at * 1000);
  return from + (kinds.length - 1) * 1000;
}

const many = (kind: SaveFailure['class'], count = filesInVain) => Array.from({ length: count }, () => kind);

describe('files that cannot be downloaded', () => {
  it('end the run at the twentieth where no error may pass, and begin no task from then on', () => {
    const files = new FileTroubles();
    const before = fail(files, many('permanent', filesInVain - 1));
    expect([files.isInVain, files.isShut, files.end(epoch + before, patienceMs)]).toEqual([
      true,
      false,
      undefined,
    ]);
    const at = fail(files, ['permanent'], before + 1000);
    expect(files.isShut).toBe(true);
    expect(files.end(epoch + at, patienceMs)).toMatchObject({ code: 'downloads.in-vain' });
  });

  it('are each counted once', () => {
    const files = new FileTroubles();
    for (let count = 0; count < 100; count += 1) files.failed('a/0', failure('permanent'), epoch);
    expect([files.isShut, files.end(epoch, patienceMs)]).toEqual([false, undefined]);
  });

  it('are waited for during the patience from the first one on, where any error may pass', () => {
    fc.assert(
      fc.property(
        fc.nat(filesInVain - 1),
        fc.constantFrom('retry' as const, 'throttle' as const),
        (which, kind) => {
          const files = new FileTroubles();
          fail(files, many('permanent').with(which, kind));
          expect(files.end(epoch + patienceMs - 1, patienceMs)).toBeUndefined();
          expect(files.end(epoch + patienceMs, patienceMs)).toMatchObject({ code: 'downloads.in-vain' });
        },
      ),
    );
  });

  it('are counted anew once one can be downloaded', () => {
    const files = new FileTroubles();
    fail(files, many('retry'));
    files.saved();
    expect([files.isInVain, files.isShut]).toEqual([false, false]);
    const at = fail(files, many('permanent'), 5000);
    expect(files.end(epoch + at, patienceMs)).toMatchObject({ code: 'downloads.in-vain' });
  });
});

it('a downloaded file keeps earlier failures from ending the run', async () => {
  const { state, keyOf } = await schedulerRig(grid(1));
  admitCells(state);
  const key = keyOf(1);
  const failed = { ok: false, error: failure('permanent') } as const;
  noteSaved(state, { type: 'saved', key, result: failed });
  expect(state.jobs.files.isInVain).toBe(true);
  noteSaved(state, { type: 'saved', key, result: { ok: true, value: undefined } });
  expect(state.jobs.files.isInVain).toBe(false);
});

describe('a file that could not be downloaded', () => {
  const retry = virtualSettings().retry;

  it.each<[string, SaveFailure['class'], Partial<Job>, number, boolean]>([
    ['its link has expired', 'fresh-link', {}, 6, false],
    ['its new link has expired too', 'fresh-link', { misses: 1 }, 6, true],
    ['its link has expired, and no other is tried', 'fresh-link', {}, 1, true],
    ['its host has a problem', 'retry', {}, 6, true],
    ['the disk is full', 'stop', {}, 6, false],
  ])('counts where a new link would be no better: %s', async (_, kind, changes, attempts, isCounted) => {
    const { state } = await schedulerRig(grid(1), { retry: { ...retry, attempts } });
    placeJob(state, undefined, { ...savingJob('k'), ...changes });
    noteSaved(state, { type: 'saved', key: 'k', result: { ok: false, error: failure(kind) } });
    expect(state.jobs.files.isInVain).toBe(isCounted);
  });

  it('counts for no job that is gone', async () => {
    const { state } = await schedulerRig(grid(1));
    noteSaved(state, { type: 'saved', key: 'gone', result: { ok: false, error: failure('permanent') } });
    expect(state.jobs.files.isInVain).toBe(false);
  });

  it.each(['retry', 'permanent'] as const)(
    'is told of once it is the twentieth in a row, and halts a run whose errors do not pass: %s',
    async (kind) => {
      const { state } = await schedulerRig(grid(1));
      const states = Array.from({ length: filesInVain + 1 }, (_, n) => {
        placeJob(state, undefined, savingJob(`k${n}`));
        noteSaved(state, { type: 'saved', key: `k${n}`, result: { ok: false, error: failure(kind) } });
        return [state.jobs.isShut, state.lifecycle.isHalted];
      });
      const shut = [true, kind === 'permanent'];
      expect(states).toEqual([...Array.from({ length: filesInVain - 1 }, () => [false, false]), shut, shut]);
      const notices = eventsOf(state.outbox.take(), 'run:notice').map(({ code }) => code);
      expect(notices).toEqual(['downloads.in-vain']);
    },
  );
});

describe('a download that fails in an ending run', () => {
  it('is left with those that wait for the same host, but not with those under way', async () => {
    const { state } = await schedulerRig(grid(1));
    const save = { kind: 'save', source: { isText: true }, output: 1 } as const;
    for (const key of ['failed', 'sent']) placeJob(state, undefined, savingJob(key));
    for (const key of ['queued', 'other'])
      placeJob(state, undefined, { ...savingJob(key), nextRequest: save });
    placeJob(
      state,
      undefined,
      job(imagineRecord({ key: 'runs', status: 'running', taskId: 'T' }), {
        nextRequest: { kind: 'answer' },
      }),
    );
    drain(state, { kind: 'interrupted', forced: false });
    const leave = (key: string) => {
      const before = jobOf(state, key);
      placeJob(state, before, {
        ...before,
        misses: 1,
        nextRequest: { kind: 'wait', until: epoch + 5000, next: save },
      });
      return [...state.jobs.all()].map(({ record }) => record.key);
    };
    expect(leave('failed')).toEqual(['sent', 'queued', 'other', 'runs']);
    state.routes.queues.download.lane().probeAt(epoch);
    expect(leave('queued')).toEqual(['sent', 'runs']);
  });
});
