import { describe, expect, it } from 'vitest';
import { Outgoing } from '../../../src/run/effects/input-budget.ts';

const never = new AbortController().signal;

/** Notes when each of these is let in. */
function line(outgoing: Outgoing) {
  const admitted: string[] = [];
  const join = async (name: string, bytes: number, signal = never): Promise<void> => {
    await outgoing.take(bytes, signal);
    admitted.push(name);
  };
  return { admitted, join };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the bytes of text calls under way', () => {
  it('are bounded, first come, first served', async () => {
    const outgoing = new Outgoing(100);
    const { admitted, join } = line(outgoing);
    void join('a', 60);
    void join('b', 60);
    void join('c', 10);
    await turn();
    expect([admitted, outgoing.held]).toEqual([['a'], 60]);
    outgoing.give(60);
    await turn();
    expect([admitted, outgoing.held]).toEqual([['a', 'b', 'c'], 70]);
  });

  it('of one call larger than the bound are let in alone', async () => {
    const outgoing = new Outgoing(100);
    const { admitted, join } = line(outgoing);
    void join('a', 1);
    void join('huge', 1000);
    await turn();
    expect(admitted).toEqual(['a']);
    outgoing.give(1);
    await turn();
    expect(admitted).toEqual(['a', 'huge']);
  });

  it('leave the line when their call is given up, and let those behind them in', async () => {
    const outgoing = new Outgoing(100);
    const { admitted, join } = line(outgoing);
    const leaving = new AbortController();
    void join('a', 60);
    const given = join('b', 60, leaving.signal);
    void join('c', 40);
    leaving.abort(new Error('left'));
    await expect(given).rejects.toThrow('left');
    await turn();
    expect([admitted, outgoing.held]).toEqual([['a', 'c'], 100]);
    await expect(outgoing.take(1, leaving.signal)).rejects.toThrow('left');
  });
});
