import type { FaultEffect } from '../../faults/fault.ts';
import { notReady, rejected, rejectionTexts, type SubmitResponse } from '../../tasks/submission.ts';
import type { OrderMembers } from '../orders/members.ts';
import { flatReply, jsonReply, type SandboxResponse } from '../reply/reply.ts';
import type { ServiceParts } from '../visit.ts';
import type { Endpoint } from './route.ts';

/** What stands between a client and the service of the tasks, and has words of its own (gateway 3.3, 3.5). */

/** The response of a fault to a checked submission, in place of the ordinary response. */
export function struckBy(
  effects: readonly FaultEffect[],
): SubmitResponse | { readonly reply: SandboxResponse } | undefined {
  for (const effect of effects) {
    if (effect.kind === 'code') {
      const words = rejectionTexts[effect.code] ?? 'Submit failed';
      // The channel is saturated: the one code that comes with a status of its own.
      return effect.code === 30 ? { reply: flatReply(429, words, 30) } : rejected(effect.code, words);
    }
    if (effect.kind === 'not-ready') {
      switch (effect.words) {
        case 'gateway':
          return { reply: flatReply(400, 'task_status_not_success', 4) };
        case 'status':
          return notReady;
        case 'missing':
          return rejected(3, '关联任务不存在或失效');
        case 'button':
          return { reply: jsonReply(400, { error: { message: 'custom_id is not valid' } }) };
      }
    }
  }
  return undefined;
}

/** The names of buttons that a stock gateway makes out in a customId. */
const stockActions =
  /^(JOB::(upsample|variation|low_variation|high_variation|pan_|reroll)|Outpaint::|CustomZoom::|Inpaint::)/;

/** The customId of a click that a stock gateway does not support, where the sandbox plays one. */
export function unknownAction(
  { settings, names }: Pick<ServiceParts, 'settings' | 'names'>,
  { name }: Endpoint,
  members: OrderMembers,
): string | undefined {
  const { customId } = members;
  if (!settings.quirks.has('stock-buttons') || name !== 'action' || typeof customId !== 'string')
    return undefined;
  const prefix = `${names.customId}::`;
  return customId.startsWith(prefix) && stockActions.test(customId.slice(prefix.length))
    ? undefined
    : customId;
}

/** The body of a response to a submission after a gateway has rewritten its code; only windows that always open keep theirs. */
export function rewritten(
  { settings }: Pick<ServiceParts, 'settings'>,
  { customId }: OrderMembers,
  body: SubmitResponse['body'],
): SubmitResponse['body'] {
  const opens = typeof customId === 'string' && /::(Inpaint|CustomZoom)::/.test(customId);
  const isChanged = body.code === 22 || (body.code === 21 && !opens);
  return settings.quirks.has('rewrite-codes') && isChanged ? { ...body, code: 1 } : body;
}
