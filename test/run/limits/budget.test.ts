import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { BudgetTracker } from '../../../src/run/limits/budget.ts';
import { textRecord } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

const nothingSpent = { attempts: 0, cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0 };
const asked = (key: string): JobRecord => textRecord({ key, status: 'submitting', attempts: 1 });

describe('what is reserved for requests under way', () => {
  it.each([
    ['tokens', { tokens: 300 }],
    ['money', { cost: 30 }],
  ])('is given back with each answer, while others are under way: %s', (_what, budget) => {
    const settings = virtualSettings({ budget });
    const budgetTracker = new BudgetTracker(settings, { price: () => 10, tokens: () => 100 }, nothingSpent);
    const next = textRecord({ key: 'next' });
    for (const key of ['a', 'b', 'c']) {
      expect(budgetTracker.refusal(next)).toBeUndefined();
      budgetTracker.note(textRecord({ key }), asked(key));
    }
    expect(budgetTracker.refusal(next)).toMatchObject({ kind: 'budget' });
    budgetTracker.note(asked('a'), textRecord({ key: 'a', status: 'failed', attempts: 1 }));
    expect(budgetTracker.refusal(next)).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'd' }), asked('d'));
    expect(budgetTracker.refusal(next)).toMatchObject({ kind: 'budget' });
  });
});
