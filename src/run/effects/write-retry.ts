import type { KeepResult } from '../../artifacts/writer.ts';
import type { RetrySettings } from '../../pipeline/pipeline.ts';
import type { Clock } from '../clock.ts';
import { backoffMs } from '../machine/retry/backoff.ts';

/** Clock and retry settings of writes. */
export interface Writing {
  readonly clock: Clock;
  readonly retry: Pick<RetrySettings, 'attempts' | 'baseMs' | 'capMs'>;
}

/**
 * Writes a paid result, in at most `retry.attempts` tries while the error may pass, because a new request would cost money again.
 *
 * @param signal ends the delay before the next try, which is then the last one
 */
export async function written(
  write: () => Promise<KeepResult>,
  { clock, retry }: Writing,
  signal: AbortSignal,
): Promise<KeepResult> {
  for (let tries = 1; ; tries += 1) {
    const last = tries >= retry.attempts || signal.aborted;
    const result = await write();
    if (result.ok || result.error.class !== 'retry') return result;
    if (last) {
      const { error } = result;
      return tries === 1
        ? result
        : { ok: false, error: { ...error, message: `${error.message} (after ${tries} tries)` } };
    }
    // No jitter: there is one disk, and no other process that could retry at the same moment.
    await resting(
      clock,
      Math.max(
        result.error.retryAfterMs ?? 0,
        backoffMs(tries, retry, () => 1),
      ),
      signal,
    );
  }
}

async function resting(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.at(clock.now() + ms, () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    const leave = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
  });
}
