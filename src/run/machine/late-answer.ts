import { exactJson, parseExact } from '../../pipeline/values/exact-json.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { LateFact } from '../../state/store.ts';
import { become, type CallResult } from './job.ts';
import { withoutOne } from './retry/in-doubt.ts';
import { isLast, type Submission } from './search/late-fact.ts';
import { mayHaveWorked, submissionName } from './text-call.ts';

/** Returns the answer to a text call as a fact; undefined where it is unknown whether the call was made. */
export function factOfCall(submission: Submission, result: CallResult): LateFact | undefined {
  if (result.kind === 'answered' || result.kind === 'unwritten')
    return { ...submission, answer: exactJson(result) };
  return mayHaveWorked(result) ? undefined : submission;
}

/** Returns the answer in a fact; undefined where the call was not made. */
export const answerOf = ({ answer }: LateFact): CallResult | undefined =>
  answer === undefined ? undefined : (parseExact(answer) as CallResult);

/**
 * Returns the record of a text call that was taken over, once a fact about the call is known: in flight, or, where the call was not made,
 * before its turn. Undefined where the fact is about another call.
 */
export function withCallFact(record: JobRecord, fact: LateFact): JobRecord | undefined {
  const { status, unheard = [], doubtful, attempts } = record;
  const name = submissionName(fact);
  const isCounted = unheard.includes(name);
  if (status === 'submitting' ? !isLast(record, fact) : status !== 'pending' || !isCounted) return undefined;
  const left = unheard.filter((other) => other !== name);
  const known = {
    sender: undefined,
    reserve: undefined,
    doubtful: isCounted ? withoutOne({ ...doubtful }) : doubtful,
  };
  if (fact.answer === undefined)
    return become(record, 'pending', {
      ...known,
      attempts: attempts - 1,
      submittedAt: undefined,
      unheard: left.length === 0 ? undefined : left,
    });
  const { submittedAt, submittedBy } = fact;
  return become(record, 'submitting', { ...known, submittedAt, submittedBy, unheard: undefined });
}
