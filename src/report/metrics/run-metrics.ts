import { tokenParts } from '../../plan/usage.ts';
import {
  countedStatuses,
  inFlight,
  type RunBefore,
  RunLedger,
  type StepNow,
} from '../../results/run-ledger.ts';
import type { DirectorySums } from '../../results/sums.ts';
import type { Route, RunEnd, RunEvent } from '../../run/events.ts';
import type { WorkersStatus } from '../facts/json-outputs.generated.ts';
import { counter, exposition, gauge, type Metric, type Sample } from './exposition.ts';

/** Facts about a run before its first event. Times are Unix ms. */
export interface MetricsStart {
  readonly pipeline: string;
  readonly version: string;
  readonly startedAt: number;
}

/** Facts about the end of a run. */
export interface MetricsEnd {
  readonly at: number;
  readonly exitCode: number;
  /** How the work ended; absent if an error before or after the work ended the run. */
  readonly kind?: RunEnd['kind'];
}

/** Sums over all jobs of a run directory. */
export type DirectoryTotals = Pick<DirectorySums, 'doubts' | 'attempts' | 'cost' | 'possibleCost'>;

type RequestEnd = Extract<RunEvent, { type: 'request:end' }>;

/** Collects metrics of a run from its events. It uses no clock and no files. */
export class RunMetrics {
  readonly #start: MetricsStart;
  #ledger = new RunLedger({ steps: [] });
  readonly #requests = new Map<string, { readonly route: Route; readonly class: string; count: number }>();
  readonly #durations = new Map<Route, { count: number; seconds: number }>();
  #retries = 0;
  #progressAt: number | undefined;
  #memory: number | undefined;
  #end: MetricsEnd | undefined;

  constructor(start: MetricsStart) {
    this.#start = start;
  }

  begin(before: RunBefore): void {
    this.#ledger = new RunLedger(before);
  }

  /** Records an event. @param now Unix ms */
  take(event: RunEvent, now: number): void {
    switch (event.type) {
      case 'job:status':
        this.#ledger.move(event);
        this.#progressAt = now;
        return;
      case 'slot:status':
        return this.#ledger.ruleOut(event);
      case 'request:end':
        return this.#request(event);
      case 'job:retry':
        this.#retries += 1;
        return;
      case 'run:memory':
        this.#memory = event.rssBytes;
        return;
      default:
        return;
    }
  }

  end(end: MetricsEnd): void {
    this.#end = end;
  }

  /** Records that jobs changed without an event. @param now Unix ms */
  progress(now: number): void {
    this.#progressAt = now;
  }

  /**
   * Returns all metrics in Prometheus' text format.
   *
   * @param totals of the run directory, if known
   * @param workersStatus of a run on an engine
   */
  text(totals: DirectoryTotals | undefined, workersStatus?: WorkersStatus): string {
    const { pipeline } = this.#start;
    return exposition([...this.#metrics(totals), ...workerMetrics(workersStatus)], { pipeline });
  }

  #metrics(totals: DirectoryTotals | undefined): readonly Metric[] {
    const { version, startedAt } = this.#start;
    const end = this.#end;
    const { tokens = {}, steps } = this.#ledger;
    return [
      gauge('build_info', 'Version of promptpress; always 1.', [{ labels: { version }, value: 1 }]),
      gauge('start_time_seconds', 'When the run began, Unix time.', startedAt / 1000),
      gauge(
        'last_progress_timestamp_seconds',
        'When a job last changed its status in this run, Unix time; absent before the first change.',
        inSeconds(this.#progressAt),
      ),
      gauge('end_time_seconds', 'When the run ended, Unix time; absent during the run.', inSeconds(end?.at)),
      gauge('exit_code', 'Exit code of the run; absent during the run.', end?.exitCode),
      gauge(
        'end_info',
        'How the run ended; always 1.',
        end?.kind === undefined ? [] : [{ labels: { end: end.kind }, value: 1 }],
      ),
      gauge(
        'jobs',
        'Jobs by step and status; skipped and blocked count slots. Pending is absent until the number of jobs is known.',
        steps.flatMap(samplesOf),
      ),
      gauge('jobs_in_doubt', 'Jobs in doubt in the run directory.', totals?.doubts),
      gauge(
        'tasks_in_flight',
        'Image tasks that are submitted and not settled.',
        end === undefined ? inFlight(steps, false) : 0,
      ),
      gauge('text_calls_in_flight', 'Text calls under way.', end === undefined ? inFlight(steps, true) : 0),
      counter(
        'requests_total',
        'Finished requests of this run, by route and class of the response; connection: no status was received; none: nothing was sent, or a good response could not be used on this machine.',
        [...this.#requests.values()].map(({ route, class: answer, count }) => ({
          labels: { route, class: answer },
          value: count,
        })),
      ),
      {
        name: 'promptpress_request_duration_seconds',
        help: 'How long requests of this run took, by route.',
        type: 'summary',
        samples: [...this.#durations].flatMap(([route, { seconds, count }]): readonly Sample[] => [
          { labels: { route }, suffix: '_sum', value: seconds },
          { labels: { route }, suffix: '_count', value: count },
        ]),
      },
      counter('retries_total', 'Requests of this run that are tried again after a failure.', this.#retries),
      counter(
        'tokens_total',
        'Tokens of the text calls of this run, as the service counted them, by kind.',
        tokenParts.map((kind) => ({ labels: { kind }, value: tokens[kind] ?? 0 })),
      ),
      counter(
        'cached_tokens_total',
        'Prompt tokens of this run that the service had in its cache; they are among those of the kind prompt.',
        tokens.cached ?? 0,
      ),
      gauge(
        'submissions',
        'Submissions and text calls over the life of the run directory, as budget.submits counts them.',
        totals?.attempts,
      ),
      gauge(
        'cost',
        'Known cost over the life of the run directory, in the unit of the prices of the pipeline.',
        totals?.cost,
      ),
      gauge(
        'possible_cost',
        'What submissions without an answer, and replies without a token count, may have cost in addition.',
        totals?.possibleCost,
      ),
      gauge('resident_memory_bytes', 'Memory of the process, measured once a minute.', this.#memory),
    ];
  }

  #request(event: RequestEnd): void {
    const { route, ms } = event;
    const answer = classOf(event);
    const key = `${route} ${answer}`;
    const known = this.#requests.get(key);
    if (known === undefined) this.#requests.set(key, { route, class: answer, count: 1 });
    else known.count += 1;
    const duration = this.#durations.get(route) ?? { count: 0, seconds: 0 };
    duration.count += 1;
    duration.seconds += ms / 1000;
    this.#durations.set(route, duration);
  }
}

/** Returns a sample for each status; `pending` only if the number of jobs is known. */
function samplesOf({ name: step, counts, total }: StepNow): readonly Sample[] {
  const sum = countedStatuses.reduce((all, status) => all + counts[status], 0);
  const pending = total === undefined ? [] : [['pending', Math.max(0, total - sum)] as const];
  return [...pending, ...countedStatuses.map((status) => [status, counts[status]] as const)].map(
    ([status, value]) => ({ labels: { step, status }, value }),
  );
}

/** Returns the class of a response's status (`5xx`); 429 is a class of its own. */
function classOf({ outcome, status, message }: RequestEnd): string {
  if (status === 429) return '429';
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  if (message === undefined) return '2xx';
  return /^(?:connection\.|download\.(?:connection|truncated))/.test(outcome) ? 'connection' : 'none';
}

const inSeconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

/** Returns metrics about the workers of a run on an engine; none for a run on one machine. */
export function workerMetrics(workersStatus: WorkersStatus | undefined): readonly Metric[] {
  if (workersStatus === undefined) return [];
  const { workers, slices, takeovers, tasks, rates, spending } = workersStatus;
  return [
    gauge('workers', 'Workers that are alive.', workers.filter(({ alive }) => alive).length),
    gauge('slices', 'Slices of the run by state. More may come while its cells are being fed.', [
      { labels: { state: 'waiting' }, value: slices.waiting },
      { labels: { state: 'held' }, value: slices.held },
      { labels: { state: 'done' }, value: slices.done },
    ]),
    gauge(
      'slices_waiting',
      'Slices without a worker; a measure for starting workers.',
      workersStatus.state === 'open' ? slices.waiting : 0,
    ),
    counter('takeovers_total', 'Slices taken over from workers that had not released them.', takeovers),
    gauge(
      'service_tasks_granted',
      'Image tasks that all workers of all runs of the service may have in flight.',
      tasks.granted,
    ),
    gauge('service_tasks_used', 'Image tasks that they have in flight.', tasks.used),
    gauge(
      'service_requests_per_second',
      'Requests that all workers of all runs send to the service, by route, over the last seconds.',
      rates.map(({ route, perMinute }) => ({ labels: { route }, value: perMinute / 60 })),
    ),
    gauge(
      'budget_limit',
      'Budgets of all workers of the run: cost, tokens and submits over its life; invocation: submissions of this invocation.',
      spending.map(({ kind, most }) => ({ labels: { kind }, value: most })),
    ),
    gauge(
      'budget_used',
      'Spent part of these budgets, including work in flight.',
      spending.map(({ kind, used }) => ({ labels: { kind }, value: used })),
    ),
  ];
}
