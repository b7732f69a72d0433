import pLimit from 'p-limit';
import { isArtifactName } from '../artifacts/store/names.ts';
import type { ArtifactStore } from '../artifacts/store/store.ts';
import { KeySet } from '../manifest/key-set.ts';
import type { Selection } from '../plan/cell.ts';
import { chosenSteps } from '../plan/graph/step-selection.ts';
import { artifactsOf, type JobOrigin, type JobRecord, type JobSpec, needsOf } from '../plan/job.ts';
import type { Plan } from '../plan/plan.ts';
import { cellsAtOnce, inGroups, withRecords } from '../plan/resolve/load-records.ts';
import { originOf } from '../plan/resolve/upstream.ts';
import type { Slot } from '../plan/slot.ts';
import type { StateReader } from '../state/reader.ts';
import type { StateStore, Turn } from '../state/store.ts';
import { ReplyLines } from './check-replies.ts';
import { copyAsStated } from './copy.ts';
import { MergeError, replied } from './merge.ts';
import { doubtHere, ReusableJobs, type ReuseSource, reuseCodes } from './reusable-jobs.ts';

/** The state that jobs are taken over into. */
export interface ReuseTarget {
  readonly plan: Plan;
  readonly state: Pick<StateStore, 'keepReply'> & {
    readonly reader: Pick<StateReader, 'many'>;
    commit(turn: Turn): unknown;
  };
}

/** The jobs that were taken over. */
export interface Reused {
  jobs: number;
  files: number;
  bytes: number;
  /** Number of jobs that are in doubt here because another directory has not settled them. */
  open: number;
  /** Number of jobs in doubt whose files or replies are not as the other directory's state says, and some of their messages. */
  broken: number;
  readonly examples: string[];
}

/** Number of jobs that are copied at the same time and committed together. */
const atOnce = 8;
const maxExamples = 3;

/**
 * Takes over the jobs of the chosen part of a plan, cell by cell. A job is in the state once its files are in the store, whole and checked;
 * so an interrupted call is continued by the same one. Memory does not grow with the jobs.
 *
 * @throws StateError, SaveError; the signal's reason
 */
export async function takeOver(
  { plan, state }: ReuseTarget,
  selection: Selection,
  sources: readonly ReuseSource[],
  artifacts: Pick<ArtifactStore, 'open' | 'put'>,
  signal: AbortSignal,
): Promise<Reused> {
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw new Error(`Internal error: the selection was not checked: ${steps.error.message}`);
  const reused: Reused = { jobs: 0, files: 0, bytes: 0, open: 0, broken: 0, examples: [] };
  const jobs = new ReusableJobs(state.reader, sources);
  const lines = new Map(sources.map((source) => [source, new ReplyLines(source.directory, source.reader)]));
  // Only one reply is read at a time: the lines of a source share a file.
  const reading = pLimit({ concurrency: 1, rejectOnClear: true });
  const take = async (wanted: Wanted): Promise<JobRecord> => {
    const { record, source } = wanted;
    const held = { ...record, ...wishOf(wanted) };
    if (record.status !== 'done') {
      reused.open += 1;
      return held;
    }
    try {
      for (const artifact of artifactsOf(record)) {
        const { file, bytes } = artifact;
        if ((await copyAsStated(record.key, artifact, source.artifacts, artifacts, signal)) === 'fault')
          throw new MergeError(
            source,
            `its file ${isArtifactName(file) ? file : `of output ${artifact.output}`}`,
            true,
          );
        reused.files += 1;
        reused.bytes += bytes;
      }
      const whole = await reading(() => replied(held, state, source, lines.get(source) as ReplyLines));
      reused.jobs += 1;
      return whole;
    } catch (error) {
      if (!(error instanceof MergeError)) throw error;
      const what = error.mayRepair ? error.message : 'its reply';
      const message = `${source.name} has this job, but ${what} is missing there or not as its state says. --in-doubt retry submits the job here.`;
      reused.broken += 1;
      if (reused.examples.length < maxExamples) reused.examples.push(`${record.key}: ${what}`);
      // `held` has the spending of this run directory alone.
      return { ...doubtHere(held, held, { code: reuseCodes.broken, message }), reusedFrom: source.shown };
    }
  };
  /** Jobs that are not as `many` has shown them: they are not tried again for other cells. */
  const broken = new KeySet();
  try {
    for await (const cells of inGroups(plan.matrix.cells(selection), cellsAtOnce(plan))) {
      signal.throwIfAborted();
      const found = await withRecords(
        cells,
        (cell, lookup) => plan.resolve(cell, lookup).filter((slot) => steps.value.includes(slot)),
        (keys) => jobs.many(keys),
        plan.images,
        signal,
      );
      for (const level of levelsOf(found.flat(), jobs))
        for (let from = 0; from < level.length; from += atOnce) {
          const group = level.slice(from, from + atOnce).filter(({ job }) => !broken.has(job.key));
          // A step that gathers over axes was made from jobs of other cells, which may be broken or not chosen.
          const made = await madeOf(state.reader, group);
          const records = await Promise.all(
            group.map(async (wanted) => {
              const isBelow =
                wanted.record.status === 'done' && !needsOf(wanted.job).every((key) => made.has(key));
              const taken = isBelow ? undefined : await take(wanted);
              if (taken?.status !== wanted.record.status) broken.add(wanted.job.key);
              return taken === undefined ? [] : [taken];
            }),
          );
          signal.throwIfAborted();
          await state.commit({ records: records.flat(), attempts: [] });
        }
    }
  } finally {
    for (const open of lines.values()) await open.close();
  }
  return reused;
}

const keysAtOnce = 1024;

/** Returns the jobs that are done here of those that these were made from. */
async function madeOf(
  reader: Pick<StateReader, 'many'>,
  group: readonly Wanted[],
): Promise<ReadonlySet<string>> {
  const keys = [...new Set(group.flatMap(({ job }) => needsOf(job)))];
  const made = new Set<string>();
  for (let from = 0; from < keys.length; from += keysAtOnce)
    for (const [key, { status }] of await reader.many(keys.slice(from, from + keysAtOnce)))
      if (status === 'done') made.add(key);
  return made;
}

/** A job that is taken over, with all that the slots of a few cells want of it. */
interface Wanted extends Pick<Slot, 'keep' | 'split' | 'depth'> {
  readonly job: JobSpec;
  readonly record: JobRecord;
  readonly source: ReuseSource;
  readonly origin: JobOrigin;
}

/** Returns the jobs of these slots that are taken over, each once, by depth: a job comes after those that it was made from. */
function levelsOf(slots: readonly Slot[], jobs: ReusableJobs): readonly (readonly Wanted[])[] {
  const byKey = new Map<string, Wanted>();
  for (const slot of slots) {
    const { job, record, keep, depth, split } = slot;
    const source = jobs.sourceOf(record);
    if (job === undefined || record === undefined || source === undefined) continue;
    const before = byKey.get(job.key);
    byKey.set(job.key, {
      job,
      record,
      source,
      origin: before?.origin ?? originOf(slot),
      keep: keep || before?.keep === true,
      depth: Math.min(depth, before?.depth ?? depth),
      ...((split ?? before?.split) && { split: true }),
    });
  }
  const levels = new Map<number, Wanted[]>();
  for (const wanted of byKey.values()) {
    const level = levels.get(wanted.depth);
    if (level === undefined) levels.set(wanted.depth, [wanted]);
    else level.push(wanted);
  }
  return [...levels].sort(([one], [other]) => one - other).map(([, level]) => level);
}

/** Returns what this plan says of a job; nothing that another directory says of it decides what is sent here. */
const wishOf = ({ job, origin, keep, split }: Wanted): Partial<JobRecord> => {
  const { kind, request, parent, inputs, files, call } = job;
  return {
    kind,
    request,
    ...(parent === undefined ? {} : { parent }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(files === undefined ? {} : { files }),
    ...(call === undefined ? {} : { call }),
    origin,
    keep,
    ...(split && { split }),
  };
};
