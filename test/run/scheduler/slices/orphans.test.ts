import { describe, expect, it } from 'vitest';
import { endsOf, slicesRig, submits } from './slices-rig.ts';

const pictures = `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { grid: { imagine: "picture {{ turn }}" } }
`;

describe('slices of dead workers', () => {
  it('are taken even if no cells are needed, until none is left', async () => {
    const { worker, cells } = await slicesRig(pictures);
    const one = worker({ taskSlots: { granted: 1 } });
    one.begin(1, ...cells);
    expect(submits(one.commitAll())).toHaveLength(1);
    expect(one.scheduler.wantsCells).toBe(false);
    one.input({ type: 'orphans', areThere: true });
    expect(one.scheduler.wantsCells).toBe(true);
    one.begin(2);
    expect(one.scheduler.wantsCells).toBe(true);
    one.input({ type: 'orphans', areThere: false });
    expect(one.scheduler.wantsCells).toBe(false);
    expect(endsOf(one.commitAll())).toEqual(['2/1 closed']);
  });

  it('are left to others by a worker that stops', async () => {
    const { worker, cells } = await slicesRig(pictures);
    const one = worker({ taskSlots: { granted: 1 } });
    one.begin(1, ...cells);
    one.input({ type: 'orphans', areThere: true });
    one.input({ type: 'drain', end: { kind: 'interrupted', forced: false } });
    expect(one.scheduler.wantsCells).toBe(false);
  });
});
