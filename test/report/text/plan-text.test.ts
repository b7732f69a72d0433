import { describe, expect, it } from 'vitest';
import type { PlanCounts, PlanReport } from '../../../src/plan/estimate/report.ts';
import { planText } from '../../../src/report/text/plan-text.ts';
import { noPlanCounts } from '../../rig/no-counts.ts';

/** The text of a plan of one step. */
function text(counts: Partial<PlanCounts>, more: Partial<PlanReport> = {}): string {
  const total = { ...noPlanCounts, ...counts };
  return planText({
    pipeline: 'foxes',
    file: 'foxes.yaml',
    service: 'sandbox',
    cells: { total: 1, chosen: 1 },
    slotsPerCell: 1,
    exact: true,
    total,
    atMost: total.cost + total.later.cost,
    priced: false,
    unpricedNames: [],
    steps: [{ step: 'grid', kind: 'imagine', path: true, open: false, ...total }],
    examples: [],
    warnings: [],
    ...more,
  });
}

/** The line that says how much is to be submitted. */
const sum = (counts: Partial<PlanCounts>, more: Partial<PlanReport> = {}): string =>
  text(counts, more)
    .split('\n')
    .find((line) => /^(at most )?\d+ submission/.test(line)) ?? '';

const unpriced = '. The pipeline gives no prices, so the cost is not known';

describe('what a plan would submit', () => {
  it.each([
    [{ submits: 146, why: { new: 146, changed: 0, retry: 0, anew: 0 } }, '146 submissions, all new'],
    [
      { submits: 1, why: { new: 0, changed: 1, retry: 0, anew: 0 } },
      '1 submission, changed since the last run',
    ],
    [{ submits: 3, why: { new: 2, changed: 0, retry: 1, anew: 0 } }, '3 submissions: 2 new, 1 tried again'],
  ])('is shown with its reason: %j', (counts, words) => {
    expect(sum({ ...counts, unpriced: counts.submits })).toBe(`${words}${unpriced}`);
  });

  it('has no reason if slots were not examined', () => {
    const why = { new: 5, changed: 0, retry: 0, anew: 0 };
    expect(sum({ submits: 5, unpriced: 5, why }, { exact: false })).toBe(`at most 5 submissions${unpriced}`);
  });

  it.each([
    [{ done: 5 }, 'nothing is left to do'],
    [{ inDoubt: 3, held: 4 }, '3 in doubt and 4 below them wait for your decision (promptpress status)'],
    [{ inDoubt: 1 }, '1 in doubt waits for your decision (promptpress status)'],
    [{ failed: 17, blocked: 3 }, '17 failed stay so until --retry-failed'],
    [{ failed: 1, invalid: 1 }, '1 failed stays so until --retry-failed; 1 slot fails without a request'],
    [{ running: 2, unsaved: 1 }, '2 under way from an earlier run; 1 to save'],
    [{ skipped: 2 }, 'nothing is left to do'],
  ])('is nothing, for a reason: %j', (counts, words) => {
    expect(sum(counts)).toBe(`0 submissions: ${words}`);
  });

  it('is nothing while slots wait for results', () => {
    expect(text({ waiting: 2, later: { ...noPlanCounts.later, unpriced: 2 } })).toContain(
      '0 submissions\n2 slots wait for results',
    );
  });
});

describe('what a plan costs', () => {
  const why = { new: 0, changed: 0, retry: 3, anew: 0 };
  it('is unknown if no part has a price; the parts are named', () => {
    const names = { priced: true, unpricedNames: ['reroll', 'pan left', 'a', 'b', 'c'] };
    expect(sum({ submits: 3, unpriced: 3, why }, names)).toBe(
      '3 submissions, all tried again. None of these has a price (reroll, pan left, a, b, …), so the cost is not known',
    );
  });

  it('leaves out parts without a price, and names them', () => {
    const names = { priced: true, unpricedNames: ['reroll'] };
    expect(sum({ submits: 3, unpriced: 2, cost: 0.5, why }, names)).toContain(
      '. Still to come: cost 0.50, without the 2 that have no price (reroll)',
    );
    expect(sum({ submits: 3, cost: 0.5, why }, names)).toMatch(/\. Still to come: cost 0\.50$/);
    const later = { ...noPlanCounts.later, cost: 2.59 };
    const waiting = { submits: 3, cost: 0.5, why, waiting: 2, later };
    expect(sum(waiting, names)).toMatch(/\. Still to come: cost 3\.09 at most, 0\.50 of it for these$/);
    expect(text(waiting, names)).toContain('\n2 slots wait for results: cost 2.59\n');
  });
});

it('shows clicks in the kind of a step that presses buttons', () => {
  expect(text({ slots: 2, jobs: 2, done: 2 })).toMatch(/^ {2}grid +imagine, clicks +2 /m);
});

it('examples have a heading', () => {
  const why = { new: 2, changed: 0, retry: 0, anew: 0 };
  const examples = [{ cell: 1, step: 'grid', prompt: 'a fox' }];
  expect(text({ submits: 2, unpriced: 2, why }, { examples })).toContain(
    '\nThe first prompts:\n  cell 1, grid: a fox\n',
  );
  expect(text({ done: 2 })).not.toContain('prompt');
});
