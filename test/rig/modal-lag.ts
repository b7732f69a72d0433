import { afterAll, beforeAll } from 'vitest';
import { modalLag } from '../../src/run/machine/retry/modal-lag.ts';

/** Makes the gateways of a file of tests lag for so many milliseconds, not for seconds. */
export function useModalLag(ms: number): void {
  const before = { ...modalLag };
  beforeAll(() => {
    Object.assign(modalLag, { ms, pollEveryMs: 30 });
  });
  afterAll(() => {
    Object.assign(modalLag, before);
  });
}
