import { isSettled } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import type { Job, JobContext, JobEvent, JobStep } from './job.ts';
import { modalNow, modalUnread, modalUnsent, onModalResult } from './modal.ts';
import { ownAnswer } from './ownership.ts';
import { modalSeen } from './poll/modal-poll.ts';
import { taskSeen } from './poll/poll.ts';
import { redoJudged } from './redo.ts';
import { clearDeferrals } from './retry/deferrals.ts';
import { withReserve } from './retry/in-doubt.ts';
import { fileSaved, gridCut, linkRead, seedRead, withSeed } from './save.ts';
import { searchedInDoubt, taskSearched } from './search/search.ts';
import {
  maskChecked,
  onSubmitResult,
  parentRead,
  submitNow,
  submitUnread,
  submitUnsent,
  withFirstRequest,
} from './submit.ts';
import { askNow, askUnsent, onAskResult } from './text-call.ts';

/**
 * The state table of a job. `next` is its next request, sent only once the scheduler grants it; `rest` is a delay before it. `(click)`,
 * `(text)`: kind of the job; `(split)`: its file is a grid to be cut; `(seed)`: a grid whose seed is wanted; `(modal)`: its confirm was sent; `(redo)`: it has an earlier result;
 * `(in doubt)`: a submission may have made a task; `(adopted)`: the user named its task. resume.ts decides where a job begins. While other
 * requests of its kind are served, a failure that certainly made nothing, such as 503, arrives as a 429 (`deferred` in outcome.ts): no attempt.
 *
 * | status | events | becomes | next |
 * |---|---|---|---|
 * | pending | granted task-slot | pending | submit |
 * | pending | granted submit | submitting | send submit |
 * | pending | rest elapsed | pending | submit |
 * | pending (click) | granted task-slot | pending | fetch parent |
 * | pending (click) | granted task-slot, button shown lately | pending | submit |
 * | pending (click) | granted mask | pending | send mask |
 * | pending (click) | mask fits | pending | fetch parent |
 * | pending (click) | mask fits, button shown lately | pending | submit |
 * | pending (click) | granted fetch | pending | send fetch |
 * | pending (click) | parent shown | pending | submit |
 * | pending (click) | parent not shown | pending | rest, task-slot |
 * | pending (click) | mask unreadable; button missing; parent failed | failed | |
 * | pending (in doubt) | granted search | pending | send search |
 * | pending (in doubt) | task found | running | rest, fetch poll |
 * | pending (in doubt) | no task found | pending | task-slot |
 * | pending (in doubt) | search failed | pending | rest, search |
 * | pending (in doubt) | no task found after the last try | in-doubt | |
 * | in-doubt | granted search | in-doubt | send search |
 * | in-doubt | task found | running | rest, fetch poll |
 * | in-doubt | no task found | in-doubt | |
 * | in-doubt | search failed | in-doubt | rest, search |
 * | pending (text) | granted ask | submitting | send ask |
 * | submitting | accepted | running | rest, fetch poll |
 * | submitting | queue full; 429 | pending | rest, task-slot |
 * | submitting | connection refused; run must stop; not sent | pending | rest, submit |
 * | submitting | 500; 503; no answer (--in-doubt retry) | pending | rest, task-slot |
 * | submitting | input busy | pending | rest, submit |
 * | submitting | no answer; 500 to the last try | in-doubt | |
 * | submitting | no answer (--in-doubt find) | in-doubt | rest, search |
 * | submitting | refused by code; 400; 503 to the last try; input unreadable | failed | |
 * | submitting (click) | modal opened | modal | rest, modal |
 * | submitting (click) | button refused | pending | rest, submit |
 * | submitting (redo) | 400 | done | |
 * | submitting (modal) | accepted; modal opened | running | rest, fetch poll |
 * | submitting (modal) | queue full; 429; connection refused; run must stop; not sent | modal | rest, modal |
 * | submitting (modal) | 503; input busy | modal | rest, modal |
 * | submitting (modal) | no answer; 500; still MODAL | submitting | rest, fetch modal |
 * | submitting (modal) | task moved on | running | rest, fetch poll |
 * | submitting (modal) | still MODAL after the lag | in-doubt | |
 * | submitting (modal) | refused by code; 400; 503 to the last try; input unreadable | failed | |
 * | submitting (text) | reply accepted | done | |
 * | submitting (text) | functions called | pending | ask |
 * | submitting (text) | reply invalid; call 429; call lost; not sent | pending | rest, ask |
 * | submitting (text) | reply invalid to the last try; reply refused; call lost to the last try; call 400; reply not written | failed | |
 * | running | unfinished; poll failed | running | rest, fetch poll |
 * | running | success | saving | save |
 * | running | success, nothing kept | done | |
 * | running (seed) | success, nothing kept | saving | seed |
 * | running | waits for its modal | modal | rest, modal |
 * | running | failure that may pass | pending | rest, task-slot |
 * | running | failure; past the deadline | failed | |
 * | running | task of another job | in-doubt | |
 * | running (adopted) | task unknown to the last try | in-doubt | |
 * | modal | granted task-slot | modal | modal |
 * | modal | granted modal | submitting | send modal |
 * | saving | granted save | saving | send save |
 * | saving | saved | done | |
 * | saving (split) | grid saved | saving | cut |
 * | saving (split) | saved | done | |
 * | saving (split) | granted cut | saving | send cut |
 * | saving (split) | cut; file cannot be cut | done | |
 * | saving (split) | frames not written | saving | rest, cut |
 * | saving (seed) | saved; cut | saving | seed |
 * | saving (seed) | granted seed | saving | send seed |
 * | saving (seed) | seed read; seed not read to the last try; no seeds told | done | |
 * | saving (seed) | seed not read | saving | rest, seed |
 * | saving | save deferred; disk full; save failed once | saving | rest, save |
 * | saving | save failed twice; link outdated; no link shown | saving | rest, fetch link |
 * | saving | link shown | saving | save |
 * | saving | file refused; save failed to the last try | failed | |
 */

/** The job's state machine: `(job, event) → job' + request to send`. Pure: the same job, event and context give the same step. */
export function step(job: Job, event: JobEvent, context: JobContext): JobStep {
  const made = redoJudged(stepOf(withoutDeferrals(job, event), event, context), context);
  return withInvocation(withReserve(searchedInDoubt(made, job, context), context), job, context);
}

/** The record of a settled job has the number of the run that settled it. */
function withInvocation(made: JobStep, { record: before }: Job, { invocation }: JobContext): JobStep {
  const { record } = made.job;
  if (record === before || !isSettled(record.status) || record.invocation === invocation) return made;
  return { ...made, job: { ...made.job, record: { ...record, invocation } } };
}

/** A result that advances or ends the job ends its deferrals in a row. */
function withoutDeferrals(job: Job, event: JobEvent): Job {
  switch (event.type) {
    case 'submitted':
      return event.result.ok && event.result.value.kind !== 'queue-full'
        ? clearDeferrals(job, 'submit')
        : job;
    case 'fetched':
    case 'searched':
    case 'seed':
      return event.result.ok ? clearDeferrals(job, 'poll') : job;
    case 'saved':
      return event.result.ok ? clearDeferrals(job, 'download') : job;
    case 'asked':
      return event.result.kind === 'answered' ? clearDeferrals(job, 'text') : job;
    case 'granted':
    case 'elapsed':
    case 'unread':
    case 'unsent':
    case 'masked':
    case 'cut':
      return job;
  }
}

function stepOf(job: Job, event: JobEvent, context: JobContext): JobStep {
  switch (event.type) {
    case 'granted':
      return granted(job, context);
    case 'elapsed':
      if (job.nextRequest.kind !== 'wait')
        throw new Error(
          `Internal error: a timer ended for a job whose next request is ${job.nextRequest.kind}.`,
        );
      return { job: { ...job, nextRequest: job.nextRequest.next } };
    case 'submitted':
      return (isConfirming(job) ? onModalResult : onSubmitResult)(job, event.result, context);
    case 'unread':
      return (isConfirming(job) ? modalUnread : submitUnread)(job, event.error, context);
    case 'unsent':
      return unsent(job, context);
    case 'masked':
      return maskChecked(job, event.error, context);
    case 'fetched':
      return onFetched[event.why](job, ownAnswer(job, event.why, event.result, context), context);
    case 'searched':
      return taskSearched(job, event.result, context);
    case 'seed':
      return seedRead(job, event.result, context);
    case 'saved':
      return fileSaved(job, event.result, context);
    case 'cut':
      return gridCut(job, event.result, context);
    case 'asked':
      return onAskResult(job, event.result, context);
  }
}

const onFetched = {
  parent: parentRead,
  poll: taskSeen,
  link: linkRead,
  modal: modalSeen,
  overdue: (job: Job): JobStep => ({ job }),
} as const;

/** The record has a modal from the moment it opened, so every later submission is a confirm. */
const isConfirming = ({ record }: Job): boolean => record.modal !== undefined;

function unsent(job: Job, context: JobContext): JobStep {
  if (isTextRequest(job.record.request)) return askUnsent(job, context);
  return (isConfirming(job) ? modalUnsent : submitUnsent)(job, context);
}

function granted(job: Job, context: JobContext): JobStep {
  const { nextRequest } = job;
  switch (nextRequest.kind) {
    case 'task-slot':
      // The button of a deferred click was read before; `submitNow` reads it again if it is too old.
      return {
        job:
          job.fresh === undefined
            ? withFirstRequest(job, context)
            : { ...job, nextRequest: { kind: 'submit' } },
      };
    case 'submit':
      return submitNow(job, context);
    case 'modal':
      return modalNow(job, context);
    case 'seed':
      if (!context.tellsSeeds) return withSeed(job, '', context);
      return { job: { ...job, nextRequest: { kind: 'answer' } }, send: nextRequest };
    case 'fetch':
    case 'mask':
    case 'search':
    case 'save':
    case 'cut':
      return { job: { ...job, nextRequest: { kind: 'answer' } }, send: nextRequest };
    case 'ask':
      return askNow(job, context);
    case 'wait':
    case 'answer':
    case 'nothing':
      throw new Error(`Internal error: a job whose next request is ${nextRequest.kind} was granted one.`);
  }
}
