import { describe, expect, it } from 'vitest';
import { listInTime } from '../../../src/app/run/execute.ts';

/** A clock of one alarm, which a test rings. */
function alarmClock() {
  const alarms = new Map<number, () => void>();
  return {
    alarms,
    now: () => 0,
    at: (atMs: number, call: () => void) => {
      alarms.set(atMs, call);
      return () => alarms.delete(atMs);
    },
  };
}

/** Work that goes on until it is aborted. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('the manifest at the end of a run', () => {
  it('is waited for without a limit before any signal', async () => {
    const drain = new AbortController();
    const leave = new AbortController();
    const clock = alarmClock();
    const said: string[] = [];
    const listing = listInTime(
      { drain: drain.signal, leave: leave.signal },
      'runs/x',
      (text) => said.push(text),
      endless,
      clock,
    );
    expect(clock.alarms.size).toBe(0);
    drain.abort();
    expect([...clock.alarms.keys()]).toEqual([10_000]);
    for (const ring of clock.alarms.values()) ring();
    expect(await listing).toBe(undefined);
    expect(said.join('')).toContain('promptpress manifest runs/x');
  });

  it('is waited for up to 10 s if the signal came before it was begun', async () => {
    const control = { drain: AbortSignal.abort(), leave: new AbortController().signal };
    const clock = alarmClock();
    const said: string[] = [];
    const listing = listInTime(control, 'runs/x', (text) => said.push(text), endless, clock);
    expect([...clock.alarms.keys()]).toEqual([10_000]);
    for (const ring of clock.alarms.values()) ring();
    expect([await listing, said.length]).toEqual([undefined, 1]);
  });

  it('is given up at once at the second signal, without a message', async () => {
    const drain = AbortSignal.abort();
    const leave = new AbortController();
    const clock = alarmClock();
    const listing = listInTime(
      { drain, leave: leave.signal },
      'runs/x',
      () => expect.unreachable(),
      endless,
      clock,
    );
    leave.abort();
    expect([await listing, clock.alarms.size]).toEqual([undefined, 0]);
    let isBegun = false;
    const begin = (): Promise<number> => {
      isBegun = true;
      return Promise.resolve(3);
    };
    const say = (): never => expect.unreachable();
    expect(await listInTime({ drain, leave: leave.signal }, 'runs/x', say, begin, clock)).toBe(undefined);
    expect(isBegun).toBe(false);
  });

  it('passes on the result or the error of its writer', async () => {
    const never = new AbortController().signal;
    const control = { drain: AbortSignal.abort(), leave: never };
    const clock = alarmClock();
    const say = (): void => expect.unreachable();
    expect(await listInTime(control, 'runs/x', say, () => Promise.resolve(3), clock)).toBe(3);
    const failing = listInTime(control, 'runs/x', say, () => Promise.reject(new Error('full')), clock);
    await expect(failing).rejects.toThrow('full');
    expect(clock.alarms.size).toBe(0);
  });
});
