import type { Bench } from './comparison.ts';
import { compare, rules, shapes } from './order.ts';
import { served } from './shares.ts';

/** The same each time: virtual time. */
const once = { rounds: 1, warmUp: false } as const;

/** The order itself against max(work / slots, longest chain), every end seen at once; in virtual time, the same on every machine. */
const order = (shape: keyof typeof shapes, cells: number, slots: number): Bench => ({
  asks: `makespan of ${cells} cells ${shape} on ${slots} slots, sigma 0.4, against max(work / slots, longest chain)`,
  ...once,
  prepare: () => {
    const side = (name: 'deeper, at the end shallower' | 'deeper first') => ({
      name,
      measure: () => compare(shapes[shape], cells, slots, 0.4, rules[name]).ratio,
    });
    return {
      unit: 'of the bound',
      left: side('deeper, at the end shallower'),
      right: side('deeper first'),
    };
  },
});

export const slots = {
  'order-chain': order('grid → U1 → Vary', 100, 12),
  'order-fan': order('grid → U1..U4', 60, 12),
  'texts-behind-downloads': {
    asks: 'whether downloads of 3 s an image hold up text calls: 120 cells, 16 requests ',
    ...once,
    allowed: { ratioAtMost: 1.1 },
    prepare: () => ({
      unit: 's for all texts',
      left: { name: 'with downloads', measure: async () => (await served(3000, 1000, 2000)).texts },
      right: { name: 'without', measure: async () => (await served(undefined, 1000, 2000)).texts },
    }),
  },
} satisfies Record<string, Bench>;
