import { grid, world } from '../rig/world.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

async function run(cells: number): Promise<number> {
  const fresh = await world(grid(cells, 'U1'));
  return await microsecondsEach(cells, () => {
    const { end } = fresh.run();
    if (end?.kind !== 'complete') throw new Error(`The run ended ${end?.kind ?? 'nowhere'}.`);
  });
}

export const scheduler: Bench = {
  asks: 'whether a cell costs the same in a long run as in a short one (ratio 1)',
  prepare: () => ({
    unit: 'µs per cell',
    left: { name: '2,000 cells', measure: () => run(2000) },
    right: { name: '200 cells', measure: () => run(200) },
  }),
};
