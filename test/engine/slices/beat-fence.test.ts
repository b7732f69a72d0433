import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { BeatFence, leasesSending, leasesSilent } from '../../../src/engine/slices/beat-fence.ts';
import type { Clock } from '../../../src/run/clock.ts';

const leaseMs = 1000;

/** A machine whose clocks a test moves: one goes on by itself, the other shows the time of day. */
class Machine {
  elapsed = 0;
  wall = 1_000_000;
  readonly fence = new BeatFence(
    { clock: { now: () => this.wall } as Clock, elapsed: () => this.elapsed },
    leasesSending * leaseMs,
  );

  pass(ms: number): void {
    this.elapsed += ms;
    this.wall += ms;
  }
}

const never = new AbortController().signal;

it('is open for one and a half leases after a heartbeat was sent, however long its answer took', () => {
  expect(leasesSending).toBeLessThan(leasesSilent);
  const machine = new Machine();
  expect(machine.fence.isOpen).toBe(false);
  const sent = machine.fence.moment();
  machine.pass(800);
  machine.fence.onSeen(sent);
  machine.pass(699);
  expect(machine.fence.isOpen).toBe(true);
  machine.pass(1);
  expect(machine.fence.isOpen).toBe(false);
});

it('stays closed after an answer that comes too late', async () => {
  const machine = new Machine();
  const sent = machine.fence.moment();
  const passed = machine.fence.pass(never);
  machine.pass(10_000);
  machine.fence.onSeen(sent);
  expect(machine.fence.isOpen).toBe(false);
  expect(await Promise.race([passed, Promise.resolve('it waits')])).toBe('it waits');
  machine.fence.onSeen(machine.fence.moment());
  expect(await passed).toBe(true);
  expect(machine.fence.pass(never)).toBeUndefined();
});

it('counts the time of a sleep, and of a clock that was set back', () => {
  const slept = new Machine();
  slept.fence.onSeen(slept.fence.moment());
  slept.wall += 60_000;
  expect(slept.fence.isOpen).toBe(false);
  const set = new Machine();
  set.fence.onSeen(set.fence.moment());
  set.wall -= 600_000;
  set.elapsed += 1500;
  expect(set.fence.isOpen).toBe(false);
});

it('lets nothing pass once it is closed, and no request that was given up', async () => {
  const machine = new Machine();
  const gone = new AbortController();
  const [first, second] = [machine.fence.pass(gone.signal), machine.fence.pass(never)];
  gone.abort();
  expect(await first).toBe(false);
  machine.fence.close();
  expect(await second).toBe(false);
  machine.fence.onSeen(machine.fence.moment());
  expect(machine.fence.isOpen).toBe(false);
  expect(await machine.fence.pass(never)).toBe(false);
});

it('refuses at once a request that was given up before', async () => {
  const { fence } = new Machine();
  const passed = fence.pass(AbortSignal.abort());
  expect(
    await Promise.race([passed, new Promise((resolve) => setImmediate(() => resolve('it waits')))]),
  ).toBe(false);
});

it('removes its listeners from the signal of a waiting request', async () => {
  const { signal } = new AbortController();
  for (let wait = 0; wait < 20; wait += 1) {
    const machine = new Machine();
    const passed = machine.fence.pass(signal);
    machine.fence.onSeen(machine.fence.moment());
    expect(await passed).toBe(true);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
