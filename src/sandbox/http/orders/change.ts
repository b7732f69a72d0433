import type { ChangeOrder } from '../../tasks/orders.ts';
import { type Checked, memberOneOf, no, type OrderMembers, requiredText } from './members.ts';
import { commonFields } from './orders.ts';

/** The presses that the old form of a click has words for; the second word of a `simple-change` begins as they do. */
const actions = ['UPSCALE', 'VARIATION', 'REROLL'] as const;

/** Checks the body of a change (gateway 2.4): `{taskId, action, index}`, where a reroll has no index. */
export function changeOrder(members: OrderMembers): Checked<ChangeOrder> {
  const taskId = requiredText(members, 'taskId');
  if (!taskId.ok) return taskId;
  const named = requiredText(members, 'action');
  if (!named.ok) return named;
  const action = memberOneOf(members, 'action', actions, 'REROLL');
  if (!action.ok) return action;
  if (action.value !== 'REROLL' && (members['index'] ?? undefined) === undefined) {
    return no('index is required');
  }
  const index = memberOneOf(members, 'index', [1, 2, 3, 4], 1);
  if (!index.ok && action.value !== 'REROLL') return index;
  const common = commonFields(members);
  if (!common.ok) return common;
  return {
    ok: true,
    value: {
      taskId: taskId.value,
      press: pressOf(action.value, index.ok ? index.value - 1 : 0),
      ...common.value,
    },
  };
}

/** Checks the body of a simple change (gateway 2.4): `{content: "<taskId> U2"}`, also V1 to V4 and R. */
export function simpleChangeOrder(members: OrderMembers): Checked<ChangeOrder> {
  const content = requiredText(members, 'content');
  if (!content.ok) return content;
  const [, taskId, letter, digit] = /^\s*(\S+)\s+(?:([uv])([1-4])|r)\s*$/i.exec(content.value) ?? [];
  if (taskId === undefined) return no('content: expected a task id and U1 to U4, V1 to V4 or R');
  const common = commonFields(members);
  if (!common.ok) return common;
  const action = actions.find((each) => each.startsWith((letter ?? 'r').toUpperCase())) ?? 'REROLL';
  return { ok: true, value: { taskId, press: pressOf(action, Number(digit ?? 1) - 1), ...common.value } };
}

const pressOf = (action: (typeof actions)[number], index: number): ChangeOrder['press'] =>
  action === 'REROLL' ? { kind: 'reroll' } : { kind: action === 'UPSCALE' ? 'upscale' : 'variation', index };
