import { sizeOf } from '../../draw/picture/picture.ts';
import { failReasons } from '../../faults/fail-reasons.ts';
import { readMask } from '../../images/mask.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { digestOf } from '../../seeded.ts';
import type { Speed } from '../../settings.ts';
import type { ModalAnswer, Press } from '../operation.ts';
import type { ModalOrder } from '../orders.ts';
import { missingTask, notReady, refused, type Submission } from '../submission.ts';
import type { StoredTask, TaskOutcome } from '../task.ts';
import { childOf, type DeskParts } from './desk.ts';
import { pressOn, zoomFactor } from './press.ts';

/** Takes the answers to modals (gateway 2.5, 4.6): the work begins in another task or in the one that waits. */
export class ModalDesk {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** POST …/submit/modal. */
  async submit(order: ModalOrder, speed: Speed, outcome?: TaskOutcome): Promise<Submission> {
    const first = this.#waiting(order.taskId);
    if ('status' in first) return first;
    const answer = await this.#answerOf(order, first);
    if ('status' in answer) return answer;
    // Another answer may have come while the mask was read.
    const waiting = this.#waiting(order.taskId);
    return 'status' in waiting ? waiting : this.#carryOut(waiting, answer, order, speed, outcome);
  }

  /** The task that waits, what it came from, and what was pressed there. */
  #waiting(taskId: string): Submission | Waiting {
    const { book } = this.#parts;
    const task = book.get(taskId);
    if (task === undefined) return missingTask;
    const { modal } = task;
    if (modal?.answeredAt !== undefined) {
      return { ...refused(4, 'The modal of this task was submitted already'), modal: 'repeated' };
    }
    if (modal === undefined) return notReady;
    const parent = book.get(task.parentId ?? '');
    return parent === undefined ? missingTask : { task, parent, press: modal.press };
  }

  async #answerOf(order: ModalOrder, { task, parent, press }: Waiting): Promise<Submission | ModalAnswer> {
    const { admission, settings, book } = this.#parts;
    const prompt = order.prompt.trim() === '' ? task.prompt : order.prompt;
    if (prompt.trim() === '') return refused(4, 'prompt不能为空');
    const refusal = admission.refusedPrompt(prompt);
    if (refusal !== undefined) return refusal;
    if (press.kind === 'custom-zoom' && zoomFactor(prompt) === undefined) {
      return refused(
        4,
        'prompt: a Custom Zoom needs --zoom with a number from 1 to 2, for example --zoom 1.5',
      );
    }
    if (press.kind !== 'inpaint') return { prompt };
    if (order.maskBase64 === '')
      return refused(4, 'maskBase64 is required: a PNG, white where it is repainted');
    const mask = await readMask(
      order.maskBase64,
      'white',
      sizeOf(parent.drawing, settings.pixels),
      book.images,
    );
    return mask.ok ? { prompt, mask: mask.value } : refused(4, mask.error);
  }

  #carryOut(
    { task, parent, press }: Waiting,
    answer: ModalAnswer,
    order: ModalOrder,
    speed: Speed,
    outcome: TaskOutcome | undefined,
  ): Submission {
    const { admission, settings, now } = this.#parts;
    const at = now();
    const pressed = pressOn(parent, press, answer);
    const request = digestOf(JSON.stringify(['modal', parent.id, press, answer]));
    const tooLate = settings.modalLife > 0 && at - task.submitAt > settings.modalLife;
    const ends: TaskOutcome = tooLate
      ? { kind: 'failure', reason: failReasons['submit-timeout'] ?? '' }
      : (outcome ?? admission.outcomeOf(answer.prompt, request));
    const version = press.kind === 'imagine-prompt' ? parsePrompt(answer.prompt).flags.version : undefined;
    const work = {
      ...childOf(parent, pressed),
      prompt: pressed.prompt ?? answer.prompt,
      description: task.description,
      speed,
      state: order.state === '' ? task.state : order.state,
      occupies: true,
      outcome: ends,
      request,
      ...(version === undefined ? {} : { version }),
    };
    const answered = { press, answeredAt: at, lingers: settings.modalLinger };
    const submission =
      settings.modalTask === 'same'
        ? admission.admit({ ...work, modal: { ...answered, result: task.id } }, { instead: task })
        : admission.admit(work, {
            // What waited shows the same work, for a client that has lost the answer; it takes no place of its own.
            changed: ({ id, ...added }): StoredTask => ({
              ...added,
              id: task.id,
              submitAt: task.submitAt,
              request: task.request,
              state: task.state,
              occupies: false,
              modal: { ...answered, result: id },
            }),
          });
    return submission.made === undefined ? submission : { ...submission, modal: 'answered' };
  }
}

interface Waiting {
  readonly task: StoredTask;
  readonly parent: StoredTask;
  readonly press: Press;
}
