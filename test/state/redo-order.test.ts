import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askedAnew, nameOfRequest, type RedoEntry, redoStates } from '../../src/state/redo-order.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { fingerprintFact, type StateStore } from '../../src/state/store.ts';
import { all } from '../rig/all.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';

const stores: readonly (readonly [string, () => StateStore])[] = [
  ['memory', memoryStore],
  ...drivers.map((driver) => [driver.name, () => openState(freshFolder(), { driver })] as const),
];

describe.each(stores)('the orders of a state: %s', (_name, open) => {
  it('go from waiting to closed, each with the record that says so', async () => {
    const state = open();
    const { redos, reader } = state;
    expect(redos.add({ keys: ['a', 'b', 'a'], again: false })).toEqual({ added: 2, open: 0, made: 0 });
    expect([redos.of('a'), redos.of('c')]).toEqual(['waiting', undefined]);
    state.commit({ records: [jobRecord('a', 'submitting')], attempts: [], redos: new Map([['a', 'begun']]) });
    expect([redos.of('a'), await reader.redos.counts()]).toEqual([
      'begun',
      { waiting: 1, begun: 1, made: 0 },
    ]);
    expect(await all(reader.redos.waiting())).toEqual(['b']);
    const made = new Map([['a', 'made'] as const, ['c', 'made'] as const]);
    state.commit({ records: [jobRecord('a', 'done')], attempts: [], redos: made });
    expect([redos.of('a'), redos.close(), await reader.redos.counts()]).toEqual([
      undefined,
      0,
      { waiting: 1, begun: 0, made: 1 },
    ]);
    state.commit({ records: [jobRecord('b', 'done')], attempts: [], redos: new Map([['b', 'made']]) });
    expect([redos.close(), redos.close()]).toEqual([2, 0]);
    expect(await reader.redos.entries(['a', 'c'])).toMatchObject(new Map([['a', { state: 'closed' }]]));
    state.close();
  });

  it('forget what is known of a finished plan when jobs are added, and keep it where nothing is closed', () => {
    const state = open();
    state.setFact(fingerprintFact, 'known');
    expect([state.redos.close(), state.redos.cancel(), state.fact(fingerprintFact)]).toEqual([0, 0, 'known']);
    state.redos.add({ keys: ['a'], again: true });
    expect(state.fact(fingerprintFact)).toBeUndefined();
    state.close();
  });

  it('are over when they are cancelled: nothing is left of them, and nothing that was under way opens one again', async () => {
    const state = open();
    const { redos, reader } = state;
    redos.add({ keys: ['a', 'b', 'c'], again: false });
    const changes = new Map([['a', 'made'] as const, ['b', 'begun'] as const]);
    state.commit({ records: [jobRecord('a', 'done')], attempts: [], redos: changes });
    expect(redos.cancel()).toBe(2);
    const none = { waiting: 0, begun: 0, made: 0 };
    expect([await reader.redos.counts(), redos.close()]).toEqual([none, 0]);
    // A submission that was reverted gives its turn back; there is no order any more.
    for (const change of ['waiting', 'begun', 'made'] as const) {
      state.commit({ records: [jobRecord('b', 'pending')], attempts: [], redos: new Map([['b', change]]) });
      expect([redos.of('b'), redos.of('c'), await reader.redos.counts()]).toEqual([
        undefined,
        undefined,
        none,
      ]);
    }
    state.close();
  });

  it('are closed where all their jobs are made, and no others', async () => {
    const jobs = fc.array(fc.constantFrom('waiting', 'begun', 'made'), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(jobs, { minLength: 1, maxLength: 3 }), async (orders) => {
        const state = open();
        const keysOf = (order: number) => orders[order]?.map((_unused, job) => `${order}-${job}`) ?? [];
        for (const order of orders.keys()) state.redos.add({ keys: keysOf(order), again: false });
        const redos = new Map(orders.flatMap((of, order) => of.map((job, at) => [`${order}-${at}`, job])));
        state.commit({ records: [jobRecord('a', 'done')], attempts: [], redos });
        const whole = [...orders.keys()].filter((order) => orders[order]?.every((job) => job === 'made'));
        const closed = whole.flatMap(keysOf);
        expect(state.redos.close()).toBe(closed.length);
        const entries = await state.reader.redos.entries([...redos.keys()]);
        const found = [...entries].flatMap(([key, { state: of }]) => (of === 'closed' ? [key] : []));
        expect(found.toSorted()).toEqual(closed.toSorted());
        state.close();
      }),
      { numRuns: 25 },
    );
  });

  it('drop what is left, and know what was made', () => {
    const state = open();
    state.redos.add({ keys: ['a', 'b'], again: false });
    state.commit({ records: [jobRecord('a', 'done')], attempts: [], redos: new Map([['a', 'made']]) });
    expect([state.redos.cancel(), state.redos.of('b')]).toEqual([1, undefined]);
    expect(state.redos.add({ keys: ['a', 'b'], again: false })).toEqual({ added: 1, open: 0, made: 1 });
    state.close();
  });
});

describe('a job that is asked for anew', () => {
  it('is asked for by the same words where the jobs are the same, in any sequence', () => {
    const name = nameOfRequest({ keys: ['a', 'b'], again: false });
    expect(nameOfRequest({ keys: ['b', 'a'], again: false })).toBe(name);
    expect(nameOfRequest({ keys: ['a'], again: false })).not.toBe(name);
    expect(nameOfRequest({ keys: ['a', 'b'], again: true })).not.toBe(name);
  });

  it('begins once for the same words, until its order is closed, and without --redo-again never more', () => {
    const entry = fc.record({
      state: fc.constantFrom(...redoStates),
      asked: fc.constantFrom('one', 'other'),
    });
    fc.assert(
      fc.property(
        fc.option(entry, { nil: undefined }),
        fc.boolean(),
        (known: RedoEntry | undefined, again) => {
          const { state, asked } = askedAnew(known, 'one', again);
          const isNew = known === undefined;
          const isOpen = known?.state === 'waiting' || known?.state === 'begun';
          const isMore = again && !isNew && !isOpen && (known.state === 'closed' || known.asked !== 'one');
          expect(state).toBe(isNew || isMore ? 'waiting' : known.state);
          expect(asked).toBe(isNew || isOpen || isMore ? 'one' : known.asked);
          // Whatever was said, the same words change nothing more.
          expect(askedAnew({ state, asked }, 'one', again)).toEqual({ state, asked });
        },
      ),
    );
  });
});

it('an order of 100,000 jobs is one transaction, and is there when the state is opened again', async () => {
  const folder = freshFolder();
  const keys = Array.from({ length: 100_000 }, (_unused, at) => `key${at}`);
  const state = openState(folder);
  expect(state.redos.add({ keys, again: false }).added).toBe(100_000);
  state.close();
  const reader = openStateForReading(folder);
  expect(await reader?.redos.counts()).toEqual({ waiting: 100_000, begun: 0, made: 0 });
  await reader?.close();
  const again = openState(folder);
  expect([again.redos.of('key99999'), again.redos.add({ keys, again: true }).open]).toEqual([
    'waiting',
    100_000,
  ]);
  again.close();
});
