import { sizeOf } from '../../draw/picture.ts';
import { failReasons } from '../../faults/fault.ts';
import { readMask } from '../../images/mask.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { digestOf } from '../../seeded.ts';
import type { TaskSpeed } from '../../settings.ts';
import { type ModalOrder, missingTask, notReady, rejected, type SubmitResponse } from '../submission.ts';
import type { ModalConfirm, PressAction, StoredTask, TaskOutcome } from '../task.ts';
import { childOf, type DeskParts } from './desk.ts';
import { pressOn, zoomFactor } from './press.ts';

/** Takes the responses to modals (gateway 2.5, 4.6): the work begins in another task or in the one that waits. */
export class ModalDesk {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** POST …/submit/modal. */
  async submit(order: ModalOrder, speed: TaskSpeed, outcome?: TaskOutcome): Promise<SubmitResponse> {
    const first = this.#waiting(order.taskId);
    if ('status' in first) return first;
    const confirm = await this.#confirmationOf(order, first);
    if ('status' in confirm) return confirm;
    // Another response may have come while the mask was read.
    const waiting = this.#waiting(order.taskId);
    return 'status' in waiting ? waiting : this.#carryOut(waiting, confirm, order, speed, outcome);
  }

  /** The task that waits, what it came from, and what was pressed there. */
  #waiting(taskId: string): SubmitResponse | Waiting {
    const { book } = this.#parts;
    const task = book.get(taskId);
    if (task === undefined) return missingTask;
    const { modal } = task;
    if (modal?.confirmedAt !== undefined) {
      return { ...rejected(4, 'The modal of this task was submitted already'), modal: 'repeated' };
    }
    if (modal === undefined) return notReady;
    const parent = book.get(task.parentId ?? '');
    return parent === undefined ? missingTask : { task, parent, press: modal.press };
  }

  async #confirmationOf(
    order: ModalOrder,
    { task, parent, press }: Waiting,
  ): Promise<SubmitResponse | ModalConfirm> {
    const { admission, settings, book } = this.#parts;
    const prompt = order.prompt.trim() === '' ? task.prompt : order.prompt;
    if (prompt.trim() === '') return rejected(4, 'prompt不能为空');
    const rejection = admission.rejectedPrompt(prompt);
    if (rejection !== undefined) return rejection;
    if (press.kind === 'custom-zoom' && zoomFactor(prompt) === undefined) {
      return rejected(
        4,
        'prompt: a Custom Zoom needs --zoom with a number from 1 to 2, for example --zoom 1.5',
      );
    }
    if (press.kind !== 'inpaint') return { prompt };
    if (order.maskBase64 === '')
      return rejected(4, 'maskBase64 is required: a PNG, white where it is repainted');
    const mask = await readMask(
      order.maskBase64,
      'white',
      sizeOf(parent.drawing, settings.pixels),
      book.images,
    );
    return mask.ok ? { prompt, mask: mask.value } : rejected(4, mask.error);
  }

  #carryOut(
    { task, parent, press }: Waiting,
    confirm: ModalConfirm,
    order: ModalOrder,
    speed: TaskSpeed,
    outcome: TaskOutcome | undefined,
  ): SubmitResponse {
    const { admission, settings, now } = this.#parts;
    const at = now();
    const pressed = pressOn(parent, press, confirm);
    const request = digestOf(JSON.stringify(['modal', parent.id, press, confirm]));
    const tooLate = settings.modalLife > 0 && at - task.submitAt > settings.modalLife;
    const ends: TaskOutcome = tooLate
      ? { kind: 'failure', reason: failReasons['submit-timeout'] ?? '' }
      : (outcome ?? admission.outcomeOf(confirm.prompt, request));
    const version = press.kind === 'imagine-prompt' ? parsePrompt(confirm.prompt).flags.version : undefined;
    const work = {
      ...childOf(parent, pressed),
      prompt: pressed.prompt ?? confirm.prompt,
      description: task.description,
      speed,
      state: order.state === '' ? task.state : order.state,
      occupies: true,
      outcome: ends,
      request,
      ...(version === undefined ? {} : { version }),
    };
    const confirmed = { press, confirmedAt: at, lingers: settings.quirks.has('modal-linger') };
    const submission =
      settings.modalTask === 'same'
        ? admission.admit({ ...work, modal: { ...confirmed, result: task.id } }, { instead: task })
        : admission.admit(work, {
            // What waited shows the same work, for a client that has lost the response; it takes no place of its own.
            changed: ({ id, ...added }): StoredTask => ({
              ...added,
              id: task.id,
              submitAt: task.submitAt,
              request: task.request,
              state: task.state,
              occupies: false,
              modal: { ...confirmed, result: id },
            }),
          });
    return submission.made === undefined ? submission : { ...submission, modal: 'answered' };
  }
}

interface Waiting {
  readonly task: StoredTask;
  readonly parent: StoredTask;
  readonly press: PressAction;
}
