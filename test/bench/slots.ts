import type { Bench } from './comparison.ts';
import { got, gotOfRate } from './found.ts';
import { compare, rules, shapes } from './order.ts';
import { served } from './shares.ts';

/** The same each time: virtual time. */
const once = { rounds: 1, warmUp: false } as const;

const thirty = { count: 30, perMs: 60_000 } as const;

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
  'full-queue-refused': {
    asks: 'how many submissions a service refuses that takes 8 tasks at a time and never said so (at most 0.02)',
    ...once,
    allowed: { figureAtMost: 0.02 },
    prepare: () => ({
      unit: 'of the submissions',
      left: {
        name: 'limit unknown',
        measure: async () => (await got(1000, 40, ({ at }, service) => service.inFlight(at) < 8)).refused,
      },
    }),
  },
  'full-queue-pace': {
    asks: 'and how busy it is, against the limit that is best',
    ...once,
    allowed: { ratioAtLeast: 0.95 },
    prepare: () => ({
      unit: 'tasks a second',
      left: {
        name: 'limit unknown',
        measure: async () => (await got(1000, 40, ({ at }, service) => service.inFlight(at) < 8)).perSecond,
      },
      right: { name: 'tasks: 8', measure: async () => (await got(1000, 8, () => true)).perSecond },
    }),
  },
  '429-run-refused': {
    asks: 'how many submissions of a whole run are refused (429) by a service that accepts 30 in each minute and never said so (at most 0.02)',
    ...once,
    allowed: { figureAtMost: 0.02 },
    prepare: () => ({
      unit: 'of the submissions',
      left: { name: 'limit unknown', measure: async () => (await gotOfRate('fixed window', thirty)).refused },
    }),
  },
  '429-run-pace': {
    asks: 'and how many it accepts, against the same limit in the file',
    ...once,
    allowed: { ratioAtLeast: 0.95 },
    prepare: () => ({
      unit: 'submissions a second',
      left: {
        name: 'limit unknown',
        measure: async () => (await gotOfRate('fixed window', thirty)).perSecond,
      },
      right: {
        name: 'submit: 30/min',
        measure: async () => (await gotOfRate('fixed window', thirty, true)).perSecond,
      },
    }),
  },
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
