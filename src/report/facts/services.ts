import { isObject } from '../../pipeline/values/value.ts';
import type { JobRecord } from '../../plan/job.ts';
import { inGroups } from '../../plan/resolve/load-records.ts';
import { jobsInDoubt } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper, StateStore } from '../../state/store.ts';
import { jsonFact } from './json.ts';

/** The service that runs of a directory have talked to. It is part of every job key: the jobs of one are strangers to another. */
export interface RunService {
  readonly id: string;
  /** Where it was; absent in a rehearsal, whose port changes. */
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

/** Jobs whose owners are asked for together. */
const askedAtOnce = 256;

/** Which services a directory's runs have talked to, and which jobs are whose, as the state has it at one moment. */
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

  /** The service of the jobs that came last; undefined where there are none, or none was ever tried. */
  async last(): Promise<RunService | undefined> {
    const { jobs, attempts } = await this.#state.totals();
    const isTried =
      attempts > 0 || Object.entries(jobs).some(([status, count]) => status !== 'pending' && count > 0);
    const span = isTried ? this.#made.at(-1) : undefined;
    return span && serviceOf(span);
  }

  /** The jobs with the identity of the service that each was made for; undefined: nobody knows. In their order. */
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

  /** True where all jobs were made for this service. */
  areAllOf(id: string): boolean {
    return this.#made.every((span) => span.id === id);
  }

  /** What belongs to services other than this one, in the order in which they came. */
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

  /** Those that any jobs were made for. */
  get #made(): readonly ServiceSpan[] {
    return this.#spans.filter(
      ({ after }, index) => (this.#spans[index + 1]?.after ?? this.#lastNumber) > after,
    );
  }
}

/** From now on jobs are made for this service. Nothing is written where they were before. */
export async function enterService(state: FactKeeper, service: RunService): Promise<void> {
  const after = await state.reader.lastNumber();
  const spans = await readSpans(state.reader);
  const kept = spans.filter((span) => span.after < after);
  const same = kept.at(-1)?.id === service.id ? kept.pop() : undefined;
  const next = JSON.stringify([...kept, { ...service, after: same?.after ?? after }]);
  if (state.fact(factName) !== next) await state.setFact(factName, next);
}

/**
 * The state as a run against one service sees it. The active and doubtful jobs of other services are left out: this run
 * would search for their tasks at the wrong service. It is made before the run begins and is right for this run, because the
 * active jobs of other services do not change during it.
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

const areSpans = (value: unknown): value is readonly ServiceSpan[] =>
  Array.isArray(value) &&
  value.every(
    (span) =>
      isObject(span) &&
      typeof span['id'] === 'string' &&
      typeof span['after'] === 'number' &&
      (span['origin'] === undefined || typeof span['origin'] === 'string'),
  );

const readSpans = async (state: StateReader): Promise<readonly ServiceSpan[]> =>
  (await jsonFact(state, factName, areSpans)) ?? [];

/** The identity of everything that ran in a sandbox: its port changes, its images do not. */
export const sandboxId = 'sandbox';
