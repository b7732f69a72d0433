import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plannedRedos, takeOrders } from '../../../src/app/run/redo-order.ts';
import type { StateReader } from '../../../src/state/reader.ts';

const many = fc.nat(3);
const counts = fc.record({ waiting: many, begun: many, made: many });

/** A state with orders of which so many jobs wait, are begun and are made. */
const stateWith = (now: {
  readonly waiting: number;
  readonly begun: number;
  readonly made: number;
}): StateReader =>
  ({
    redos: {
      counts: () => Promise.resolve(now),
      async *waiting() {
        for (let at = 0; at < now.waiting; at += 1) yield `k${at}`;
      },
    },
  }) as unknown as StateReader;

it('a plan remakes the jobs of open orders, except cancelled ones', async () => {
  await fc.assert(
    fc.asyncProperty(counts, fc.boolean(), async (now, cancels) => {
      const { keys, redo } = await plannedRedos({ requests: [], cancels }, stateWith(now));
      const isOpen = !cancels && now.waiting + now.begun > 0;
      expect([keys.size, redo]).toEqual([cancels ? 0 : now.waiting, isOpen ? now : undefined]);
    }),
  );
});

it('a run reports how much is left of every open order, and of no other', async () => {
  await fc.assert(
    fc.asyncProperty(counts, async (now) => {
      const orders = { add: () => ({ made: 0, added: 0 }) as never, cancel: () => 0, close: () => 0 };
      const told = await takeOrders({ requests: [], cancels: false }, orders, stateWith(now));
      const left = now.waiting + now.begun;
      const begun = now.begun === 0 ? '' : `, ${now.begun} of them begun`;
      const words = `Redo: ${left} ${left === 1 ? 'job' : 'jobs'} to be made anew${begun}.`;
      expect(told.map((line) => line.slice(0, words.length))).toEqual(left === 0 ? [] : [words]);
    }),
  );
});
