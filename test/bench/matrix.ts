import { cellsOf, matrixOf, ranged } from '../plan/matrix/spec.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

const wanted = 100;
const rounds = 200;

/** Making the matrix ready counts: laziness that only moves the work would show. */
const firstOf = (last: readonly number[]): Promise<number> =>
  microsecondsEach(rounds, async () => {
    for (let round = 0; round < rounds; round++) {
      const matrix = await matrixOf({ axes: last.map((to, axis) => ranged(`axis${axis}`, 1, to)) });
      const { length } = await cellsOf(matrix, { limit: wanted });
      if (length !== wanted) throw new Error(`${length} cells instead of ${wanted}.`);
    }
  });

export const matrix: Bench = {
  asks: 'whether the first cells come as soon from a large matrix as from a small one (ratio 1)',
  prepare: () => ({
    unit: 'µs for 100 cells',
    left: { name: 'of 10,000,000', measure: () => firstOf([1000, 10_000]) },
    right: { name: 'of 1,000', measure: () => firstOf([10, 100]) },
  }),
};
