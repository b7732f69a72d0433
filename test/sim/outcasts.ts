import { drive } from '../rig/drive.ts';
import { Gateway } from '../rig/gateway/gateway.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { Chance } from './chance.ts';
import { epoch, planFor, settingsOf } from './outset.ts';
import { RandomTemper } from './random-temper.ts';
import { calmed, type Scenario, unlimited } from './scenario.ts';

/**
 * Plays one run of a history in which the gateway does nothing wrong but never takes some jobs, or never reports some tasks.
 *
 * @returns what was broken: it does not end, or leaves undone what has nothing to do with them
 */
export async function simulateOutcasts(drawn: Scenario): Promise<string | undefined> {
  // A button that is outdated by the time it is pressed fails where a request has a single try.
  const { capacity: _, buttonLifeMs: _life, ...unhindered } = unlimited(drawn);
  const scenario: Scenario = {
    ...calmed(unhindered),
    // Where no more is held than outcasts, nobody can tell them from an outage.
    limits: {
      ...drawn.limits,
      tasks: Math.max(3, drawn.limits.tasks),
      requests: Math.max(16, drawn.limits.requests),
    },
    barred: 'code-3-account',
    hidden: '500',
    ...(drawn.barred && { barred: drawn.barred }),
    ...(drawn.hidden && { hidden: drawn.hidden }),
  };
  const { plan, cells } = await planFor(scenario);
  const store = memoryStore();
  const temper = new RandomTemper(scenario);
  const chance = new Chance(scenario.seed);
  let draws = 0;
  const { end, endedAt } = drive({
    cells,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    settings: settingsOf(scenario, { gapMs: 0, retryFailed: false, inDoubt: 'hold' }),
    store,
    service: new Gateway(temper),
    random: () => chance.of('jitter', ++draws),
    startAt: epoch,
  });
  if (endedAt - epoch > 86_400_000) return `The run lasted until ${endedAt}.`;
  for (const cell of cells)
    for (const { step, branch, status, ready, job, record } of plan.resolve(cell, (key) => store.get(key))) {
      const isLeft = status === 'blocked' || (status === 'pending' && !ready);
      const isDone = status === 'done' || status === 'skipped' || isLeft;
      // Buttons without a window are another matter.
      const isOwn = record?.error?.code === 'modal.not-opened';
      const needs = [job?.key, job?.parent].filter((key) => key !== undefined);
      if (!isDone && !isOwn && !needs.some((key) => temper.isOutcast(key)))
        return `${end?.kind}: ${step} ${branch.join('/')} of cell ${cell.number} is ${status} (${record?.error?.code}), and nobody keeps it from being done.`;
    }
  return undefined;
}
