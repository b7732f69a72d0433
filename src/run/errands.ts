import type { SaveFailure } from '../artifacts/writer.ts';
import type { Speed } from '../pipeline/pipeline.ts';
import type { ServiceFailure } from '../service/answer.ts';
import { type AskPorts, ask } from './ask-errand.ts';
import type { AnswerInput } from './heard.ts';
import { Outgoing } from './outgoing.ts';
import type { RunPorts } from './ports.ts';
import type { Errand } from './turn.ts';

/** Sends what a turn asks for, each to the port that it is for. */
export class Errands {
  readonly #ports: RunPorts;
  readonly #asking: AskPorts;
  readonly #speed: Speed;

  constructor(ports: RunPorts, speed: Speed) {
    const { text, inputs, artifacts, store } = ports;
    this.#ports = ports;
    this.#asking = { text, inputs, artifacts, lookup: (key) => store.get(key), outgoing: new Outgoing() };
    this.#speed = speed;
  }

  async carryOut({ job, send }: Errand, signal: AbortSignal): Promise<AnswerInput> {
    const { key } = job.record;
    const { service, artifacts } = this.#ports;
    switch (send.kind) {
      case 'submit':
        return { type: 'submitted', key, answer: await this.#submit(job, signal) };
      case 'fetch':
        return { type: 'fetched', key, why: send.why, answer: await service.fetchTask(send.taskId, signal) };
      case 'save':
        return {
          type: 'saved',
          key,
          answer: await artifacts.save({ url: send.url, key, output: 1 }, signal),
        };
      case 'ask':
        return { type: 'asked', key, answer: await ask(job.record, this.#asking, signal) };
    }
  }

  #submit(
    { record, parentTaskId }: Errand['job'],
    signal: AbortSignal,
  ): ReturnType<RunPorts['service']['imagine']> {
    const { request, pressed } = record;
    const { service } = this.#ports;
    const shared = { speed: this.#speed, ...(request.extra === undefined ? {} : { extra: request.extra }) };
    if (request.kind === 'imagine') return service.imagine({ fields: request.fields, ...shared }, signal);
    if (pressed === undefined || parentTaskId === undefined)
      throw new Error(`Internal error: click ${record.key} is to be submitted without its button.`);
    return service.action({ taskId: parentTaskId, customId: pressed.customId, ...shared }, signal);
  }
}

type Failure = Pick<ServiceFailure | SaveFailure, 'code' | 'class' | 'message'>;

/** Why a request gave no usable answer, if it did not. */
export function failureIn(input: AnswerInput): Failure | undefined {
  if (input.type !== 'asked') return input.answer.ok ? undefined : input.answer.error;
  return input.answer.kind === 'answered' ? undefined : input.answer.error;
}

/** Broken off by us, its outcome unknown: the next run finds it as it was sent. What never left is known for certain. */
export const isBrokenOff = (failure: Failure): boolean =>
  (failure.code === 'connection.aborted' || failure.code === 'download.aborted') &&
  failure.class !== 'unsent';

/** What an answer came to, in one word: a code where it is none. */
export function outcomeOf(input: AnswerInput): string {
  const failure = failureIn(input);
  if (failure !== undefined) return failure.code;
  switch (input.type) {
    case 'submitted':
      return input.answer.ok ? input.answer.value.kind : '';
    case 'fetched':
      return input.answer.ok ? input.answer.value.status : '';
    case 'saved':
      return 'saved';
    case 'asked': {
      if (input.answer.kind !== 'answered') return '';
      const { verdict } = input.answer.asked;
      return 'error' in verdict ? verdict.error.code : verdict.kind;
    }
  }
}
