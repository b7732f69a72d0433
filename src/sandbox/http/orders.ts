import type { SandboxNames } from '../names.ts';
import { digestOf } from '../seeded.ts';
import type { ActionOrder, ImagineOrder } from '../tasks/desk.ts';

/** A body that was understood, or the message of its 400 (service.md 7.2). */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

type Members = Readonly<Record<string, unknown>>;

const no = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error });

/** Reads a body as a JSON object. */
export function readMembers(bytes: Buffer): Checked<Members> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (failure) {
    return no(`invalid JSON: ${failure instanceof Error ? failure.message.slice(0, 200) : 'unreadable'}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return no('invalid JSON: expected an object');
  }
  return { ok: true, value: value as Members };
}

/** Checks the body of an imagine (service.md 2.4, protocol.md 3). */
export function imagineOrder(members: Members, names: SandboxNames): Checked<ImagineOrder> {
  const prompt = requiredText(members, 'prompt');
  if (!prompt.ok) return prompt;
  const botType = requiredText(members, 'botType');
  if (!botType.ok) return botType;
  if (!names.botTypes.includes(botType.value)) {
    return no(`botType: expected ${names.botTypes.join(' or ')}, got ${botType.value.slice(0, 100)}`);
  }
  const common = commonFields(members);
  if (!common.ok) return common;
  const images = members['base64Array'] ?? [];
  if (!Array.isArray(images) || !images.every((image) => typeof image === 'string')) {
    return no('base64Array: expected an array of data URIs');
  }
  return {
    ok: true,
    value: {
      prompt: prompt.value,
      botType: botType.value,
      state: common.value,
      images: images.map((image: string) => digestOf(image)),
    },
  };
}

/** Checks the body of an action (service.md 2.5). */
export function actionOrder(members: Members): Checked<ActionOrder> {
  const taskId = requiredText(members, 'taskId');
  if (!taskId.ok) return taskId;
  const customId = requiredText(members, 'customId');
  if (!customId.ok) return customId;
  const enableRemix = members['enableRemix'] ?? false;
  if (typeof enableRemix !== 'boolean') return no('enableRemix: expected a boolean');
  const common = commonFields(members);
  if (!common.ok) return common;
  return {
    ok: true,
    value: { taskId: taskId.value, customId: customId.value, enableRemix, state: common.value },
  };
}

function requiredText(members: Members, name: string): Checked<string> {
  const value = members[name];
  if (value === undefined || value === null || value === '') return no(`${name} is required`);
  if (typeof value !== 'string') return no(`${name}: expected a string, got ${describe(value)}`);
  if (value.trim() === '') return no(`${name} is required`);
  return { ok: true, value };
}

/** `state` (returned), `notifyHook` and `accountFilter`: limits of protocol.md 1.2. */
function commonFields(members: Members): Checked<string> {
  const state = members['state'] ?? '';
  if (typeof state !== 'string' || state.length > 255)
    return no('state: expected a string of at most 255 characters');
  const hook = members['notifyHook'] ?? '';
  if (typeof hook !== 'string' || hook.length > 2000) {
    return no('notifyHook: expected a string of at most 2000 characters');
  }
  const filter = members['accountFilter'] ?? {};
  if (typeof filter !== 'object' || Array.isArray(filter)) return no('accountFilter: expected an object');
  const modes = (filter as Members)['modes'] ?? [];
  if (!Array.isArray(modes) || !modes.every((mode) => typeof mode === 'string')) {
    return no('accountFilter.modes: expected an array of strings');
  }
  return { ok: true, value: state };
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
