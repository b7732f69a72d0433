import { type JobError, type JobRecord, needsOf } from '../plan/job.ts';
import { isTextRequest } from '../plan/job-request.ts';
import { formerOf } from '../plan/resolve/former.ts';
import { isOutdated, lineageNow } from '../plan/resolve/lineage.ts';
import type { StateReader } from '../state/reader.ts';
import { isSameSubmission } from './combine.ts';
import type { MergeSource } from './merge.ts';

/** A run directory whose jobs are taken over into another one. */
export interface ReuseSource extends MergeSource {
  /** Its path relative to that directory, with `/`, as its rows show it. */
  readonly shown: string;
}

/** Error codes of jobs in doubt that another run directory has, or may have, paid. */
export const reuseCodes = {
  /** Its run has not settled the job. */
  open: 'reuse.open',
  /** A file or a reply of the job is missing there, or differs from the state. */
  broken: 'reuse.broken',
} as const;

/** Largest depth of a chain of jobs, and largest number of records that are read for one question: states of others may have any. */
const max = { depth: 1000, records: 100_000, keys: 1024 } as const;

interface Loaded {
  readonly own: JobRecord | undefined;
  /** By source. */
  readonly theirs: readonly (JobRecord | undefined)[];
}

/**
 * The jobs of a state together with those that may be taken over from other run directories: `many` shows the latter as the state would
 * have them afterwards. The first source with a finished job counts.
 *
 * A finished job is only taken over together with the very results that it was made from: a click on another picture of the same prompt
 * has the same key.
 */
export class ReusableJobs {
  readonly #own: Pick<StateReader, 'many'> | undefined;
  readonly #sources: readonly ReuseSource[];
  readonly #from = new WeakMap<JobRecord, ReuseSource>();

  /** @param own undefined: no job is there yet */
  constructor(own: Pick<StateReader, 'many'> | undefined, sources: readonly ReuseSource[]) {
    this.#own = own;
    this.#sources = sources;
  }

  /** Returns the source of a record that `many` has returned; undefined: it is in the state. */
  sourceOf(record: JobRecord | undefined): ReuseSource | undefined {
    return record && this.#from.get(record);
  }

  /** Returns the records of these keys. @throws StateError */
  async many(keys: readonly string[]): Promise<ReadonlyMap<string, JobRecord>> {
    const loaded = await this.#load(keys);
    const held = new Map<string, JobRecord | undefined>();
    const hold = (key: string, depth: number): JobRecord | undefined => {
      if (held.has(key)) return held.get(key);
      const { own, theirs } = loaded.get(key) ?? nothing;
      // A job that is made from itself, which only a damaged state has, is not taken over.
      held.set(key, own);
      if (depth > max.depth || !isReplaceable(own)) return own;
      const lookup = (other: string) => hold(other, depth + 1);
      const found =
        this.#first(theirs, (record, at) =>
          isWhole(record, lookup, (other) => loaded.get(other)?.theirs[at])
            ? doneHere(record, own, lookup)
            : undefined,
        ) ??
        (own === undefined || own.status === 'pending'
          ? this.#first(theirs, (record, _, source) => openHere(record, own, source))
          : undefined);
      if (found !== undefined) held.set(key, found);
      return held.get(key);
    };
    for (const key of keys) hold(key, 0);
    return new Map(
      keys.flatMap((key) => (held.get(key) === undefined ? [] : [[key, held.get(key)]])) as [
        string,
        JobRecord,
      ][],
    );
  }

  /** Returns what is made of the first record that anything is made of. */
  #first(
    theirs: readonly (JobRecord | undefined)[],
    make: (record: JobRecord, at: number, source: ReuseSource) => JobRecord | undefined,
  ): JobRecord | undefined {
    for (const [at, record] of theirs.entries()) {
      const source = this.#sources[at];
      const made = record && source && make(record, at, source);
      if (made === undefined || source === undefined) continue;
      const shown = { ...made, reusedFrom: source.shown };
      this.#from.set(shown, source);
      return shown;
    }
    return undefined;
  }

  /** Reads the records of these keys, and of all that they were made from. */
  async #load(keys: readonly string[]): Promise<ReadonlyMap<string, Loaded>> {
    const loaded = new Map<string, Loaded>();
    for (let wanted = new Set(keys); wanted.size > 0 && loaded.size < max.records; ) {
      const next = new Set<string>();
      for (const group of groupsOf([...wanted])) {
        const own = (await this.#own?.many(group)) ?? new Map<string, JobRecord>();
        const theirs = await Promise.all(this.#sources.map(({ reader }) => reader.many(group)));
        for (const key of group) {
          const found = { own: own.get(key), theirs: theirs.map((records) => records.get(key)) };
          loaded.set(key, found);
          if (!isReplaceable(found.own)) continue;
          for (const record of found.theirs)
            if (record?.status === 'done')
              for (const source of [...needsOf(record), ...Object.keys(record.from ?? {})])
                if (loaded.size + next.size < max.records) next.add(source);
        }
      }
      wanted = new Set([...next].filter((key) => !loaded.has(key)));
    }
    return loaded;
  }
}

const nothing: Loaded = { own: undefined, theirs: [] };

function* groupsOf(keys: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < keys.length; from += max.keys) yield keys.slice(from, from + max.keys);
}

/** Whether nothing is known of a job here that another directory would not know better: no result, no task, no doubt of its own. */
export const isReplaceable = (own: JobRecord | undefined): boolean =>
  own === undefined ||
  (own.former === undefined &&
    own.result === undefined &&
    (own.status === 'failed' || own.status === 'pending' || isReused(own)));

const isReused = ({ status, error }: JobRecord): boolean =>
  status === 'in-doubt' && (error?.code === reuseCodes.open || error?.code === reuseCodes.broken);

type Lookup = (key: string) => JobRecord | undefined;

/** Whether a finished job was made from the results that it would have here. */
const isWhole = (record: JobRecord, here: Lookup, there: Lookup): boolean =>
  record.status === 'done' &&
  !isOutdated(record, there) &&
  needsOf(record).every((key) => {
    const [held, made] = [here(key), there(key)];
    return held?.status === 'done' && made !== undefined && isSameSubmission(held, made);
  });

/** Returns a finished job as it is here: with its result, and what was spent on it here. */
function doneHere(record: JobRecord, own: JobRecord | undefined, here: Lookup): JobRecord {
  const { kept: _kept, from: _from, ...result } = formerOf(record);
  const { frames, redone, parentTaskId, split } = record;
  const { from } = lineageNow(record, parentTaskId, here);
  return {
    ...specOf(record),
    ...result,
    ...spentOn(own),
    status: 'done',
    resubmits: 0,
    artifacts: record.artifacts,
    ...(split && { split }),
    ...(frames && { frames }),
    ...(redone && { redone }),
    ...(from && { from }),
  };
}

/** Returns a job that another run has not settled, in doubt. A text call without an answer is made again wherever it was made. */
function openHere(
  record: JobRecord,
  own: JobRecord | undefined,
  { name }: ReuseSource,
): JobRecord | undefined {
  const { status, taskId = '', request } = record;
  const isOpen = status === 'running' || status === 'modal' || status === 'saving' || status === 'in-doubt';
  const isLeft = isOpen || goesOn(record);
  if (!isLeft && (status !== 'submitting' || isTextRequest(request))) return undefined;
  const task = /^[\w-]{1,64}$/.test(taskId) ? `, task ${taskId}` : '';
  return doubtHere(record, own, {
    code: reuseCodes.open,
    message: `${name} has not settled this job (${status}${task}), and may have paid it. Once it is settled there, --reuse takes it over; --in-doubt retry submits it here.`,
  });
}

/** Whether a failed job has a task that is made, or may still be: the next run there downloads it again, or polls it once more. */
const goesOn = ({ status, taskId, result, error }: JobRecord): boolean =>
  status === 'failed' &&
  taskId !== undefined &&
  (error?.code === 'task.timeout' || (result !== undefined && error?.code !== 'service.task-unknown'));

/** Returns a job in doubt here. @param own with what was spent on it here */
export const doubtHere = (record: JobRecord, own: JobRecord | undefined, error: JobError): JobRecord => ({
  ...specOf(record),
  ...spentOn(own),
  status: 'in-doubt',
  resubmits: 0,
  artifacts: [],
  error,
});

const specOf = ({ key, kind, request, parent, inputs, origin, keep }: JobRecord) => ({
  key,
  kind,
  request,
  origin,
  keep,
  tries: 0,
  ...(parent === undefined ? {} : { parent }),
  ...(inputs === undefined ? {} : { inputs }),
});

const spentOn = (own: JobRecord | undefined): Pick<JobRecord, 'attempts'> & Partial<JobRecord> => {
  const { attempts = 0, cost, usage, doubtful, assumed, partlyPriced } = own ?? {};
  return {
    attempts,
    ...(cost === undefined ? {} : { cost }),
    ...(usage && { usage }),
    ...(doubtful && { doubtful }),
    ...(assumed && { assumed }),
    ...(partlyPriced && { partlyPriced }),
  };
};
