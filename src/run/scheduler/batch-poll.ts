import type { Job, JobContext, JobEvent, PollTarget } from '../machine/job.ts';
import { step } from '../machine/machine.ts';
import { hasNoListing, mostListed, pollResults } from '../machine/search/listing.ts';
import type { RunSettings } from '../ports.ts';
import type { Outbox, RunInput } from './commit.ts';
import type { Dispatch } from './dispatch.ts';
import type { ActiveJobs } from './jobs/active-jobs.ts';
import { shedAsThrottle } from './routes/load-shed.ts';
import { type RouteOutcome, readList } from './routes/outcome.ts';

/** What the scheduler does for looks that go together. */
export interface BatchPollerHost {
  readonly now: () => number;
  readonly context: () => JobContext;
  readonly put: (before: Job, job: Job) => void;
  readonly advance: (job: Job, event: JobEvent) => void;
  readonly noteRouteOutcome: (heard: RouteOutcome) => void;
}

/** Looks at the tasks of several jobs in one request, until the gateway turns out not to offer that (`poll.list`). */
export class BatchPoller {
  readonly #minMs: number;
  readonly #activeJobs: ActiveJobs;
  readonly #dispatch: Dispatch;
  readonly #outbox: Outbox;
  readonly #host: BatchPollerHost;
  #isOn: boolean;

  constructor(
    { minMs, list }: RunSettings['poll'],
    activeJobs: ActiveJobs,
    dispatch: Dispatch,
    outbox: Outbox,
    host: BatchPollerHost,
  ) {
    this.#minMs = minMs;
    this.#activeJobs = activeJobs;
    this.#dispatch = dispatch;
    this.#outbox = outbox;
    this.#host = host;
    this.#isOn = list === true;
  }

  /** False where tasks are looked at one by one. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Looks that go in one request are due at one moment: as often as a task may be looked at. */
  dueInMs(inMs: number): number {
    if (!this.#isOn || this.#minMs < 1) return inMs;
    const now = this.#host.now();
    return Math.ceil((now + inMs) / this.#minMs) * this.#minMs - now;
  }

  /** Looks at the task of a job whose turn has come, and at those of all that wait in line behind it. */
  look(first: Job): void {
    const jobs = [first, ...this.#dispatch.polls(mostListed - 1)];
    if (jobs.length === 1) return this.#host.advance(first, { type: 'granted' });
    const targets = jobs.flatMap((job): PollTarget[] => {
      const { job: next, send } = step(job, { type: 'granted' }, this.#host.context());
      this.#host.put(job, next);
      return send?.kind === 'fetch' ? [{ key: job.record.key, taskId: send.taskId }] : [];
    });
    this.#activeJobs.routes.sent('poll', this.#host.now());
    this.#outbox.send({ job: first, send: { kind: 'list', targets } });
  }

  /** Several tasks were looked at. */
  heard({ targets, answer: said }: Extract<RunInput, { type: 'listed' }>): void {
    const { routes } = this.#activeJobs;
    routes.answered('poll');
    const answer = routes.queues.poll.route.isServing(this.#host.now()) ? shedAsThrottle(said) : said;
    const none = hasNoListing(answer);
    if (none) this.#isOn = false;
    else this.#host.noteRouteOutcome({ route: 'poll', reading: readList(answer), isFirst: false });
    for (const [key, event] of pollResults(targets, answer)) {
      const job = this.#activeJobs.get(key);
      if (job?.record.taskId === undefined) continue;
      // It was not looked at: that is no miss.
      const want = { kind: 'fetch', taskId: job.record.taskId, why: 'poll' } as const;
      if (none) this.#host.put(job, { ...job, want });
      else this.#host.advance(job, event);
    }
    if (none && !answer.ok)
      this.#outbox.emit({ type: 'run:notice', code: answer.error.code, message: noListing });
  }
}

const noListing =
  'This gateway does not tell of several tasks in one request (poll.list): they are looked at one by one.';
