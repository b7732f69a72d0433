import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../../src/artifacts/writer.ts';
import { admitCells } from '../../../../src/run/scheduler/cell-admission.ts';
import { noteSaved } from '../../../../src/run/scheduler/failed-files.ts';
import { FileTroubles, filesInVain } from '../../../../src/run/scheduler/state/file-troubles.ts';
import { epoch } from '../../../rig/jobs.ts';
import { grid } from '../../../rig/world.ts';
import { schedulerRig } from '../scheduler-rig.ts';

const patienceMs = 600_000;
const failure = (kind: SaveFailure['class']): SaveFailure => ({
  code: 'download.x',
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
