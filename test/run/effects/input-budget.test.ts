import { describe, expect, it } from 'vitest';
import { InputBudget } from '../../../src/run/effects/input-budget.ts';

const never = new AbortController().signal;

/** Notes when each of these is let in. */
function line(inputBudget: InputBudget) {
  const admitted: string[] = [];
  const join = async (name: string, bytes: number, signal = never): Promise<void> => {
    await inputBudget.take(bytes, signal);
    admitted.push(name);
  };
  return { admitted, join };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the bytes of text calls under way', () => {
  it('are bounded, first come, first served', async () => {
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    void join('a', 60);
    void join('b', 60);
    void join('c', 10);
    await turn();
    expect([admitted, inputBudget.held]).toEqual([['a'], 60]);
    inputBudget.give(60);
    await turn();
    expect([admitted, inputBudget.held]).toEqual([['a', 'b', 'c'], 70]);
  });

  it('of one call larger than the bound are admitted alone', async () => {
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    void join('a', 1);
    void join('huge', 1000);
    await turn();
    expect(admitted).toEqual(['a']);
    inputBudget.give(1);
    await turn();
    expect(admitted).toEqual(['a', 'huge']);
  });

  it('leave the queue when their call is aborted, and admit those behind them', async () => {
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    const leaving = new AbortController();
    void join('a', 60);
    const given = join('b', 60, leaving.signal);
    void join('c', 40);
    leaving.abort(new Error('left'));
    await expect(given).rejects.toThrow('left');
    await turn();
    expect([admitted, inputBudget.held]).toEqual([['a', 'c'], 100]);
    await expect(inputBudget.take(1, leaving.signal)).rejects.toThrow('left');
  });
});
