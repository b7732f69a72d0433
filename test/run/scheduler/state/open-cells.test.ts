import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../../src/plan/cell.ts';
import { OpenCells } from '../../../../src/run/scheduler/state/open-cells.ts';

const cell = (number: number): Cell => ({ number, vars: {} }) as unknown as Cell;

describe('the open cells', () => {
  it('are found by a job only while they wait for it', () => {
    const openCells = new OpenCells();
    const [one, two] = [openCells.open(cell(1)), openCells.open(cell(2))];
    openCells.waitFor(one, new Set(['a', 'b']));
    openCells.waitFor(two, new Set(['a']));
    expect(openCells.awaiting('a')).toEqual([one, two]);
    openCells.waitFor(one, new Set(['b', 'c']));
    expect([openCells.awaiting('a'), openCells.release('a')]).toEqual([[two], [two]]);
    expect([two.waiting.size, [...one.waiting]]).toEqual([0, ['b', 'c']]);
    expect(openCells.release('a')).toEqual([]);
  });

  it('wait for nothing once they are closed', () => {
    const openCells = new OpenCells();
    const [one, two] = [openCells.open(cell(1)), openCells.open(cell(2))];
    openCells.waitFor(one, new Set(['a', 'b']));
    openCells.waitFor(two, new Set(['b']));
    openCells.close(one);
    expect([openCells.size, openCells.awaiting('a'), openCells.awaiting('b')]).toEqual([1, [], [two]]);
  });
});
