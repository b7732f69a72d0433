import type { CutResult, SaveFailure } from '../../src/artifacts/writer.ts';
import type {
  CallResult,
  FetchReason,
  Job,
  JobContext,
  JobEvent,
  JobStep,
  SavedResult,
} from '../../src/run/machine/job.ts';
import { step } from '../../src/run/machine/machine.ts';
import type { SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../src/service/result.ts';
import { context } from './jobs.ts';

/** What each event makes of a job. A failure of the service may stand in the place of its result. */
export function transition(job: Job, changes: Partial<JobContext> = {}) {
  const after = (event: JobEvent): JobStep => step(job, event, context(changes));
  return {
    granted: () => after({ type: 'granted' }),
    elapsed: () => after({ type: 'elapsed' }),
    submitted: (result: SubmitResult | ServiceFailure) =>
      after({ type: 'submitted', result: resultOf(result) }),
    unread: (error: SaveFailure) => after({ type: 'unread', error }),
    unsent: () => after({ type: 'unsent' }),
    masked: (error?: SaveFailure) => after({ type: 'masked', ...(error === undefined ? {} : { error }) }),
    fetched: (why: FetchReason, result: Task | ServiceFailure) =>
      after({ type: 'fetched', why, result: resultOf(result) }),
    searched: (result: readonly Task[] | ServiceFailure) =>
      after({ type: 'searched', result: resultOf(result) }),
    seed: (result: string | ServiceFailure) =>
      after({
        type: 'seed',
        result: typeof result === 'string' ? { ok: true, value: result } : { ok: false, error: result },
      }),
    saved: (result: SavedResult) => after({ type: 'saved', result }),
    cut: (result: CutResult) => after({ type: 'cut', result }),
    asked: (result: CallResult) => after({ type: 'asked', result }),
  };
}

function resultOf<T extends object>(result: T | ServiceFailure): ServiceResult<T> {
  return 'class' in result ? { ok: false, error: result } : { ok: true, value: result };
}
