import { formatAddress } from '../../../pipeline/selectors/address.ts';
import type { JobError, JobRecord } from '../../../plan/job.ts';
import type { RunEnd } from '../../events.ts';

/** A click that never worked ends the run when it has failed so often for one reason. */
export const failuresInVain = 20;

/** Branches that are counted; a wildcard's are named by the service, so that there is no end of them. */
const mostBranches = 10_000;

/** How a branch's click fared: it worked once, or how often it failed by reason. */
type Fate = 'worked' | Map<string, number>;

/**
 * Counts, by step and branch, the clicks that fail for what they press: a button that is not there, is there several times, or is refused by the service. One that
 * never works does so in every cell, and each of these pays for a grid first.
 */
export class FailingClicks {
  readonly #fates = new Map<string, Fate>();

  /** A click of this branch has a task: its button works, and what fails beside it is about single cells. */
  worked(record: JobRecord): void {
    if (this.#fates.size < mostBranches) this.#fates.set(nameOf(record), 'worked');
  }

  /** A click failed. @returns why the run must end, where it does so again and again and never worked */
  failed(record: JobRecord): Extract<RunEnd, { kind: 'stopped' }> | undefined {
    const { error } = record;
    const reason = error === undefined ? undefined : reasonOf(record, error);
    if (error === undefined || reason === undefined) return undefined;
    const name = nameOf(record);
    const fate = this.#fates.get(name) ?? new Map<string, number>();
    if (fate === 'worked' || (this.#fates.size >= mostBranches && !this.#fates.has(name))) return undefined;
    this.#fates.set(name, fate);
    const count = (fate.get(reason) ?? 0) + 1;
    if (count > 1 || fate.size < failuresInVain) fate.set(reason, count);
    if (count < failuresInVain) return undefined;
    return {
      kind: 'stopped',
      code: 'click.never-works',
      message: `The click ${name} failed ${failuresInVain} times for the same reason (${error.code}) and never worked, so nothing more is begun and paid for. The last one: ${error.message} Press a button that is offered, offer alternatives (A | B), or make the button optional (A?); then run again: what is done is not repeated.`,
    };
  }
}

/** `grid/U1/Vary (Strong)`: the step, and the selectors that lead to the button, as the file says them. */
const nameOf = ({ origin: { step, branch } }: JobRecord): string => {
  const name = formatAddress({ step, segments: [] });
  return branch === '' ? name : `${name}/${branch}`;
};

/** Numbers and ids in what a service says differ from one request to the next. */
const withoutIds = (words: string): string => words.replaceAll(/[\da-f][\da-f-]{7,}|\d+/gi, '#');

/** Why a click failed before there was a task, as far as its button is to blame; undefined: it is not. */
function reasonOf(
  { request, taskId, pressed }: JobRecord,
  { code, message, httpStatus }: JobError,
): string | undefined {
  if (request.kind !== 'click' || taskId !== undefined) return undefined;
  // The labels that there are differ from task to task.
  if (code.startsWith('button.')) return code;
  const isRefused =
    code === 'submit.refused' || (httpStatus !== undefined && httpStatus >= 400 && httpStatus < 500);
  return pressed !== undefined && isRefused ? `${code} ${withoutIds(message)}` : undefined;
}
