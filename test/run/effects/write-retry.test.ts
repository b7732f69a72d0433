import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { KeepResult, SaveFailure } from '../../../src/artifacts/writer.ts';
import { written } from '../../../src/run/effects/write-retry.ts';

const retry = { attempts: 3, baseMs: 1000, capMs: 60_000 };
const busy = (more: Partial<SaveFailure> = {}): KeepResult => ({
  ok: false,
  error: { code: 'download.status', class: 'retry', message: 'busy', ...more },
});
const kept: KeepResult = { ok: true, value: { artifacts: [] } };
const never = new AbortController().signal;

/** A clock whose alarms fire at once, and that notes how long each rest was. */
function instantClock() {
  const rests: number[] = [];
  return {
    rests,
    clock: {
      now: () => 5000,
      at: (moment: number, call: () => void) => {
        rests.push(moment - 5000);
        queueMicrotask(call);
        return () => undefined;
      },
    },
  };
}

/** The result of writes that have these results, one after the other, and the rests between them. */
async function writing(results: readonly KeepResult[], signal = never) {
  const { clock, rests } = instantClock();
  let tries = 0;
  const result = await written(() => Promise.resolve(results[tries++] ?? kept), { clock, retry }, signal);
  return { result, tries, rests };
}

describe('a paid result', () => {
  it('is written once where that succeeds', async () => {
    expect(await writing([kept])).toEqual({ result: kept, tries: 1, rests: [] });
  });

  it('is written again after growing delays, up to retry.attempts times', async () => {
    expect(await writing([busy(), busy(), kept])).toEqual({ result: kept, tries: 3, rests: [1000, 2000] });
    const { result, tries, rests } = await writing([busy(), busy(), busy(), kept]);
    expect([tries, rests]).toEqual([3, [1000, 2000]]);
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'download.status', message: 'busy (after 3 tries)' },
    });
  });

  it('that cannot be written keeps the cause of its last failure', async () => {
    const cause = new Error('EIO');
    const { result } = await writing([busy(), busy(), busy({ cause })]);
    expect(result).toMatchObject({ ok: false, error: { code: 'download.status', cause } });
  });

  it('leaves no listener on the signal of the run', async () => {
    const run = new AbortController();
    expect((await writing([busy(), busy(), kept], run.signal)).tries).toBe(3);
    expect(getEventListeners(run.signal, 'abort')).toEqual([]);
  });

  it('is not written again before the delay that the failure asks for', async () => {
    expect((await writing([busy({ retryAfterMs: 7000 }), kept])).rests).toEqual([7000]);
    expect((await writing([busy({ retryAfterMs: 10 }), kept])).rests).toEqual([1000]);
  });

  it('is not written again where a retry cannot help', async () => {
    const wrong = busy({ class: 'permanent' });
    expect(await writing([wrong, kept])).toEqual({ result: wrong, tries: 1, rests: [] });
  });

  it('is tried once where the run is left, and then names no number of tries', async () => {
    const left = AbortSignal.abort();
    expect(await writing([busy(), kept], left)).toEqual({ result: busy(), tries: 1, rests: [] });
  });

  it('is tried a last time, at once, where the run is left during the delay', async () => {
    const control = new AbortController();
    let isCancelled = false;
    let tries = 0;
    const clock = {
      now: () => 0,
      at: () => {
        queueMicrotask(() => control.abort());
        return () => {
          isCancelled = true;
        };
      },
    };
    const result = await written(
      () => {
        tries += 1;
        return Promise.resolve(busy());
      },
      { clock, retry },
      control.signal,
    );
    expect([tries, isCancelled]).toEqual([2, true]);
    expect(result).toMatchObject({ error: { message: 'busy (after 2 tries)' } });
  });
});
