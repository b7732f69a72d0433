import { TemplateError } from '../../pipeline/templates/template.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import { type Button, type JobError, type JobRecord, type JobSpec, lacksOnlyFiles } from '../job.ts';
import type { SlotStatus } from '../slot.ts';
import { standing } from './former.ts';
import { hasOnlyTexts } from './reply.ts';
import { type DependencyState } from './resolved.ts';
import { doneGate, followError, type Upstream } from './upstream.ts';

/** What an operation turns out to be in one cell, before anything is known of what it depends on. */
export interface Reading {
  readonly job?: JobSpec;
  readonly prompt?: string;
  /** See `RenderedRequest.suggested`. */
  readonly suggested?: string;
  /** Why it can never have a job. */
  readonly failure?: JobError;
  /** Why its job cannot begin although all it waits for is done: there is nothing to show. */
  readonly shortage?: JobError;
  /** Its condition does not hold. */
  readonly off?: true;
  /** Of what its templates read, and what it shows and continues. */
  readonly gate: DependencyState;
}

/** A slot's state, as far as it follows from everything else. */
export interface Verdict {
  readonly status: SlotStatus;
  readonly error?: JobError;
  readonly ready?: true;
  readonly unsaved?: true;
  /** What broke the chain that it hangs on. */
  readonly cause?: string;
}

/**
 * The state of a slot; `gate` is that of the slot that it starts from. The order of the questions is what keeps settled slots settled: what may still change above
 * is never overtaken by what is known below.
 */
export function judge(
  place: SlotTemplate,
  gate: DependencyState,
  reading: Reading,
  record: JobRecord | undefined,
): Verdict {
  if (gate.kind === 'skipped') return stopped(gate);
  if (reading.off === true && !place.whenWaits) return off;
  // With nothing above that may turn out skipped, a mistake in a template is told before money is spent above it.
  if (reading.failure !== undefined && place.sure)
    return reading.gate.kind === 'skipped' ? stopped(reading.gate) : failed(place, reading.failure);
  // What was done or sent stands, also when the job above it is tried again.
  if (record !== undefined && record.status !== 'pending') return fromRecord(place, record);
  if (gate.kind === 'blocked') return stopped(gate);
  if (gate.kind === 'open') return { status: 'pending' };
  if (reading.gate.kind === 'open') return { status: 'pending' };
  if (reading.gate.kind !== 'done') return stopped(reading.gate);
  if (reading.off === true) return off;
  const failure = reading.failure ?? reading.shortage;
  if (failure !== undefined) return failed(place, failure);
  return { status: 'pending', ready: true };
}

function fromRecord(place: SlotTemplate, record: JobRecord): Verdict {
  const { status, error } = record;
  // Another slot wanted its files, or an earlier edit did.
  if (!place.keep && lacksOnlyFiles(record)) return { status: 'done' };
  if (status === 'failed' && error !== undefined) return failed(place, error);
  const wantsFile = status === 'done' && place.keep && record.artifacts.length === 0 && offersFiles(record);
  if (wantsFile) return { status: 'saving', unsaved: true };
  return { status, ...(status === 'in-doubt' && error !== undefined ? { error } : {}) };
}

/** What the service made can be kept: an image or videos to fetch, or the prompts of a describe, or an answer's texts, to write. */
function offersFiles({ result, text }: JobRecord): boolean {
  if (hasOnlyTexts(text)) return true;
  return result?.prompts === undefined
    ? result?.imageUrl !== undefined || (result?.videoUrls ?? []).length > 0
    : result.prompts.length > 0;
}

/** An optional button that is not there is no failure; the job's record, which other slots share, says only that it is not. */
function failed(place: SlotTemplate, error: JobError): Verdict {
  const isFine = error.code === 'button.missing' && place.selector?.optional === true;
  return { status: isFine ? 'skipped' : 'failed', error };
}

const stopped = (gate: Extract<DependencyState, { cause: string }>): Verdict => ({
  status: gate.kind,
  error: followError(gate),
  cause: gate.cause,
});

const off: Verdict = {
  status: 'skipped',
  error: { code: 'when.false', message: 'its `when` does not hold' },
};

/** The buttons of what a slot starts from, once they are known; of what is made anew, those that it had. */
export const buttonsOf = ({
  above,
  gate,
}: Pick<Upstream, 'above' | 'gate'>): readonly Button[] | undefined =>
  above !== undefined && (gate.kind === 'done' || (gate.kind === 'open' && above.stands))
    ? ((above.slot.record && standing(above.slot.record).result?.buttons) ?? [])
    : undefined;

/** True where all that a slot waits for is done, and it has something to ask for. */
export const isFree = (start: Upstream, { gate, failure, shortage, off }: Reading): boolean =>
  start.gate.kind === 'done' &&
  gate.kind === 'done' &&
  failure === undefined &&
  shortage === undefined &&
  off === undefined;

/** True while a finished job is made anew and may still come to a new result in this run, or on the user's word. */
export const isBegunAnew = (record: JobRecord | undefined): boolean =>
  record?.former !== undefined && record.status !== 'done' && record.status !== 'failed';

/** A template that fails for one cell is that slot's failure; anything else thrown is a bug and goes on up. */
export function readingOf<T>(read: () => T): T | Reading {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { gate: doneGate, failure: { code: error.code, message: error.message } };
  }
}
