/**
 * Keeps much, and replaces a part of it for long: what is replaced has outlived the young generation. Writes the most that the heap held,
 * as a multiple of what lives in it. Wants `--expose-gc`.
 */
import { boundHeapGrowth } from '../../../src/cli/adapters/memory.ts';

boundHeapGrowth();
const piece = (): readonly number[] => Array.from({ length: 100 }, () => 0);
const kept = Array.from({ length: 60_000 }, piece);
const replaced = 20_000;
globalThis.gc?.();
const { heapUsed: living } = process.memoryUsage();
let most = 0;
for (let turn = 0; turn < 200_000; turn += 1) {
  kept[turn % replaced] = piece();
  if (turn % 1000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most / living);
