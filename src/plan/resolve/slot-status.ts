import { TemplateError } from '../../pipeline/templates/template.ts';
import { isUncut, lacksSeed } from '../graph/frames.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { Button, JobError, JobRecord, JobSpec } from '../job.ts';
import type { SlotStatus } from '../slot.ts';
import { lacksOnlyFiles, standing } from './former.ts';
import { type DependencyState } from './resolved.ts';
import { doneDependency, followError, type Upstream } from './upstream.ts';

/** The operation of one cell after rendering, before anything is known of its dependencies. */
export interface Reading {
  readonly job?: JobSpec;
  readonly prompt?: string;
  /** See `RenderedRequest.suggested`. */
  readonly suggested?: string;
  /** Why it can never have a job. */
  readonly failure?: JobError;
  /** Why its job cannot begin although all it waits for is done: there is nothing to show. */
  readonly shortage?: JobError;
  /** Why it is skipped: its condition does not hold, or its list is empty. */
  readonly off?: JobError;
  /** The state of the steps that its templates read, and of the jobs that it shows or continues. */
  readonly dependency: DependencyState;
}

/** Readings that are kept, and characters of JSON of a request that is: a plan of any size keeps some megabytes. */
const maxReadings = 4096;
const longestKept = 2048;

/**
 * What cells ask for, where that follows from the cell alone: cells that are resolved again, when their records are loaded or a job has
 * settled, render and hash these once, and so does a small plan that is gone through again. Where there are too many, all are dropped, and the next ones kept.
 */
export class KnownReadings {
  readonly #places: number;
  readonly #of = new Map<number, Reading>();

  /** @param places how many a cell has */
  constructor(places: number) {
    this.#places = places;
  }

  get(cell: number, place: number): Reading | undefined {
    return this.#of.get(cell * this.#places + place);
  }

  /** @param length characters of the request's JSON */
  keep(cell: number, place: number, reading: Reading, length: number): void {
    if (length > longestKept) return;
    if (this.#of.size >= maxReadings) this.#of.clear();
    this.#of.set(cell * this.#places + place, reading);
  }
}

/** The state of a slot, derived from everything else. */
export interface SlotVerdict {
  readonly status: SlotStatus;
  readonly error?: JobError;
  readonly ready?: true;
  readonly unsaved?: true;
  readonly uncut?: true;
  readonly unseeded?: true;
  readonly accepted?: true;
  /** What broke the chain that it hangs on. */
  readonly cause?: string;
}

/**
 * The state of a slot; `dependency` is that of the slot that it starts from. The order of the checks keeps settled slots settled:
 * a state above that may still change is decided before a fact below.
 *
 * @param accepted error codes of failures that the pipeline accepts; default: none
 */
export function judge(
  template: SlotTemplate,
  dependency: DependencyState,
  reading: Reading,
  record: JobRecord | undefined,
  accepted?: ReadonlySet<string>,
): SlotVerdict {
  const verdict = verdictOf(template, dependency, reading, record);
  const { status, error } = verdict;
  return status === 'failed' && error !== undefined && accepted?.has(error.code) === true
    ? { ...verdict, accepted: true }
    : verdict;
}

function verdictOf(
  template: SlotTemplate,
  dependency: DependencyState,
  reading: Reading,
  record: JobRecord | undefined,
): SlotVerdict {
  if (dependency.kind === 'skipped') return stopped(dependency);
  const { off } = reading;
  if (off !== undefined && !template.whenWaits && reading.dependency.kind === 'done')
    return { status: 'skipped', error: off };
  // Where no slot above can turn out skipped, an error in a template is reported before money is spent above it.
  if (reading.failure !== undefined && template.sure)
    return reading.dependency.kind === 'skipped'
      ? stopped(reading.dependency)
      : failed(template, reading.failure);
  // What was done or sent stands, also when the job above it is tried again.
  if (record !== undefined && record.status !== 'pending') return fromRecord(template, record);
  if (dependency.kind === 'blocked') return stopped(dependency);
  if (dependency.kind === 'open') return { status: 'pending' };
  if (reading.dependency.kind === 'open') return { status: 'pending' };
  if (reading.dependency.kind !== 'done') return stopped(reading.dependency);
  if (off !== undefined) return { status: 'skipped', error: off };
  const failure = reading.failure ?? reading.shortage;
  if (failure !== undefined) return failed(template, failure);
  return { status: 'pending', ready: true };
}

function fromRecord(template: SlotTemplate, record: JobRecord): SlotVerdict {
  const { status, error } = record;
  // Another slot wanted its files, or an earlier edit did.
  if (!template.keep && lacksOnlyFiles(record)) return { status: 'done' };
  if (status === 'failed' && error !== undefined) return failed(template, error);
  const wantsFile =
    status === 'done' && template.keep && record.artifacts.length === 0 && offersFiles(record);
  if (wantsFile) return { status: 'saving', unsaved: true };
  if (template.split && status === 'done' && isUncut(record)) return { status: 'saving', uncut: true };
  if (template.seed && status === 'done' && lacksSeed(record)) return { status: 'saving', unseeded: true };
  return { status, ...(status === 'in-doubt' && error !== undefined ? { error } : {}) };
}

/** What the service made can be fetched: an image or videos. What is text, the record has. */
const offersFiles = ({ result }: JobRecord): boolean =>
  result?.prompts === undefined && (result?.imageUrl !== undefined || (result?.videoUrls ?? []).length > 0);

/** An optional button that is not there is no failure; the job's record, which other slots share, says only that it is not. */
function failed(template: SlotTemplate, error: JobError): SlotVerdict {
  const isFine = error.code === 'button.missing' && template.selector?.optional === true;
  return { status: isFine ? 'skipped' : 'failed', error };
}

function stopped(dependency: Extract<DependencyState, { cause: string }>): SlotVerdict {
  const { kind, own, cause, accepted } = dependency;
  if (own !== undefined) return { status: kind === 'skipped' ? kind : 'failed', error: own };
  return { status: kind, error: followError(dependency), cause, ...(accepted && { accepted: true }) };
}

/** The buttons of the job that a slot starts from, once they are known. While that job is redone, its former buttons. */
export const buttonsAbove = ({
  above,
  dependency,
}: Pick<Upstream, 'above' | 'dependency'>): readonly Button[] | undefined =>
  above !== undefined && (dependency.kind === 'done' || (dependency.kind === 'open' && above.stands))
    ? ((above.slot.record && standing(above.slot.record).result?.buttons) ?? [])
    : undefined;

/** True where all that a slot waits for is done, and it has something to ask for. */
export const isFree = (start: Upstream, { dependency, failure, shortage, off }: Reading): boolean =>
  start.dependency.kind === 'done' &&
  dependency.kind === 'done' &&
  failure === undefined &&
  shortage === undefined &&
  off === undefined;

/** True while a finished job is redone and may still get a new result in this run, or by the user's decision. */
export const isBeingRedone = (record: JobRecord | undefined): boolean =>
  record?.former !== undefined && record.status !== 'done' && record.status !== 'failed';

/** A template that fails for one cell is a failure of that slot. Any other thrown value is a bug and is thrown on. */
export function readingOf<T>(read: () => T): T | Reading {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { dependency: doneDependency, failure: { code: error.code, message: error.message } };
  }
}
