import { isSettled } from '../../../src/plan/job.ts';
import type { Job, JobContext, JobEvent, JobStep, Send } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { Reply } from '../../../src/service/http/reply.ts';
import { readTask } from '../../../src/service/image/task.ts';
import type { SubmitResult } from '../../../src/service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../../src/service/result.ts';
import { clickRecord, context, epoch, job } from '../../rig/jobs.ts';
import { type Input, textOf } from '../input.ts';
import { facts, lawfulFailure, longestMessage, longestTask, repeatedKey, replyOf } from './answered.ts';
import { Broken, lawfulText, type Run } from './law.ts';
import { lawfulSubmit } from './tasks.ts';

/**
 * The check of a whole click: hostile answers carried on through the job's state machine, from the poll of its parent to the
 * poll after its modal. What may have been paid is never sent again without the user's word.
 */

/** Steps in a row after which a job asks for nothing: it goes round. */
const maxIdle = 100;
const maxSaves = 1000;

const button = { customId: 'IMG::JOB::high_variation::1::x', label: 'Vary (Strong)' };
const parent = `200 ${JSON.stringify({ id: 'T1', status: 'SUCCESS', buttons: [button] })}`;

const click = (): Job =>
  job(
    clickRecord({
      request: {
        kind: 'click',
        press: [{ kind: 'text', text: button.label }],
        fields: { prompt: 'a hat', remix: true },
      },
    }),
  );

/** Lines `ROUTE STATUS BODY`, by route; of a `lost` one nothing came back. */
function readerOf(text: string): (route: string) => string | undefined {
  const left = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, route = '', said = ''] = /^(parent|submit|modal|task) (.*)$/s.exec(line) ?? [];
    const before = left.get(route);
    if (before === undefined) left.set(route, [said]);
    else before.push(said);
  }
  return (route) => left.get(route)?.shift() ?? (route === 'parent' ? parent : undefined);
}

function readWith<T>(
  said: string,
  read: (reply: Reply) => ServiceResult<T>,
  isSafe: boolean,
): ServiceResult<T> {
  const [, status, body = ''] = /^(\d{3}) ?(.*)$/s.exec(said) ?? [];
  if (status !== undefined) return read(replyOf(Number(status), Buffer.from(body, 'utf8')));
  const error: ServiceFailure = {
    code: 'connection.lost',
    class: isSafe ? 'retry' : 'lost',
    message: 'No answer came.',
  };
  return { ok: false, error };
}

/** True unless the answer says that nothing came of what was sent: by its class, or by words that are known to say so. */
function mayHaveArrived(result: ServiceResult<SubmitResult>): boolean {
  if (result.ok) {
    const { value } = result;
    return (
      value.kind === 'accepted' || value.kind === 'modal' || (value.kind === 'refused' && value.made === true)
    );
  }
  const { class: kind, unmade } = result.error;
  return kind === 'lost' || (kind === 'retry' && unmade !== true);
}

/** Follows what was sent, and by what right. */
class Ledger {
  #click = false;
  #modal = false;
  #sent: 'submit' | 'modal' = 'submit';
  readonly #form: string;
  modals = 0;

  constructor(form: string) {
    this.#form = form;
  }

  /** @throws Broken where what may have been paid is sent again, and nobody said so */
  send(kind: 'submit' | 'modal'): void {
    // `retry.ambiguous: retry` is the user's word for a click, `--in-doubt retry` for both.
    if (kind === 'submit' && this.#click && this.#form === 'hold')
      throw new Broken('A click that may have been paid is sent again.');
    if (kind === 'modal' && this.#modal && this.#form !== 'retry-all')
      throw new Broken('A modal that may have been answered is answered again.');
    if (kind === 'submit') this.#modal = false;
    if (kind === 'modal') this.modals += 1;
    this.#sent = kind;
  }

  answered(result: ServiceResult<SubmitResult>): void {
    const may = mayHaveArrived(result);
    if (this.#sent === 'submit') this.#click ||= may;
    else this.#modal ||= may;
  }

  /** A task that failed is made again, as often as the settings say. */
  failed(): void {
    this.#click = false;
    this.#modal = false;
  }
}

type Say = (route: string) => string | undefined;

/** What came of what the job sent; undefined: the input says no more. */
function eventOf(send: Send, say: Say, ledger: Ledger): JobEvent | undefined {
  switch (send.kind) {
    case 'submit':
    case 'modal': {
      ledger.send(send.kind);
      const said = say(send.kind);
      if (said === undefined) return undefined;
      const result = readWith(said, lawfulSubmit, false);
      ledger.answered(result);
      return { type: 'submitted', result };
    }
    case 'fetch': {
      const said = say(send.why === 'parent' ? 'parent' : 'task');
      if (said === undefined) return undefined;
      const result = readWith(said, (reply) => readTask(send.taskId, reply, facts), true);
      if (!result.ok) lawfulFailure(result.error);
      return { type: 'fetched', why: send.why, result };
    }
    case 'save': {
      const { output } = send;
      const value = { output, file: `${output}.png`, bytes: 1, sha256: 'x', mime: 'image/png' };
      return { type: 'saved', result: { ok: true, value } };
    }
    case 'mask':
    case 'seed':
    case 'search':
    case 'list':
    case 'cut':
    case 'ask':
      throw new Broken(`A click without a mask sends ${send.kind}.`);
  }
}

/** @throws Broken where what becomes durable could not be kept, or shown */
function lawfulStep({ job: { record, nextRequest }, attempt }: JobStep, now: number): void {
  const kept = JSON.stringify([record, attempt]);
  if (kept.length > longestTask) throw new Broken(`${kept.length} characters are kept of a job.`);
  if (kept.includes(repeatedKey)) throw new Broken('A secret is kept.');
  const { code = '', message = '' } = record.error ?? {};
  if (message.length > longestMessage) throw new Broken(`${code} is said in ${message.length} characters.`);
  lawfulText(message, code);
  if (nextRequest.kind === 'wait' && !(nextRequest.until >= now && Number.isFinite(nextRequest.until)))
    throw new Broken(`It waits until ${nextRequest.until}.`);
  if ((nextRequest.kind === 'nothing') !== isSettled(record.status))
    throw new Broken(`It wants ${nextRequest.kind}, and is ${record.status}.`);
  if (isSettled(record.status) && record.status !== 'done' && code === '')
    throw new Broken(`It is ${record.status}, and does not say why.`);
}

/** Answers to one click; the form is the user's word about what is in doubt: `hold`, `retry` (of clicks), `retry-all` (of all). */
export function clickRun(input: Input): Run {
  const { form } = input;
  return () => {
    const say = readerOf(textOf(input));
    const ledger = new Ledger(form);
    const { retry } = context();
    const settings: Partial<JobContext> = {
      retry: { ...retry, ambiguous: form === 'hold' ? 'hold' : 'retry' },
      retryInDoubt: form === 'retry-all',
      price: () => 1,
    };
    let now = epoch;
    let at = click();
    let idle = 0;
    let saves = 0;
    while (at.nextRequest.kind !== 'nothing') {
      if (at.nextRequest.kind === 'wait') now = Math.max(now, at.nextRequest.until);
      let next = step(
        at,
        { type: at.nextRequest.kind === 'wait' ? 'elapsed' : 'granted' },
        context({ ...settings, now }),
      );
      lawfulStep(next, now);
      const { send } = next;
      if (send !== undefined) {
        const event = eventOf(send, say, ledger);
        if (event === undefined) return Promise.resolve(['open', next.job.record.status]);
        next = step(next.job, event, context({ ...settings, now }));
        lawfulStep(next, now);
        // By its state, or by a reason that stands beside one that nobody knows.
        if (next.job.record.resubmits > at.record.resubmits) ledger.failed();
        if (send.kind === 'save' && (saves += 1) > maxSaves) throw new Broken('It saves without an end.');
      }
      idle = send === undefined ? idle + 1 : 0;
      if (idle > maxIdle) throw new Broken('It goes round, and asks for nothing.');
      at = next.job;
    }
    const { status, error } = at.record;
    const codes = [status, ...(error === undefined ? [] : [error.code])];
    return Promise.resolve(ledger.modals > 0 ? [...codes, 'modal'] : codes);
  };
}
