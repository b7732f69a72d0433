import type { FaultEffect } from '../../faults/fault.ts';
import { readImage } from '../../images/read.ts';
import { sha256Of } from '../../images/shelf.ts';
import { tintOf } from '../../images/tint.ts';
import type { TaskSpeed } from '../../settings.ts';
import { rejected, type SubmitResponse } from '../../tasks/submission.ts';
import type { TaskOutcome } from '../../tasks/task.ts';
import { changeOrder, simpleChangeOrder } from '../orders/change.ts';
import {
  blendOrder,
  describeOrder,
  type EntryParts,
  editOrder,
  type Ordered,
  readImages,
  shortenOrder,
  videoOrder,
} from '../orders/entry.ts';
import type { Checked, OrderMembers } from '../orders/members.ts';
import { actionOrder, filteredSpeed, imagineOrder, modalOrder } from '../orders/orders.ts';
import { jsonReply, type SandboxResponse } from '../reply/reply.ts';
import { imageErrorResponse, membersOf, type ServiceParts, type Visit } from '../visit.ts';
import { rewritten, struckBy, unknownAction } from './gateway.ts';
import { linkReader } from './links.ts';
import type { Endpoint } from './route.ts';
import { taskRecord } from './show.ts';

/** A body that cannot be understood. */
interface Malformed {
  readonly malformed: string;
}

/** POST …/submit/…: reads the body, hands it to its desk, and counts what came of it. */
export async function respondToSubmit(
  parts: ServiceParts,
  route: Endpoint,
  visit: Visit,
): Promise<SandboxResponse> {
  const members = await membersOf(parts, visit);
  if (!members.ok) return members.error;
  const strange = unknownAction(parts, route, members.value);
  if (strange !== undefined) {
    return imageErrorResponse(parts, visit.requestId, `unknown_action:${strange.slice(0, 200)}`);
  }
  const asked = parts.settings.quirks.has('no-account-modes') ? undefined : filteredSpeed(members.value);
  const speed = route.speed === 'relax' ? (asked ?? route.speed) : route.speed;
  const submission = await submitted(parts, route, members.value, speed, visit);
  if ('reply' in submission) return submission.reply;
  if ('malformed' in submission) return imageErrorResponse(parts, visit.requestId, submission.malformed);
  for (const task of submission.made ?? []) parts.ledger.noteTask(task);
  if (submission.modal !== undefined) parts.ledger.noteModal(submission.modal);
  const reply = jsonReply(
    submission.status,
    rewritten(parts, members.value, bodyOf(parts, submission, visit)),
  );
  return submission.taskId === undefined ? reply : { ...reply, taskId: submission.taskId };
}

function bodyOf(parts: ServiceParts, { body, shows }: SubmitResponse, visit: Visit): SubmitResponse['body'] {
  if (shows === undefined) return body;
  const { imageUrl } = taskRecord(parts, shows, visit);
  return { ...body, properties: { ...body.properties, imageUrl } };
}

async function submitted(
  parts: ServiceParts,
  route: Endpoint,
  members: OrderMembers,
  speed: TaskSpeed,
  { effects }: Visit,
): Promise<SubmitResponse | Malformed | { readonly reply: SandboxResponse }> {
  const { desk, modals, entries, names, book } = parts;
  const outcome = outcomeOf(effects);
  const links = linkReader(parts);
  const entryParts: EntryParts = {
    names,
    shelf: book.images,
    image: (text, where, linked) => readImage(text, where, book.images, linked ? links : undefined),
  };
  /** Hands an order to its desk, unless a fault answers in its place. */
  const hand = async <T>(
    order: Ordered<T> | Checked<T>,
    take: (value: T) => SubmitResponse | Promise<SubmitResponse>,
  ): Promise<SubmitResponse | Malformed | { readonly reply: SandboxResponse }> => {
    if (!order.ok) return 'rejection' in order ? order.rejection : { malformed: order.error };
    return struckBy(effects) ?? take(order.value);
  };
  switch (route.name) {
    case 'imagine':
      return hand(imagineOrder(members, names), async ({ base64Array, ...order }) => {
        if (base64Array.length === 0) return desk.imagine(order, speed, outcome);
        const images = await readImages(base64Array, entryParts);
        if (!images.ok) return 'rejection' in images ? images.rejection : rejected(4, images.error);
        const tint = await tintOf(images.value.map(({ bytes }) => bytes));
        const digests = images.value.map(({ bytes }) => sha256Of(bytes));
        return desk.imagine({ ...order, images: { digests, tint } }, speed, outcome);
      });
    case 'action':
      return hand(actionOrder(members), (order) => desk.action(order, speed, outcome));
    case 'change':
      return hand(changeOrder(members), (order) => desk.change(order, speed, outcome));
    case 'simple-change':
      return hand(simpleChangeOrder(members), (order) => desk.change(order, speed, outcome));
    case 'modal':
      return hand(modalOrder(members), (order) => modals.submit(order, speed, outcome));
    case 'blend':
      return hand(await blendOrder(members, entryParts), (order) => entries.blend(order, speed, outcome));
    case 'describe':
      return hand(await describeOrder(members, entryParts), (order) =>
        entries.describe(order, speed, outcome),
      );
    case 'shorten':
      return hand(shortenOrder(members, entryParts), (order) => entries.shorten(order, speed, outcome));
    case 'video':
      return hand(await videoOrder(members, entryParts), (order) => entries.video(order, speed, outcome));
    case 'edits':
      return hand(await editOrder(members, entryParts), (order) => entries.edit(order, speed, outcome));
    default:
      throw new Error(`Internal error: ${route.name} is no submission`);
  }
}

function outcomeOf(effects: readonly FaultEffect[]): TaskOutcome | undefined {
  for (const effect of effects) {
    if (effect.kind === 'stuck') return { kind: 'stuck' };
    if (effect.kind === 'cancel') return { kind: 'cancel' };
    if (effect.kind === 'fail') return { kind: 'failure', reason: effect.reason };
  }
  return undefined;
}
