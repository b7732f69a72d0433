import { isSettled, type JobRecord } from '../../src/plan/job.ts';
import type { RunInput } from '../../src/run/scheduler/commit.ts';
import type { SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import type { Invocation, Scenario } from './scenario.ts';
import { BrokenPromise } from './violation.ts';

/** The words of a refusal after which a click reads its button again; undefined: it is none. @param isShown the button was only shown to others */
function refusalOf(result: ServiceResult<SubmitResult>, isShown: boolean): string | undefined {
  if (!result.ok) {
    const { class: kind, status, message } = result.error;
    if (kind !== 'permanent' || status === undefined || status === 413) return undefined;
    return isShown || status === 404 || message.includes('custom_id') ? message : undefined;
  }
  const { value } = result;
  if (value.kind !== 'refused' || value.made || value.code === 24) return undefined;
  return isShown || value.code === 3 || value.code === 4 ? value.message : undefined;
}

/**
 * How often each job may be submitted, and its modal be answered: once, and again each time the service advised it or the
 * user said so. It knows the requests that were sent and the results that the run received, and nothing of the run's
 * decisions.
 */
export class Licences {
  readonly #ambiguous: Scenario['retry']['ambiguous'];
  /** Submissions that each job still may make; a job that is not here may make one. */
  readonly #presses = new Map<string, number>();
  /** The same of answers to modals: one for each click. */
  readonly #modals = new Map<string, number>();
  /** Jobs that were asked to try again what failed, which is one of the two. */
  readonly #either = new Set<string>();
  /** Which of the two was sent last. */
  readonly #asked = new Map<string, Map<string, number>>();
  /** Jobs whose mask was made since the command was started. */
  readonly #masked = new Set<string>();
  /** Clicks that were refused for what they name: with which customId, in which words, and whether it was only shown to others. */
  readonly #refused = new Map<
    string,
    { readonly customId: string; readonly words: string; readonly isShown: boolean }
  >();
  /** The customIds that were read for a click since its last press. */
  readonly #read = new Map<string, ReadonlySet<string>>();
  readonly #pressed = new Map<string, string>();
  /** Jobs that come from what was made again, and were not accepted since: a run may leave them to the next one. */
  readonly #heirs = new Set<string>();
  #inDoubt: Invocation['inDoubt'] | undefined;

  constructor({ retry }: Scenario) {
    this.#ambiguous = retry.ambiguous;
  }

  /** The user's word: what a start of the command allows beyond the service's advice. @param redo keys of what is to be made anew, and is not begun */
  begin({ inDoubt, retryFailed }: Invocation, records: readonly JobRecord[], redo: readonly string[]): void {
    this.#inDoubt = inDoubt;
    this.#masked.clear();
    // What an earlier run has read is only shown to this one.
    this.#read.clear();
    // Its dialog was gone, and the run ended before it pressed the button instead: the next one does.
    for (const { key, status } of records)
      if (status === 'pending' && this.#either.has(key)) this.#presses.set(key, 1);
    this.#either.clear();
    for (const { key, status, modal, error, putBack } of records) {
      const isAnew = isSettled(status) && redo.includes(key);
      const doubtful = status === 'in-doubt' || status === 'submitting';
      const granted = (doubtful && inDoubt === 'retry') || (status === 'failed' && retryFailed) || isAnew;
      // What waits for its modal is asked to answer that, and not to press again.
      const waits = modal !== undefined && !modal.accepted && !isAnew && error?.code !== 'modal.unanswered';
      // The word that an earlier run was given holds for that run.
      if (status === 'done') this.#presses.set(key, Number(this.#heirs.has(key)));
      if (granted && waits) this.#modals.set(key, 1);
      else if (granted) this.#presses.set(key, 1);
      // Nothing was made, and an earlier run put it back, or was to read its button and has ended.
      else if (
        status === 'pending' &&
        (putBack || this.#refused.has(key) || error?.code === 'submit.refused')
      )
        this.#presses.set(key, 1);
      // Where it waits no more, its button may be pressed instead.
      if (granted && waits) this.#either.add(key);
    }
    this.#refused.clear();
  }

  sends({ key, request, pressed }: JobRecord, kind: 'submit' | 'modal'): void {
    const isModal = kind === 'modal';
    if (!isModal && request.kind === 'click' && request.mask !== undefined && !this.#masked.has(key))
      throw new BrokenPromise(`${key} is clicked before its mask is known to fit`);
    const isEither = this.#either.delete(key);
    if (isEither && !isModal) this.#presses.set(key, 1);
    const licences = isModal ? this.#modals : this.#presses;
    const left = licences.get(key) ?? 1;
    if (left < 1)
      throw new BrokenPromise(
        `${key} ${isModal ? 'answers its modal' : 'is submitted'} again without the service's advice or the user's word`,
      );
    licences.set(key, left - 1);
    if (!isModal) this.#modals.set(key, 1);
    if (!isModal) this.#pressed.set(key, pressed?.customId ?? '');
    this.#asked.set(key, licences);
  }

  /** The mask of a click is there, or not. */
  masked({ key, error }: Extract<RunInput, { readonly type: 'masked' }>): void {
    if (error === undefined) this.#masked.add(key);
  }

  /** What the service said to what was sent last. */
  answered(key: string, result: ServiceResult<SubmitResult>): void {
    // No advice to repeat it reaches the answer to a modal that may have arrived.
    const isModal = this.#asked.get(key) === this.#modals;
    const customId = this.#pressed.get(key);
    const isShown = !this.#read.get(key)?.has(customId ?? '');
    this.#read.delete(key);
    const words = refusalOf(result, isShown);
    if (!isModal && customId && words !== undefined) this.#refused.set(key, { customId, words, isShown });
    if (result.ok) {
      const { value } = result;
      if (value.kind === 'queue-full') this.again(key);
      else if (value.kind !== 'refused') this.#heirs.delete(key);
      return;
    }
    const { class: kind, status, code } = result.error;
    const isUnmade = status === 503 || code === 'service.not-ready';
    const advised = kind === 'retry' && (isUnmade || (!isModal && this.#ambiguous === 'retry'));
    const granted = (kind === 'lost' || (kind === 'retry' && isModal)) && this.#inDoubt === 'retry';
    if (kind === 'throttle' || kind === 'unsent' || kind === 'stop' || advised || granted) this.again(key);
  }

  /** A click that was refused may be pressed again where its customId has changed, or where that may pass. */
  reads(key: string, { state, buttons }: Task): void {
    if (state === 'success') this.#read.set(key, new Set(buttons.map(({ customId }) => customId)));
    const refused = this.#refused.get(key);
    if (refused === undefined || state !== 'success') return;
    this.#refused.delete(key);
    const isSame = buttons.some(({ customId }) => customId === refused.customId);
    if (refused.isShown || !isSame || /关联任务不存在或已?失效|关联任务状态错误/.test(refused.words))
      this.fresh(key);
  }

  /** What it came from was made again, and so is it. */
  redone(key: string): void {
    this.#presses.set(key, 1);
    this.#heirs.add(key);
  }

  /** The job may be submitted once more: what was made came to nothing. */
  fresh(key: string): void {
    this.#presses.set(key, (this.#presses.get(key) ?? 0) + 1);
  }

  /** Another of what was sent last may be sent. */
  again(key: string): void {
    const licences = this.#asked.get(key) ?? this.#presses;
    licences.set(key, (licences.get(key) ?? 0) + 1);
  }
}
