import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../../src/plan/cell.ts';
import { Frontier } from '../../../../src/run/scheduler/jobs/open-cells.ts';

const cell = (number: number): Cell => ({ number, vars: {} }) as unknown as Cell;

describe('the open cells', () => {
  it('are told of a job only while they wait for it', () => {
    const frontier = new Frontier();
    const [one, two] = [frontier.open(cell(1)), frontier.open(cell(2))];
    frontier.waitFor(one, new Set(['a', 'b']));
    frontier.waitFor(two, new Set(['a']));
    expect(frontier.awaiting('a')).toEqual([one, two]);
    frontier.waitFor(one, new Set(['b', 'c']));
    expect([frontier.awaiting('a'), frontier.release('a')]).toEqual([[two], [two]]);
    expect([two.waiting.size, [...one.waiting]]).toEqual([0, ['b', 'c']]);
    expect(frontier.release('a')).toEqual([]);
  });

  it('that are closed wait for nothing any more', () => {
    const frontier = new Frontier();
    const [one, two] = [frontier.open(cell(1)), frontier.open(cell(2))];
    frontier.waitFor(one, new Set(['a', 'b']));
    frontier.waitFor(two, new Set(['b']));
    frontier.close(one);
    expect([frontier.size, frontier.awaiting('a'), frontier.awaiting('b')]).toEqual([1, [], [two]]);
  });
});
