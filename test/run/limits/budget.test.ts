import { describe, expect, it, vi } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { BudgetTracker, type Spent } from '../../../src/run/limits/budget.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { clickRecord, imagineRecord, textRecord } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

const nothingSpent: Spent = { attempts: 0, cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0 };
const laterAnswer = { openedAt: 1, sent: 1 } as unknown as NonNullable<JobRecord['modal']>;
const asked = (key: string): JobRecord => textRecord({ key, status: 'submitting', attempts: 1 });

/** A tracker of a run in which every request costs 10 and every text call takes 100 tokens. */
const tracker = (
  settings: Partial<RunSettings>,
  spent: Partial<Spent> = {},
  price: number | undefined = 10,
) =>
  new BudgetTracker(
    virtualSettings(settings),
    { price: () => price, tokens: () => 100 },
    { ...nothingSpent, ...spent },
  );

describe('the reserve of requests in flight', () => {
  it.each([
    ['tokens', { tokens: 300 }],
    ['money', { cost: 30 }],
  ])('is released with each result, while others are in flight: %s', (_what, budget) => {
    const budgetTracker = tracker({ budget });
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

  it.each(['pending', 'running', 'modal', 'in-doubt', 'done', 'failed'] as const)(
    'is released once the job is %s',
    (status) => {
      const budgetTracker = tracker({ budget: { cost: 15 } });
      const sent = imagineRecord({ key: 'a', status: 'submitting', attempts: 1 });
      budgetTracker.note(imagineRecord({ key: 'a' }), sent);
      expect(budgetTracker.refusal(imagineRecord({ key: 'b' }))).toMatchObject({ code: 'budget.cost' });
      budgetTracker.note(sent, imagineRecord({ key: 'a', status, attempts: 1 }));
      expect(budgetTracker.refusal(imagineRecord({ key: 'b' }))).toBeUndefined();
    },
  );

  it('is reported to the shared allowance, even where the run’s own budget has no limit', () => {
    const told: unknown[] = [];
    const shared = {
      refusal: () => undefined,
      note: (...[, , reserve]: readonly unknown[]) => void told.push(reserve),
    };
    const costs = { price: () => 10, tokens: () => 100 };
    const budgetTracker = new BudgetTracker(virtualSettings({}), costs, nothingSpent, shared);
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    expect(told).toEqual([{ cost: 10, tokens: 100 }]);
  });

  it('is not estimated where nothing limits it', () => {
    const costs = { price: vi.fn<() => number>(() => 10), tokens: vi.fn<() => number>(() => 100) };
    const budgetTracker = new BudgetTracker(virtualSettings({ maxSubmits: 5 }), costs, nothingSpent);
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    expect([costs.price, costs.tokens].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('is the estimated cost of the request when it was sent, once', () => {
    let price = 10;
    const budgetTracker = new BudgetTracker(
      virtualSettings({ budget: { cost: 100 } }),
      { price: () => price, tokens: () => 0 },
      nothingSpent,
    );
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    budgetTracker.note(textRecord({ key: 'b' }), asked('b'));
    // A change of a request under way reserves nothing more.
    budgetTracker.note(asked('b'), { ...asked('b'), speed: 'fast' });
    price = 80;
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(asked('a'), textRecord({ key: 'a', status: 'done', attempts: 1, cost: 10 }));
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    price = 81;
    expect(budgetTracker.refusal(textRecord())).toMatchObject({ code: 'budget.cost' });
    // What is released of a job that reserved nothing is nothing.
    budgetTracker.note(asked('z'), textRecord({ key: 'z', status: 'done', attempts: 1 }));
    expect(budgetTracker.refusal(textRecord())).toMatchObject({ code: 'budget.cost' });
  });

  it('leaves no rounding error once nothing is in flight', () => {
    const prices = [0.1, 0.2, 0.3];
    const budgetTracker = new BudgetTracker(
      virtualSettings({ budget: { cost: 1e-8 } }),
      { price: ({ key }) => prices[Number(key)] ?? 1e-8, tokens: () => 0 },
      nothingSpent,
    );
    for (const key of ['0', '1', '2']) budgetTracker.note(textRecord({ key }), asked(key));
    for (const key of ['0', '1', '2']) budgetTracker.note(asked(key), textRecord({ key, attempts: 1 }));
    expect(budgetTracker.refusal(textRecord({ key: 'next' }))).toBeUndefined();
  });
});

describe('a submission is refused', () => {
  it('after --max-submits submissions of this invocation, whatever earlier runs sent', () => {
    const budgetTracker = tracker({ maxSubmits: 2 }, { attempts: 50 });
    for (const key of ['a', 'b']) {
      expect(budgetTracker.refusal(textRecord())).toBeUndefined();
      budgetTracker.note(textRecord({ key }), asked(key));
    }
    expect(budgetTracker.submits).toBe(2);
    const refusal = budgetTracker.refusal(textRecord());
    expect(refusal).toMatchObject({ kind: 'budget', code: 'budget.max-submits' });
    expect(refusal?.message).toContain('2 submissions (--max-submits)');
  });

  it('after budget.submits submissions of the directory', () => {
    const budgetTracker = tracker({ budget: { submits: 3 } }, { attempts: 2 });
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord(), asked('a'));
    expect(budgetTracker.refusal(textRecord())).toMatchObject({ kind: 'budget', code: 'budget.submits' });
    expect(tracker({ budget: { submits: 0 } }).refusal(textRecord())).toMatchObject({
      code: 'budget.submits',
    });
    expect(tracker({ maxSubmits: 0 }).refusal(textRecord())).toMatchObject({ code: 'budget.max-submits' });
  });

  it('after budget.tokens, including the estimate of a call whose answer was lost', () => {
    const budgetTracker = tracker({ budget: { tokens: 250 } }, { tokens: 100, assumedTokens: 20 });
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    const doubtful = { count: 1, tokens: 40 };
    budgetTracker.note(asked('a'), textRecord({ key: 'a', attempts: 1, doubtful }));
    const refusal = budgetTracker.refusal(textRecord());
    expect(refusal).toMatchObject({ code: 'budget.tokens' });
    expect(refusal?.message).toContain('160 are spent, of which 60 are estimated');
  });

  it('not where it is the first confirm of a modal, which its click has paid for', () => {
    const modal = { openedAt: 1, sent: 0 } as unknown as NonNullable<JobRecord['modal']>;
    const budgetTracker = tracker({ maxSubmits: 0, budget: { submits: 0, cost: 0, tokens: 0 } });
    expect(budgetTracker.refusal(clickRecord({ modal }))).toBeUndefined();
    expect(budgetTracker.refusal(clickRecord({ modal: { ...modal, sent: 1 } }))).toMatchObject({
      code: 'budget.max-submits',
    });
  });

  it('where it has no price, and only under a budget of money', () => {
    const unpriced = (settings: Partial<RunSettings>) =>
      new BudgetTracker(
        virtualSettings(settings),
        { price: () => undefined, tokens: () => 100 },
        nothingSpent,
      );
    const record = clickRecord({
      request: {
        kind: 'click',
        press: [
          { kind: 'text', text: 'U1' },
          { kind: 'word', word: 'reroll' },
        ],
        fields: {},
      },
    });
    const refusal = unpriced({ budget: { cost: 1000 } }).refusal(record);
    expect(refusal).toMatchObject({ kind: 'budget', code: 'budget.unpriced' });
    expect(refusal?.message).toContain('(U1 | reroll)');
    expect(unpriced({ budget: { submits: 9, tokens: 1000 } }).refusal(record)).toBeUndefined();
    // The later answers to a modal cost nothing of their own, and need no price.
    expect(tracker({ budget: { cost: 5 } }).refusal(clickRecord({ modal: laterAnswer }))).toBeUndefined();
    expect(unpriced({ budget: { cost: 1000 } }).refusal(clickRecord({ modal: laterAnswer }))).toBeUndefined();
  });

  it('where spent, possible and reserved cost would exceed the budget of money', () => {
    const spent = { cost: 60, possibleCost: 10 };
    const budgetTracker = tracker({ budget: { cost: 100 } }, spent);
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    budgetTracker.note(textRecord({ key: 'b' }), asked('b'));
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'c' }), asked('c'));
    const refusal = budgetTracker.refusal(textRecord());
    expect(refusal).toMatchObject({ kind: 'budget', code: 'budget.cost' });
    expect(refusal?.message).toContain(
      '(10) would exceed the budget of 100 (budget.cost); 60 is spent, and up to 10 more',
    );
    // What costs nothing may always go.
    expect(tracker({ budget: { cost: 100 } }, { cost: 1000 }, 0).refusal(textRecord())).toBeUndefined();
  });

  it('not for a rounding error of money', () => {
    expect(tracker({ budget: { cost: 100 } }, { cost: 90 + 5e-10 }).refusal(textRecord())).toBeUndefined();
    const refusal = tracker({ budget: { cost: 100 } }, { cost: 90.000_001_4 }).refusal(textRecord());
    expect(refusal?.code).toBe('budget.cost');
    expect(refusal?.message).toMatch(/; 90\.000001 is spent\.$/);
  });

  it('where spent, assumed and reserved tokens would exceed the budget of tokens', () => {
    const budgetTracker = tracker({ budget: { tokens: 1000 } }, { tokens: 650, assumedTokens: 50 });
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    budgetTracker.note(textRecord({ key: 'b' }), asked('b'));
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'c' }), asked('c'));
    const refusal = budgetTracker.refusal(textRecord());
    expect(refusal).toMatchObject({ kind: 'budget', code: 'budget.tokens' });
    expect(refusal?.message).toContain('about 100 tokens');
    expect(refusal?.message).toContain('700 are spent, of which 50 are estimated');
    // Only text calls take tokens.
    expect(tracker({ budget: { tokens: 1000 } }, { tokens: 5000 }).refusal(imagineRecord())).toBeUndefined();
    expect(tracker({ budget: { tokens: 99 } }).refusal(textRecord())?.message).toMatch(/; 0 are spent\.$/);
  });
});

describe('a result in the budget', () => {
  it('counts a submission when the submission leaves, not at other changes of its job', () => {
    const budgetTracker = tracker({ budget: { cost: 10 } });
    budgetTracker.note(textRecord({ attempts: 3 }), textRecord({ attempts: 4 }));
    budgetTracker.note(textRecord({ status: 'running' }), textRecord({ status: 'saving' }));
    expect(budgetTracker.submits).toBe(1);
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
  });

  it('replaces its reserve by its cost', () => {
    const budgetTracker = tracker({ budget: { cost: 19 } });
    budgetTracker.note(textRecord({ key: 'a' }), asked('a'));
    budgetTracker.note(asked('a'), textRecord({ key: 'a', attempts: 1, status: 'done', cost: 9 }));
    expect(budgetTracker.refusal(textRecord())).toBeUndefined();
    budgetTracker.note(textRecord({ key: 'b' }), textRecord({ key: 'b', cost: 0.1 }));
    expect(budgetTracker.refusal(textRecord())).toMatchObject({ code: 'budget.cost' });
  });

  const money = (budgetTracker: BudgetTracker): string =>
    budgetTracker.refusal(textRecord())?.message ?? 'may go';

  it('adds known and possible cost, and known and assumed tokens', () => {
    const budgetTracker = tracker({ budget: { cost: 10 } }, { cost: 5, possibleCost: 1 });
    const before = textRecord({ key: 'a', cost: 2, doubtful: { count: 1, cost: 1 } });
    const after = textRecord({
      key: 'a',
      cost: 5,
      doubtful: { count: 1, cost: 3 },
      assumed: { answers: 1, tokens: 40, cost: 0.5 },
      usage: { prompt: 7, candidates: 3 },
    });
    budgetTracker.note(before, after);
    expect(money(budgetTracker)).toContain('; 8 is spent, and up to 3.5 more');
    expect(budgetTracker.tokens).toBe(10);
    // The same record again changes nothing.
    budgetTracker.note(after, after);
    expect(money(budgetTracker)).toContain('; 8 is spent, and up to 3.5 more');
    expect([budgetTracker.tokens, budgetTracker.submits]).toEqual([10, 0]);
    // An assumption that turns out to be nothing is taken back.
    const { doubtful: _doubtful, assumed: _assumed, ...known } = after;
    budgetTracker.note(after, { ...known, usage: { total: 60 } });
    budgetTracker.note(textRecord({ key: 'b' }), textRecord({ key: 'b', cost: 2 }));
    expect(money(budgetTracker)).toMatch(/; 10 is spent\.$/);
    expect(budgetTracker.tokens).toBe(60);
  });

  it('counts assumed tokens against the budget, and not as those of this invocation', () => {
    const budgetTracker = tracker({ budget: { tokens: 100 } });
    const assumed = { answers: 1, tokens: 30 };
    budgetTracker.note(textRecord({ key: 'a' }), textRecord({ key: 'a', assumed }));
    expect(budgetTracker.tokens).toBe(0);
    expect(money(budgetTracker)).toContain('30 are spent, of which 30 are estimated');
    budgetTracker.note(textRecord({ key: 'a', assumed }), textRecord({ key: 'a', usage: { total: 12 } }));
    expect(budgetTracker.tokens).toBe(12);
    expect(money(budgetTracker)).toMatch(/; 12 are spent\.$/);
  });
});
