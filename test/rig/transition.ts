import type { SaveAnswer, SaveFailure } from '../../src/artifacts/writer.ts';
import type {
  AskAnswer,
  FetchReason,
  Job,
  JobContext,
  JobEvent,
  JobStep,
} from '../../src/run/machine/job.ts';
import { step } from '../../src/run/machine/machine.ts';
import type { SubmitAnswer, Task } from '../../src/service/image-service.ts';
import type { Answer, ServiceFailure } from '../../src/service/result.ts';
import { context } from './jobs.ts';

/** What each event makes of a job. A failure of the service may stand in the place of its result. */
export function transition(job: Job, changes: Partial<JobContext> = {}) {
  const after = (event: JobEvent): JobStep => step(job, event, context(changes));
  return {
    granted: () => after({ type: 'granted' }),
    elapsed: () => after({ type: 'elapsed' }),
    submitted: (result: SubmitAnswer | ServiceFailure) =>
      after({ type: 'submitted', answer: resultOf(result) }),
    unread: (error: SaveFailure) => after({ type: 'unread', error }),
    unsent: () => after({ type: 'unsent' }),
    masked: (error?: SaveFailure) => after({ type: 'masked', ...(error === undefined ? {} : { error }) }),
    fetched: (why: FetchReason, result: Task | ServiceFailure) =>
      after({ type: 'fetched', why, answer: resultOf(result) }),
    searched: (result: readonly Task[] | ServiceFailure) =>
      after({ type: 'searched', answer: resultOf(result) }),
    saved: (result: SaveAnswer) => after({ type: 'saved', answer: result }),
    asked: (result: AskAnswer) => after({ type: 'asked', answer: result }),
  };
}

function resultOf<T extends object>(result: T | ServiceFailure): Answer<T> {
  return 'class' in result ? { ok: false, error: result } : { ok: true, value: result };
}
