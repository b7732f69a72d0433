import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { InputBudget, withInputs } from '../../../src/run/effects/input-budget.ts';

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

describe('the bytes of text calls in flight', () => {
  it('are limited, first come, first served', async () => {
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    void join('a', 60);
    void join('b', 60);
    void join('c', 10);
    await turn();
    expect([admitted, inputBudget.reserved]).toEqual([['a'], 60]);
    inputBudget.give(60);
    await turn();
    expect([admitted, inputBudget.reserved]).toEqual([['a', 'b', 'c'], 70]);
  });

  it('of one call above the limit are admitted alone', async () => {
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
    expect([admitted, inputBudget.reserved]).toEqual([['a', 'c'], 100]);
    await expect(inputBudget.take(1, leaving.signal)).rejects.toThrow('left');
  });

  it('are 128 MiB at once by default: four of the largest images and no more', async () => {
    const inputBudget = new InputBudget();
    const { admitted, join } = line(inputBudget);
    const mib = 1024 * 1024;
    for (const name of ['a', 'b', 'c', 'd']) void join(name, 32 * mib);
    void join('e', 1);
    await turn();
    expect([admitted, inputBudget.reserved]).toEqual([['a', 'b', 'c', 'd'], 128 * mib]);
  });

  it('do not let a small call overtake a larger waiting one', async () => {
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    void join('a', 60);
    void join('b', 20);
    void join('large', 90);
    void join('small', 5);
    inputBudget.give(20);
    await turn();
    expect(admitted).toEqual(['a', 'b']);
    inputBudget.give(60);
    await turn();
    expect([admitted, inputBudget.reserved]).toEqual([['a', 'b', 'large', 'small'], 95]);
  });

  it('leave no listener on the signal of the run once they were admitted', async () => {
    const run = new AbortController();
    const inputBudget = new InputBudget(100);
    const { admitted, join } = line(inputBudget);
    void join('a', 100, run.signal);
    void join('b', 50, run.signal);
    inputBudget.give(100);
    await turn();
    expect([admitted, getEventListeners(run.signal, 'abort')]).toEqual([['a', 'b'], []]);
  });
});

describe('a request that shows images', () => {
  it('releases its bytes where it throws, and a bug stays a bug even while the run is left', async () => {
    const inputBudget = new InputBudget(100);
    const run = new AbortController();
    const bug = new Error('Internal error: x');
    const failing = withInputs(inputBudget, run.signal, async (reserve) => {
      await reserve(40);
      run.abort();
      throw bug;
    });
    await expect(failing).rejects.toBe(bug);
    expect(inputBudget.reserved).toBe(0);
  });

  it('without images does not wait for those of others', async () => {
    const inputBudget = new InputBudget(100);
    await inputBudget.take(1000, never);
    const request = async (reserve: (bytes: number) => Promise<void>) => {
      await reserve(0);
      return 'sent';
    };
    expect(await withInputs(inputBudget, never, request)).toEqual({ result: 'sent' });
    expect(inputBudget.reserved).toBe(1000);
  });
});
