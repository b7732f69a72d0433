import { aMapping, aNumber, aText, listOf } from '../../pipeline/values/shape.ts';
import type { JobRecord } from '../../plan/job.ts';
import { inGroups } from '../../plan/resolve/load-records.ts';
import { jobsInDoubt } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper, StateStore } from '../../state/store.ts';
import { jsonFact } from './json.ts';

/** A service that runs of a directory have used. Its id is part of every job key, so services share no jobs. */
export interface RunService {
  readonly id: string;
  /** Origin of its address; absent in a rehearsal, where the port changes. */
  readonly origin?: string;
}

/** A service and its range of job numbers: above `after`, up to the `after` of the next span. */
interface ServiceSpan extends RunService {
  readonly after: number;
}

/** The jobs of a directory that were made for another service. */
export interface OtherService extends RunService {
  readonly jobs: number;
  /** Number of these jobs in doubt. No run against this service settles them. */
  readonly doubts: number;
}

const factName = 'services';

const askedAtOnce = 256;

/** The services that runs of a directory have used, and the jobs of each. It is a snapshot of the state. */
export class StateServices {
  readonly #state: StateReader;
  readonly #spans: readonly ServiceSpan[];
  readonly #lastNumber: number;

  private constructor(state: StateReader, spans: readonly ServiceSpan[], lastNumber: number) {
    this.#state = state;
    this.#spans = spans;
    this.#lastNumber = lastNumber;
  }

  static async of(state: StateReader): Promise<StateServices> {
    return new StateServices(state, await readSpans(state), await state.lastNumber());
  }

  /** Returns the service of the newest jobs; undefined if there are no jobs or none was submitted. */
  async last(): Promise<RunService | undefined> {
    const { jobs, attempts } = await this.#state.totals();
    const isTried =
      attempts > 0 || Object.entries(jobs).some(([status, count]) => status !== 'pending' && count > 0);
    const span = isTried ? this.#made.at(-1) : undefined;
    return span && serviceOf(span);
  }

  /** Yields the jobs in their order, each with the id of the service that it was made for; undefined if unknown. */
  async *withOwners<Job extends Pick<JobRecord, 'key'>>(
    jobs: Iterable<Job> | AsyncIterable<Job>,
  ): AsyncGenerator<{ readonly job: Job; readonly owner: string | undefined }> {
    for await (const group of inGroups(jobs, askedAtOnce)) {
      const numbers = await this.#state.numbersOf(group.map(({ key }) => key));
      for (const job of group) {
        const number = numbers.get(job.key) ?? 0;
        yield { job, owner: this.#spans.findLast(({ after }) => after < number)?.id };
      }
    }
  }

  areAllOf(id: string): boolean {
    return this.#made.every((span) => span.id === id);
  }

  /** Returns the other services with jobs in this directory, oldest first. */
  async others(id: string, running = false): Promise<readonly OtherService[]> {
    if (this.areAllOf(id)) return [];
    const doubts = new Map<string, number>();
    for await (const { owner = id } of this.withOwners(jobsInDoubt(this.#state, running)))
      doubts.set(owner, (doubts.get(owner) ?? 0) + 1);
    const found = new Map<string, OtherService>();
    for (const [index, span] of this.#spans.entries()) {
      const { after } = span;
      const service = serviceOf(span);
      const upTo = this.#spans[index + 1]?.after ?? this.#lastNumber;
      if (service.id === id || upTo === after) continue;
      const jobs = (found.get(service.id)?.jobs ?? 0) + upTo - after;
      found.set(service.id, { ...service, jobs, doubts: doubts.get(service.id) ?? 0 });
    }
    return [...found.values()];
  }

  get #made(): readonly ServiceSpan[] {
    return this.#spans.filter(
      ({ after }, index) => (this.#spans[index + 1]?.after ?? this.#lastNumber) > after,
    );
  }
}

/** Records that new jobs are made for this service. Writes nothing if the service has not changed. */
export async function enterService(state: FactKeeper, service: RunService): Promise<void> {
  const after = await state.reader.lastNumber();
  const spans = await readSpans(state.reader);
  const kept = spans.filter((span) => span.after < after);
  const same = kept.at(-1)?.id === service.id ? kept.pop() : undefined;
  const next = JSON.stringify([...kept, { ...service, after: same?.after ?? after }]);
  if (state.fact(factName) !== next) await state.setFact(factName, next);
}

/**
 * Returns a view of the state without the active and doubtful jobs of other services, whose tasks a run would look for at the wrong
 * service. It is made before the run and stays right, because a run does not change jobs of other services.
 */
export async function stateOfService(state: StateStore, id: string): Promise<StateStore> {
  const services = await StateServices.of(state.reader);
  if (services.areAllOf(id)) return state;
  const foreign = new Set<string>();
  for await (const { job, owner } of services.withOwners(state.unfinished()))
    if (owner !== id) foreign.add(job.key);
  const own = async function* (jobs: AsyncIterable<JobRecord>): AsyncGenerator<JobRecord> {
    for await (const { job, owner } of services.withOwners(jobs)) if (owner === id) yield job;
  };
  return {
    ...state,
    unfinished: () => state.unfinished().filter(({ key }) => !foreign.has(key)),
    reader: {
      ...state.reader,
      unfinished: () => own(state.reader.unfinished()),
      withStatus: (status, code) => own(state.reader.withStatus(status, code)),
    },
  };
}

const serviceOf = ({ id, origin }: ServiceSpan): RunService => ({
  id,
  ...(origin === undefined ? {} : { origin }),
});

const areSpans = listOf(aMapping({ id: aText, after: aNumber }, { origin: aText })) as (
  value: unknown,
) => value is readonly ServiceSpan[];

const readSpans = async (state: StateReader): Promise<readonly ServiceSpan[]> =>
  (await jsonFact(state, factName, areSpans)) ?? [];

/** Id of the sandbox as a service. It is constant, although its port changes. */
export const sandboxId = 'sandbox';
