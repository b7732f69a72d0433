import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../../src/artifacts/writer.ts';
import { readFetch, readSave, submitReading } from '../../../../src/run/scheduler/routes/outcome.ts';
import { failure } from '../../../rig/failure.ts';

const save = (kind: SaveFailure['class'], more: Partial<SaveFailure> = {}) =>
  readSave({ ok: false, error: { code: 'download.x', class: kind, message: 'no', ...more } });

describe('the meaning of a result for its route', () => {
  it('a download that is asked for too often rests for as long as the server says, where it says so', () => {
    expect(save('throttle')).toEqual({ signal: { kind: 'throttled', reason: 'no' } });
    expect(save('throttle', { retryAfterMs: 3000 })).toEqual({
      signal: { kind: 'throttled', reason: 'no', retryAfterMs: 3000 },
    });
  });

  it.each(['fresh-link', 'permanent'] as const)('a download that fails as %s is about its link', (kind) => {
    expect(save(kind)).toEqual({ signal: { kind: 'served' } });
  });

  it('refusals are compared by status and the words of the service, or by what there is', () => {
    const words = (more: object) =>
      submitReading({ ok: false, error: failure('service.rejected', 'permanent', more) });
    expect(words({ status: 400, serviceMessage: 'no prompt' })).toEqual({
      signal: { kind: 'refused', words: '400: no prompt' },
    });
    expect(words({})).toEqual({
      signal: { kind: 'refused', words: 'service.rejected: service.rejected (made up)' },
    });
  });

  it('a task that the service does not know is no trouble of the route', () => {
    const error = failure('service.task-unknown', 'retry');
    expect(readFetch({ ok: false, error })).toEqual({ signal: { kind: 'served' } });
  });
});
