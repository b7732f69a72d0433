import type { JobError, JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import type { StateStore } from '../../src/state/store.ts';
import { cellsOf } from '../rig/pipeline-builder.ts';

export const epoch = Date.UTC(2026, 10, 1, 12);

const buttons = ['U1', 'U2', 'U3', 'U4', 'Vary (Strong)', 'Upscale (Subtle)'].map((label) => ({
  customId: `IMG::${label}`,
  label,
  emoji: '',
}));

/** A record of a finished job whose every fact follows from its slot, so that order cannot show in it. */
export function doneRecord(slot: Slot, changes: Partial<JobRecord> = {}): JobRecord {
  const { job } = slot;
  if (job === undefined) throw new Error('the slot has no job');
  return {
    ...job,
    status: 'done',
    origin: { cell: slot.cell, step: slot.step, branch: slot.branch.join('/'), slot: slot.id },
    keep: slot.keep,
    attempts: 1,
    tries: 0,
    resubmits: 0,
    speed: 'fast',
    taskId: `task-${job.key}`,
    submittedAt: epoch,
    finishedAt: epoch + 60_000,
    result: { imageUrl: `https://images.test/${job.key}.png`, buttons },
    artifacts: [
      {
        output: 1,
        file: `images/${job.key.slice(0, 2)}/${job.key}-1.png`,
        bytes: 1234,
        sha256: 'c0ffee',
        mime: 'image/png',
        width: 1024,
        height: 512,
      },
    ],
    ...(job.kind === 'click'
      ? { pressed: { customId: `IMG::${slot.branch.at(-1)}`, label: slot.branch.at(-1) ?? '', emoji: '' } }
      : {}),
    cost: 0.04,
    ...changes,
  };
}

export const failedRecord = (slot: Slot, error: JobError): JobRecord => {
  const { result: _result, cost: _cost, ...rest } = doneRecord(slot);
  return { ...rest, status: 'failed', artifacts: [], error };
};

/**
 * Finishes jobs one after another, in the order that `pick` takes them out of those that are ready, until none is or
 * `most` are done.
 */
export async function finish(
  plan: Plan,
  store: StateStore,
  options: {
    readonly pick?: (ready: number) => number;
    readonly most?: number;
    readonly record?: (slot: Slot) => JobRecord;
  } = {},
): Promise<void> {
  const { pick = () => 0, most = Number.POSITIVE_INFINITY, record = doneRecord } = options;
  const cells = await cellsOf(plan);
  for (let count = 0; count < most; count += 1) {
    const ready = cells.flatMap((cell) =>
      plan.resolve(cell, (key) => store.get(key)).filter((slot) => slot.ready),
    );
    const slot = ready[pick(ready.length)];
    if (slot === undefined) return;
    store.commit({ records: [record(slot)], attempts: [] });
  }
}
