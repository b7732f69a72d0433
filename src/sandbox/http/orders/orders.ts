import type { SandboxNames } from '../../names.ts';
import type { TaskSpeed } from '../../settings.ts';
import type { ActionOrder, CommonOrder, ImagineOrder, ModalOrder } from '../../tasks/orders.ts';
import { type Checked, no, type OrderMembers, optionalText, requiredText } from './members.ts';

/** An imagine whose image prompts have not been read yet. */
export interface ImagineBody extends Omit<ImagineOrder, 'images'> {
  readonly base64Array: readonly string[];
}

/** Checks the body of an imagine (gateway 2.3). */
export function imagineOrder(members: OrderMembers, names: SandboxNames): Checked<ImagineBody> {
  const prompt = requiredText(members, 'prompt');
  if (!prompt.ok) return prompt;
  const botType = requiredText(members, 'botType');
  if (!botType.ok && !names.familyClients) return botType;
  const known = botTypeOf(members, names);
  if (!known.ok) return known;
  const common = commonFields(members);
  if (!common.ok) return common;
  const base64Array = members['base64Array'] ?? [];
  if (!Array.isArray(base64Array) || !base64Array.every((image) => typeof image === 'string')) {
    return no('base64Array: expected an array of data URIs');
  }
  return { ok: true, value: { prompt: prompt.value, botType: known.value, ...common.value, base64Array } };
}

/** Checks the body of an action (gateway 2.4). */
export function actionOrder(members: OrderMembers): Checked<ActionOrder> {
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
    value: { taskId: taskId.value, customId: customId.value, enableRemix, ...common.value },
  };
}

/** Checks the body of a modal (gateway 2.5): what it needs besides depends on the task. */
export function modalOrder(members: OrderMembers): Checked<ModalOrder> {
  const taskId = requiredText(members, 'taskId');
  if (!taskId.ok) return taskId;
  const prompt = optionalText(members, 'prompt');
  if (!prompt.ok) return prompt;
  const maskBase64 = optionalText(members, 'maskBase64');
  if (!maskBase64.ok) return maskBase64;
  const common = commonFields(members);
  if (!common.ok) return common;
  return {
    ok: true,
    value: { taskId: taskId.value, prompt: prompt.value, maskBase64: maskBase64.value, ...common.value },
  };
}

/** The botType; where it is absent, the ordinary one. */
export function botTypeOf(members: OrderMembers, names: SandboxNames): Checked<string> {
  const botType = optionalText(members, 'botType');
  if (!botType.ok) return botType;
  const value = botType.value === '' ? names.botTypes[0] : botType.value;
  return names.botTypes.includes(value)
    ? { ok: true, value }
    : no(`botType: expected ${names.botTypes.join(' or ')}, got ${value.slice(0, 100)}`);
}

/** `state`, `notifyHook` and `accountFilter`: limits of gateway 2.2. */
export function commonFields(members: OrderMembers): Checked<CommonOrder> {
  const state = members['state'] ?? '';
  if (typeof state !== 'string' || state.length > 255)
    return no('state: expected a string of at most 255 characters');
  const hook = members['notifyHook'] ?? '';
  if (typeof hook !== 'string' || hook.length > 2000) {
    return no('notifyHook: expected a string of at most 2000 characters');
  }
  const filter = members['accountFilter'] ?? {};
  if (typeof filter !== 'object' || Array.isArray(filter)) return no('accountFilter: expected an object');
  const modes = (filter as OrderMembers)['modes'] ?? [];
  if (!Array.isArray(modes) || !modes.every((mode) => typeof mode === 'string')) {
    return no('accountFilter.modes: expected an array of strings');
  }
  return { ok: true, value: { state } };
}

/** The speed that accountFilter.modes asks for; its order is the preference (gateway 1.5). */
export function filteredSpeed(members: OrderMembers): TaskSpeed | undefined {
  const filter = members['accountFilter'];
  const modes = typeof filter === 'object' && filter !== null ? (filter as OrderMembers)['modes'] : undefined;
  const known: readonly TaskSpeed[] = ['relax', 'fast', 'turbo'];
  const [first] = Array.isArray(modes) ? modes : [];
  return known.find((speed) => speed.toUpperCase() === first);
}
