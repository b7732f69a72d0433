import { isSettled } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import type { Job, JobContext, JobEvent, JobStep } from './job.ts';
import { modalAnswered, modalNow, modalUnread, modalUnsent } from './modal.ts';
import { modalSeen } from './modal-poll.ts';
import { taskSeen } from './poll.ts';
import { redoJudged } from './redo.ts';
import { clearDeferrals } from './retry/deferrals.ts';
import { fileSaved, linkRead } from './save.ts';
import { taskSearched } from './search/search.ts';
import {
  firstWant,
  maskChecked,
  parentRead,
  submitAnswered,
  submitNow,
  submitUnread,
  submitUnsent,
} from './submit.ts';
import { askAnswered, askNow, askUnsent } from './text-call.ts';

/**
 * The job's state machine: `(job, event) → job' + what to send`. Pure: the same job, event and context give the same
 * step.
 */
export function step(job: Job, event: JobEvent, context: JobContext): JobStep {
  return withInvocation(
    redoJudged(stepOf(withoutDeferrals(job, event), event, context), context),
    job,
    context,
  );
}

/** What a job was settled by is part of its record. */
function withInvocation(made: JobStep, { record: before }: Job, { invocation }: JobContext): JobStep {
  const { record } = made.job;
  if (record === before || !isSettled(record.status) || record.invocation === invocation) return made;
  return { ...made, job: { ...made.job, record: { ...record, invocation } } };
}

/** A result that takes the job further, or ends it, ends the deferrals in a row. */
function withoutDeferrals(job: Job, event: JobEvent): Job {
  switch (event.type) {
    case 'submitted':
      return event.answer.ok && event.answer.value.kind !== 'queue-full'
        ? clearDeferrals(job, 'submit')
        : job;
    case 'fetched':
    case 'searched':
      return event.answer.ok ? clearDeferrals(job, 'poll') : job;
    case 'saved':
      return event.answer.ok ? clearDeferrals(job, 'download') : job;
    case 'asked':
      return event.answer.kind === 'answered' ? clearDeferrals(job, 'text') : job;
    case 'granted':
    case 'elapsed':
    case 'unread':
    case 'unsent':
    case 'masked':
      return job;
  }
}

function stepOf(job: Job, event: JobEvent, context: JobContext): JobStep {
  switch (event.type) {
    case 'granted':
      return granted(job, context);
    case 'elapsed':
      if (job.want.kind !== 'wait')
        throw new Error(`Internal error: time came for a job that wants ${job.want.kind}.`);
      return { job: { ...job, want: job.want.next } };
    case 'submitted':
      return (isAnsweringModal(job) ? modalAnswered : submitAnswered)(job, event.answer, context);
    case 'unread':
      return (isAnsweringModal(job) ? modalUnread : submitUnread)(job, event.error, context);
    case 'unsent':
      return unsent(job, context);
    case 'masked':
      return maskChecked(job, event.error, context);
    case 'fetched':
      return onFetched[event.why](job, event.answer, context);
    case 'searched':
      return taskSearched(job, event.answer, context);
    case 'saved':
      return fileSaved(job, event.answer, context);
    case 'asked':
      return askAnswered(job, event.answer, context);
  }
}

const onFetched = { parent: parentRead, poll: taskSeen, link: linkRead, modal: modalSeen } as const;

/** A record has a modal from the moment it opened, so what is submitted after that is the answer to it. */
const isAnsweringModal = ({ record }: Job): boolean => record.modal !== undefined;

function unsent(job: Job, context: JobContext): JobStep {
  if (isTextRequest(job.record.request)) return askUnsent(job, context);
  return (isAnsweringModal(job) ? modalUnsent : submitUnsent)(job, context);
}

function granted(job: Job, context: JobContext): JobStep {
  const { want } = job;
  switch (want.kind) {
    case 'room':
      // Of a click that was put off, the button was read; where that is long ago, its turn to submit says so.
      return { job: { ...job, want: job.fresh === undefined ? firstWant(job) : { kind: 'submit' } } };
    case 'submit':
      return submitNow(job, context);
    case 'modal':
      return modalNow(job, context);
    case 'fetch':
    case 'mask':
    case 'search':
    case 'save':
      return { job: { ...job, want: { kind: 'answer' } }, send: want };
    case 'ask':
      return askNow(job, context);
    case 'wait':
    case 'answer':
    case 'nothing':
      throw new Error(`Internal error: a job that wants ${want.kind} was granted something.`);
  }
}
