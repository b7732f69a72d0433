import type { Rate } from '../../src/pipeline/pipeline.ts';
import type { Cell } from '../../src/plan/cell.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import { planOf } from '../rig/plan.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { pipelineOf } from './kinds.ts';
import type { Invocation, Scenario } from './scenario.ts';

/** When every history begins, ms since 1970. */
export const epoch = 1_700_000_000_000;

/** What every submission costs, in every history. */
export const prices = {
  imagine: 1,
  click: 1,
  blend: 1,
  describe: 1,
  video: 1,
  edit: 1,
  generate: 1,
  chat: 1,
};

const plans = new Map<string, Promise<{ readonly plan: Plan; readonly cells: readonly Cell[] }>>();

/**
 * What a scenario's pipeline asks for; equal pipelines are planned once.
 *
 * @param invocation its grid may say `keep: false`, or not say `grid: split`
 */
export function planFor(
  { cells, path, kinds, split, seeds }: Scenario,
  { unkept, unsplit }: Pick<Invocation, 'unkept' | 'unsplit'> = {},
): Promise<{ readonly plan: Plan; readonly cells: readonly Cell[] }> {
  const text = pipelineOf(cells, path, kinds, unkept, split && !unsplit, seeds);
  const known = plans.get(text) ?? planOf(text);
  plans.set(text, known);
  return known;
}

const perMinute = (count: number | undefined): Rate | undefined =>
  count === undefined ? undefined : { count, perMs: 60_000 };

/** How a run of this scenario is set, with what its invocation says. */
export function settingsOf(
  { limits, retry, budget, tokenBudget, costBudget, listing }: Scenario,
  { retryFailed, inDoubt }: Invocation,
): RunSettings {
  const { tasks, requests, submitPerMinute, textPerMinute, tokensPerMinute } = limits;
  const rates = {
    submit: perMinute(submitPerMinute),
    text: perMinute(textPerMinute),
    tokens: perMinute(tokensPerMinute),
  };
  return virtualSettings({
    limits: {
      tasks,
      requests,
      ...(Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined)) as Readonly<
        Record<string, Rate>
      >),
    },
    retry: { ...retry, baseMs: 1000, capMs: 60_000, patienceMs: 3_600_000, permanent: [], transient: [] },
    budget: {
      ...(budget === undefined ? {} : { submits: budget }),
      ...(costBudget === undefined ? {} : { cost: costBudget }),
      ...(tokenBudget === undefined ? {} : { tokens: tokenBudget }),
    },
    prices,
    ...(inDoubt === 'find' ? { inDoubt: 'hold', findInDoubt: true } : { inDoubt }),
    poll: { minMs: 1000, maxMs: 15_000, list: listing !== 'off' },
    ...(retryFailed && { retryFailed: {} }),
  });
}
