import type { PageSort } from '../../results/wire.ts';
import type { Columns } from './columns.ts';

/** Puts matches, which are in the plan's order, into another one: the largest first, those without a figure last. */
export function inOrder(ats: Uint32Array, sort: PageSort, columns: Columns): Uint32Array {
  if (sort === 'plan') return ats;
  const figures = { newest: columns.finishedAt, cost: columns.cost, duration: columns.seconds }[sort];
  return descending(ats, figures);
}

/**
 * A radix sort by the bits of the figures, which for numbers from 0 on are in the order of the numbers: 100,000 of them take a few
 * milliseconds, where comparing them one by one takes longer than a screen may stand still. Equal ones keep their order.
 */
function descending(ats: Uint32Array, figures: Float64Array): Uint32Array {
  const { length } = ats;
  const numbers = new Float64Array(length);
  let order = new Uint32Array(length);
  for (let n = 0; n < length; n += 1) {
    numbers[n] = Math.max(0, figures[ats[n] as number] as number);
    order[n] = n;
  }
  const digits = new Uint16Array(numbers.buffer);
  let next = new Uint32Array(length);
  for (let digit = 0; digit < 4; digit += 1) {
    const starts = new Uint32Array(0x1_00_01);
    for (let n = 0; n < length; n += 1) {
      const bucket = 0xff_ff - (digits[4 * n + digit] as number) + 1;
      starts[bucket] = (starts[bucket] as number) + 1;
    }
    for (let bucket = 1; bucket < starts.length; bucket += 1)
      starts[bucket] = (starts[bucket] as number) + (starts[bucket - 1] as number);
    for (let rank = 0; rank < length; rank += 1) {
      const n = order[rank] as number;
      const bucket = 0xff_ff - (digits[4 * n + digit] as number);
      const place = starts[bucket] as number;
      starts[bucket] = place + 1;
      next[place] = n;
    }
    [order, next] = [next, order];
  }
  for (let rank = 0; rank < length; rank += 1) next[rank] = ats[order[rank] as number] as number;
  return next;
}
