import { type Progress, ProgressModel } from '../../../../src/app/progress/model.ts';
import { progressStart } from '../../../../src/app/run/progress-start.ts';
import type { RunEvent } from '../../../../src/run/events.ts';
import { type VirtualRunOptions, virtualSettings } from '../../../rig/virtual-run.ts';
import type { World } from '../../../rig/world.ts';

/** What was shown at a moment, and what was true. */
export interface Shown {
  /** ms since the run began. */
  readonly at: number;
  readonly progress: Progress;
  /** ms until the run was over. */
  readonly trueMs: number;
}

/** Runs in virtual time, and shows its progress each second. */
export async function shownProgress(
  { plan, store, run }: World,
  options: Partial<VirtualRunOptions> = {},
  everyMs = 1000,
): Promise<readonly Shown[]> {
  const settings = options.settings ?? virtualSettings();
  const start = await progressStart({ plan, selection: {}, state: store }, settings);
  const events: { readonly event: RunEvent; readonly at: number }[] = [];
  let startedAt: number | undefined;
  const { endedAt } = run({
    ...options,
    settings,
    onEvent: (event, at) => {
      startedAt ??= at;
      events.push({ event, at });
    },
  });
  const from = startedAt ?? endedAt;
  const model = new ProgressModel(start, from);
  const shown: Shown[] = [];
  let next = 0;
  for (let now = from; now < endedAt + everyMs; now += everyMs) {
    const moment = Math.min(now, endedAt);
    for (; next < events.length && (events[next]?.at ?? 0) <= moment; next += 1) {
      const { event, at } = events[next] as (typeof events)[number];
      model.take(event, at);
    }
    shown.push({ at: moment - from, progress: model.progress(moment), trueMs: endedAt - moment });
  }
  return shown;
}

/** Jobs that are settled, by what is shown. */
export const settledIn = ({ steps }: Progress): number =>
  steps.reduce((sum, { done, failed, inDoubt }) => sum + done + failed + inDoubt, 0);

/** The relative errors of the time left that is shown after a share of the run's jobs has settled, sorted. */
export function errorsOf(shown: readonly Shown[], share = 0.1): readonly number[] {
  const all = settledIn((shown.at(-1) as Shown).progress);
  return shown
    .filter(({ progress, trueMs }) => settledIn(progress) >= share * all && trueMs >= 1000)
    .map(({ progress, trueMs }) => Math.abs((progress.leftMs ?? 0) - trueMs) / trueMs)
    .toSorted((one, other) => one - other);
}

export const medianOf = (sorted: readonly number[]): number =>
  sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
