import { expect, it } from 'vitest';
import { WorkerSlots } from '../../src/engine/slots.ts';

/** The limits of a run that may have ten tasks in flight. */
function limits() {
  const noted: number[] = [];
  return { noted, taskSlots: { granted: 10, note: (tasks: number) => void noted.push(tasks) } };
}

it('leaves a run the slots that the other runs of the process do not use', () => {
  const slots = new WorkerSlots(4);
  const [first, second] = [limits(), limits()];
  const [one, other] = [slots.within(first), slots.within(second)];
  const told: string[] = [];
  one.onMore?.(() => told.push('one'));
  other.onMore?.(() => told.push('other'));
  expect([one.taskSlots?.granted, other.taskSlots?.granted]).toEqual([4, 4]);
  one.taskSlots?.note?.(3);
  expect([one.taskSlots?.granted, other.taskSlots?.granted]).toEqual([4, 1]);
  other.taskSlots?.note?.(1);
  expect([one.taskSlots?.granted, other.taskSlots?.granted]).toEqual([3, 1]);
  expect(told).toEqual([]);
  one.taskSlots?.note?.(1);
  expect([one.taskSlots?.granted, other.taskSlots?.granted]).toEqual([3, 3]);
  expect(told).toEqual(['other']);
  slots.leave(first.taskSlots);
  expect(other.taskSlots?.granted).toBe(4);
  expect(told).toEqual(['other', 'other']);
  // The service's own limit hears of all of it.
  expect(first.noted).toEqual([3, 1]);
});

it('limits nothing where no number is given, and notifies nobody', () => {
  const slots = new WorkerSlots();
  const run = limits();
  const one = slots.within(run);
  const other = slots.within(limits());
  other.onMore?.(() => expect.unreachable());
  one.taskSlots?.note?.(7);
  one.taskSlots?.note?.(2);
  expect([one.taskSlots?.granted, other.taskSlots?.granted]).toEqual([10, 10]);
});

it('leaves the known facts of the service unchanged', () => {
  const shared = { ...limits(), kinds: new Set<string>(), served: new Set<'submit'>() };
  expect(new WorkerSlots(4).within(shared)).toMatchObject({ kinds: shared.kinds, served: shared.served });
});
