import { sizeOf } from '../../draw/picture.ts';
import { failReasons } from '../../faults/fault.ts';
import { readMask } from '../../images/mask.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { digestOf } from '../../seeded.ts';
import { type ModalOrder, missingTask, notReady, rejected, type SubmitResponse } from '../submission.ts';
import type { ModalConfirm, PressAction, StoredTask, TaskOutcome } from '../task.ts';
import { childOf, type DeskParts, type Work } from './desk.ts';
import { pressOn, zoomFactor } from './press.ts';

/** POST …/submit/modal (gateway 2.5, 4.6): begins the work in a new task or in the waiting one. */
export async function answerModal(parts: DeskParts, order: ModalOrder, work: Work): Promise<SubmitResponse> {
  const first = waitingFor(parts, order.taskId);
  if ('status' in first) return first;
  const confirm = await confirmationOf(parts, order, first);
  if ('status' in confirm) return confirm;
  // Another answer may have come while the mask was read.
  const waiting = waitingFor(parts, order.taskId);
  return 'status' in waiting ? waiting : begin(parts, waiting, confirm, order, work);
}

function waitingFor({ book }: DeskParts, taskId: string): SubmitResponse | Waiting {
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

async function confirmationOf(
  { admission, settings, book }: DeskParts,
  order: ModalOrder,
  { task, parent, press }: Waiting,
): Promise<SubmitResponse | ModalConfirm> {
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

function begin(
  { admission, settings, now }: DeskParts,
  { task, parent, press }: Waiting,
  confirm: ModalConfirm,
  order: ModalOrder,
  { speed, outcome }: Work,
): SubmitResponse {
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
          // The waiting task shows the same work, for a client that has lost the response; it takes no place of its own.
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

/** A task that waits for its modal, its parent, and the pressed button. */
interface Waiting {
  readonly task: StoredTask;
  readonly parent: StoredTask;
  readonly press: PressAction;
}
