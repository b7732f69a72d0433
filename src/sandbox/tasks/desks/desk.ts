import { imagineDrawing } from '../../draw/lineage.ts';
import type { SandboxNames } from '../../names.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { digestOf } from '../../seeded.ts';
import type { SandboxSettings, TaskSpeed } from '../../settings.ts';
import type { Admission, NewTask } from '../admission.ts';
import { type SandboxButton, taskButtons } from '../buttons.ts';
import type { TaskBook } from '../store/book.ts';
import {
  type ActionOrder,
  type ChangeOrder,
  type ImagineOrder,
  missingTask,
  notReady,
  rejected,
  type SubmitResponse,
} from '../submission.ts';
import { momentOf, type StoredTask, type TaskOutcome } from '../task.ts';
import { type Pressed, pressOn, proposedPrompt } from './press.ts';

/** The parts that submissions work with. */
export interface DeskParts {
  readonly book: TaskBook;
  readonly admission: Admission;
  readonly settings: SandboxSettings;
  readonly names: SandboxNames;
  readonly now: () => number;
}

/** The speed of a submission, and the outcome that a fault gives its task instead of its own. */
export interface Work {
  readonly speed: TaskSpeed;
  readonly outcome: TaskOutcome | undefined;
}

/** POST …/submit/imagine. */
export function imagine(parts: DeskParts, order: ImagineOrder, { speed, outcome }: Work): SubmitResponse {
  const { admission, names, settings, book, now } = parts;
  const { prompt, botType, state, images } = order;
  const rejection = admission.rejectedPrompt(prompt);
  if (rejection !== undefined) return rejection;
  const niji = botType === names.botTypes[1];
  const parsed = parsePrompt(prompt, niji);
  const request = digestOf(JSON.stringify(['imagine', botType, prompt, images?.digests ?? []]));
  const known = settings.quirks.has('deduplicate') ? book.madeBy(request) : undefined;
  if (known !== undefined) {
    const { status } = momentOf(known, now());
    const submission = admission.accepted(known.id, 21, 'The task exists already', { status }, []);
    return { ...submission, shows: known };
  }
  return admission.admit({
    action: 'IMAGINE',
    operation: 'imagine',
    speed,
    botType,
    prompt,
    description: `/imagine ${prompt}`,
    state,
    version: parsed.flags.version ?? settings.defaultVersion,
    occupies: true,
    outcome: outcome ?? admission.outcomeOf(prompt, request, niji),
    buttonSet: 'grid',
    drawing: imagineDrawing(parsed, images),
    request,
  });
}

/** POST …/submit/action. */
export function click(parts: DeskParts, order: ActionOrder, work: Work): SubmitResponse {
  const { book, names, settings, admission, now } = parts;
  const parent = book.get(order.taskId);
  if (parent === undefined) return missingTask;
  const at = now();
  const { status } = momentOf(parent, at);
  if (status !== 'SUCCESS') return notReady;

  const offered = taskButtons(parent, names.customId, at, settings);
  const button = offered.find(({ wire }) => wire.customId === order.customId);
  if (button === undefined) {
    return rejected(
      4,
      order.customId.startsWith(`${names.customId}::`)
        ? 'The customId is not among the current buttons of this task'
        : 'Unknown action type',
    );
  }
  const { press } = button;
  if (press.kind === 'bookmark') return admission.accepted(parent.id, 1, 'Submit success', {}, []);
  const enableRemix = order.enableRemix && !settings.quirks.has('ignore-remix');
  const pressed = pressOn(parent, press);
  if (pressed.modal === 'remix' && enableRemix && settings.quirks.has('no-remix'))
    return rejected(4, '当前账号不支持 remix，请开启 remix 功能');
  if (press.kind === 'imagine-all') return imagineAll(parts, parent, button, order, work.speed);
  const modal = pressed.modal === 'always' || (pressed.modal === 'remix' && enableRemix);
  const request = digestOf(JSON.stringify(['action', parent.id, press, modal]));
  const prompt = modal ? proposedPrompt(parent, press) : (pressed.prompt ?? parent.prompt);
  return admission.admit(
    {
      ...childOf(parent, pressed),
      prompt,
      description: descriptionOf(parent, button),
      speed: work.speed,
      state: order.state,
      occupies: !modal && pressed.operation !== 'upscale',
      outcome: modal ? { kind: 'modal' } : (work.outcome ?? { kind: 'success' }),
      request,
      ...(modal ? { modal: { press } } : {}),
    },
    { code: modal ? settings.modalCode : 1 },
  );
}

/** POST …/submit/change and …/submit/simple-change: a click on a grid without a customId. */
export function change(parts: DeskParts, { taskId, press, state }: ChangeOrder, work: Work): SubmitResponse {
  const { book, names, settings, now } = parts;
  const at = now();
  const parent = book.get(taskId);
  const isFinished = parent !== undefined && momentOf(parent, at).status === 'SUCCESS';
  // A task that is missing or unfinished is refused like a click on it.
  if (isFinished && parent.buttonSet !== 'grid') return rejected(4, '关联任务不允许执行变化');
  const wanted = JSON.stringify(press);
  const button = (isFinished ? taskButtons(parent, names.customId, at, settings) : []).find(
    (offered) => JSON.stringify(offered.press) === wanted,
  );
  const customId = button?.wire.customId ?? '';
  return click(parts, { taskId, customId, enableRemix: false, state }, work);
}

/** Imagines all four prompts of a describe; the response lists the ids (gateway 3.4). */
function imagineAll(
  { admission }: DeskParts,
  parent: StoredTask,
  button: SandboxButton,
  order: ActionOrder,
  speed: TaskSpeed,
): SubmitResponse {
  const made: StoredTask[] = [];
  for (const [index] of (parent.prompts ?? []).entries()) {
    const pressed = pressOn(parent, { kind: 'imagine-prompt', index });
    const prompt = pressed.prompt ?? '';
    const request = digestOf(JSON.stringify(['action', parent.id, button.press, index]));
    const submission = admission.admit({
      ...childOf(parent, pressed),
      prompt,
      description: descriptionOf(parent, button),
      speed,
      state: order.state,
      occupies: true,
      outcome: admission.outcomeOf(prompt, request),
      request,
    });
    if (submission.made === undefined) return made.length === 0 ? submission : listed(made);
    made.push(...submission.made);
  }
  return listed(made);
}

const listed = (made: readonly StoredTask[]): SubmitResponse => ({
  status: 200,
  made,
  body: {
    code: 1,
    description: 'Submit success',
    result: made.map(({ id }) => id).join(','),
    properties: {},
  },
});

const descriptionOf = (parent: StoredTask, { wire }: SandboxButton): string =>
  `/up ${parent.id} ${wire.label === '' ? wire.emoji : wire.label}`;

/** The members of a task that come from its parent and from the press of the button. */
export function childOf(
  parent: StoredTask,
  { action, operation, buttonSet, drawing, films, prompts }: Pressed,
): Pick<
  NewTask,
  'action' | 'operation' | 'botType' | 'parentId' | 'version' | 'buttonSet' | 'drawing' | 'films' | 'prompts'
> {
  return {
    action,
    operation,
    botType: parent.botType,
    parentId: parent.id,
    version: parent.version,
    buttonSet,
    drawing,
    ...(films === undefined ? {} : { films }),
    ...(prompts === undefined ? {} : { prompts }),
  };
}
