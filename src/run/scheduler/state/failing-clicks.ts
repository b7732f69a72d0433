import { formatAddress } from '../../../pipeline/selectors/address.ts';
import type { JobError, JobRecord } from '../../../plan/job.ts';
import type { RunEnd } from '../../events.ts';

/** Number of failures for one reason after which a click that never worked ends the run. */
export const failuresInVain = 20;

/** Largest number of counted branches; the service names those of a wildcard, so they are unlimited. */
const maxBranches = 10_000;

/** The record of a branch's click: it worked once, or its failures by reason. */
type Fate = 'worked' | Map<string, number>;

/**
 * Counts, by step and branch, the clicks that fail because of their button: it is missing, ambiguous, or refused by the service. A click
 * that never works fails in every cell, and each cell pays for a grid first.
 */
export class FailingClicks {
  readonly #fates = new Map<string, Fate>();

  /** Notes a click that has a task: the branch's button works, and other failures concern single cells. */
  worked(record: JobRecord): void {
    if (this.#fates.size < maxBranches) this.#fates.set(nameOf(record), 'worked');
  }

  /**
   * Notes a failed click. @returns the end of the run, where the click fails repeatedly and never worked
   *
   * @param most largest number of failures for one reason; 1 where every cell is known to fail
   */
  failed(record: JobRecord, most = failuresInVain): Extract<RunEnd, { kind: 'stopped' }> | undefined {
    const { error } = record;
    const reason = error === undefined ? undefined : reasonOf(record, error);
    if (error === undefined || reason === undefined) return undefined;
    const name = nameOf(record);
    const fate = this.#fates.get(name) ?? new Map<string, number>();
    if (fate === 'worked' || (this.#fates.size >= maxBranches && !this.#fates.has(name))) return undefined;
    this.#fates.set(name, fate);
    const count = (fate.get(reason) ?? 0) + 1;
    if (count > 1 || fate.size < failuresInVain) fate.set(reason, count);
    if (count < most) return undefined;
    return {
      kind: 'stopped',
      code: 'click.never-works',
      message: `The click ${name} failed ${most === 1 ? 'once' : `${most} times for the same reason`} (${error.code}) and never worked, so nothing more is begun and paid for. The last one: ${error.message} Press a button that is offered, offer alternatives (A | B), or make the button optional (A?); then run again: what is done is not repeated.`,
    };
  }
}

/** `grid/U1/Vary (Strong)`: the step, and the selectors that lead to the button, as written in the file. */
const nameOf = ({ origin: { step, branch } }: JobRecord): string => {
  const name = formatAddress({ step, segments: [] });
  return branch === '' ? name : `${name}/${branch}`;
};

/** Masks numbers and ids, which differ from one request to the next. */
const withoutIds = (words: string): string => words.replaceAll(/[\da-f][\da-f-]{7,}|\d+/gi, '#');

/** Returns why a click failed before it had a task, if its button is the cause; undefined for other causes. */
function reasonOf(
  { request, taskId, pressed }: JobRecord,
  { code, message, httpStatus }: JobError,
): string | undefined {
  if (request.press === undefined || taskId !== undefined) return undefined;
  // The offered labels differ from task to task.
  if (code.startsWith('button.')) return code;
  const isRefused =
    code === 'submit.refused' || (httpStatus !== undefined && httpStatus >= 400 && httpStatus < 500);
  return pressed !== undefined && isRefused ? `${code} ${withoutIds(message)}` : undefined;
}
