import type { JobRecord } from '../../plan/job.ts';
import type { StateReader, StateStore } from '../../state/store.ts';
import { isInDoubt } from './in-doubt.ts';
import { isObject, jsonFact } from './json.ts';
import { readRunFacts } from './run.ts';

/** The service that runs of a directory have talked to. It is part of every job key: the jobs of one are strangers to another. */
export interface RunService {
  readonly id: string;
  /** Where it was; absent in a rehearsal, whose port changes, and where an earlier release did not note it. */
  readonly origin?: string;
}

/** The jobs whose numbers are above `after`, up to those of the next one, were made for this service. */
interface ServiceSpan extends RunService {
  readonly after: number;
}

/** The work of a directory that belongs to another service. */
export interface OtherService extends RunService {
  readonly jobs: number;
  /** Those jobs that are in doubt: no run against this service settles them. */
  readonly doubts: number;
}

const factName = 'services';

/** Which services a directory's runs have talked to, and which jobs are whose. */
export class StateServices {
  readonly #state: StateReader;
  readonly #spans: readonly ServiceSpan[];

  constructor(state: StateReader) {
    this.#state = state;
    this.#spans = readSpans(state);
  }

  /** The service of the jobs that came last; undefined where there are none, or none was ever tried. */
  get last(): RunService | undefined {
    const { jobs, attempts } = this.#state.totals();
    const isTried =
      attempts > 0 || Object.entries(jobs).some(([status, count]) => status !== 'pending' && count > 0);
    const span = isTried ? this.#made.at(-1) : undefined;
    return span && serviceOf(span);
  }

  /** The service that a job was made for. */
  idOf(key: string): string | undefined {
    const number = this.#state.numberOf(key) ?? 0;
    return this.#spans.findLast(({ after }) => after < number)?.id;
  }

  /** True where all jobs were made for this service. */
  areAllOf(id: string): boolean {
    return this.#made.every((span) => span.id === id);
  }

  /** What belongs to services other than this one, in the order in which they came. */
  others(id: string, running = false): readonly OtherService[] {
    if (this.areAllOf(id)) return [];
    const doubts = new Map<string, number>();
    for (const { key } of this.#doubtful(running)) {
      const owner = this.idOf(key) ?? id;
      doubts.set(owner, (doubts.get(owner) ?? 0) + 1);
    }
    const found = new Map<string, OtherService>();
    for (const [index, span] of this.#spans.entries()) {
      const { after } = span;
      const service = serviceOf(span);
      const upTo = this.#spans[index + 1]?.after ?? this.#state.lastNumber();
      if (service.id === id || upTo === after) continue;
      const jobs = (found.get(service.id)?.jobs ?? 0) + upTo - after;
      found.set(service.id, { ...service, jobs, doubts: doubts.get(service.id) ?? 0 });
    }
    return [...found.values()];
  }

  /** Those that any jobs were made for. */
  get #made(): readonly ServiceSpan[] {
    const last = this.#state.lastNumber();
    return this.#spans.filter(({ after }, index) => (this.#spans[index + 1]?.after ?? last) > after);
  }

  *#doubtful(running: boolean): Generator<JobRecord> {
    yield* this.#state.withStatus('in-doubt');
    if (!running) yield* this.#state.unfinished().filter((job) => isInDoubt(job, running));
  }
}

/** From now on jobs are made for this service. Nothing is written where they were before. */
export function enterService(state: StateStore, service: RunService): void {
  const after = state.lastNumber();
  const spans = readSpans(state);
  const kept = spans.filter((span) => span.after < after);
  const same = kept.at(-1)?.id === service.id ? kept.pop() : undefined;
  const next = JSON.stringify([...kept, { ...service, after: same?.after ?? after }]);
  if (state.fact(factName) !== next) state.setFact(factName, next);
}

/**
 * The state as a run against one service sees it. The active and doubtful jobs of other services are left out: this run
 * would search for their tasks at the wrong service.
 */
export function stateOfService(state: StateStore, id: string): StateStore {
  const services = new StateServices(state);
  if (services.areAllOf(id)) return state;
  const isOwn = ({ key }: JobRecord): boolean => services.idOf(key) === id;
  return {
    ...state,
    unfinished: () => state.unfinished().filter(isOwn),
    *withStatus(status, code) {
      for (const record of state.withStatus(status, code)) if (isOwn(record)) yield record;
    },
  };
}

const serviceOf = ({ id, origin }: ServiceSpan): RunService => ({
  id,
  ...(origin === undefined ? {} : { origin }),
});

const areSpans = (value: unknown): value is readonly ServiceSpan[] =>
  Array.isArray(value) &&
  value.every(
    (span) =>
      isObject(span) &&
      typeof span['id'] === 'string' &&
      typeof span['after'] === 'number' &&
      (span['origin'] === undefined || typeof span['origin'] === 'string'),
  );

function readSpans(state: StateReader): readonly ServiceSpan[] {
  const spans = jsonFact(state, factName, areSpans);
  if (spans !== undefined) return spans;
  // Without such facts, the service of the last run counts as the owner of all jobs.
  const facts = readRunFacts(state);
  if (facts === undefined) return [];
  const { serviceId: id, origin } = facts;
  return [{ id, ...(origin === undefined ? {} : { origin }), after: 0 }];
}

/** The identity of everything that ran in a sandbox: its port changes, its images do not. */
export const sandboxId = 'sandbox';
