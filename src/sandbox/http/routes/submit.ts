import { imagineDrawing, upscaleDrawing } from '../../draw/lineage.ts';
import type { FaultEffect } from '../../faults/fault.ts';
import { type LinkReader, readImage, tintOf } from '../../images/read.ts';
import { sha256Of } from '../../images/shelf.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { change, click, imagine, type Work } from '../../tasks/desks/desk.ts';
import { blend, describe, edit, shorten, video } from '../../tasks/desks/entry-desk.ts';
import { answerModal } from '../../tasks/desks/modal-desk.ts';
import { notReady, rejected, rejectionTexts, type SubmitResponse } from '../../tasks/submission.ts';
import { momentOf, type TaskOutcome } from '../../tasks/task.ts';
import {
  actionOrder,
  blendOrder,
  changeOrder,
  describeOrder,
  type EntryParts,
  editOrder,
  filteredSpeed,
  imagineOrder,
  modalOrder,
  OrderError,
  type OrderMembers,
  readImages,
  shortenOrder,
  simpleChangeOrder,
  videoOrder,
} from '../orders.ts';
import { flatReply, jsonReply, type SandboxResponse } from '../reply.ts';
import { imageErrorResponse, membersOf, type ServiceParts, type Visit } from '../visit.ts';
import { type Endpoint, endpointOf } from './route.ts';
import { taskRecord } from './show.ts';

/** POST …/submit/…: reads the body, makes the task, and counts it. */
export async function respondToSubmit(
  parts: ServiceParts,
  route: Endpoint,
  visit: Visit,
): Promise<SandboxResponse> {
  const members = await membersOf(parts, visit);
  if (!members.ok) return members.error;
  const strange = unknownAction(parts, route, members.value);
  if (strange !== undefined)
    return imageErrorResponse(parts, visit.requestId, `unknown_action:${strange.slice(0, 200)}`);
  const asked = parts.settings.quirks.has('no-account-modes') ? undefined : filteredSpeed(members.value);
  const speed = route.speed === 'relax' ? (asked ?? route.speed) : route.speed;
  let submission: Awaited<ReturnType<typeof submitted>>;
  try {
    const work = { speed, outcome: outcomeOf(visit.effects) };
    submission = await submitted(parts, route, members.value, work, visit);
  } catch (failure) {
    if (!(failure instanceof OrderError)) throw failure;
    if (!failure.refused) return imageErrorResponse(parts, visit.requestId, failure.message);
    submission = rejected(4, failure.message);
  }
  if ('reply' in submission) return submission.reply;
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
  work: Work,
  { effects }: Visit,
): Promise<SubmitResponse | { readonly reply: SandboxResponse }> {
  const { names, book } = parts;
  const links = linkReader(parts);
  const entryParts: EntryParts = {
    names,
    shelf: book.images,
    image: (text, where, linked) => readImage(text, where, book.images, linked ? links : undefined),
  };
  /** Does the work of a valid order, unless a fault answers in its place. */
  const hand = async <T>(
    order: T,
    take: (parts: ServiceParts, order: T, work: Work) => SubmitResponse | Promise<SubmitResponse>,
  ) => struckBy(effects) ?? (await take(parts, order, work));
  switch (route.name) {
    case 'imagine':
      return hand(imagineOrder(members, names), async (_parts, { base64Array, ...order }) => {
        if (base64Array.length === 0) return imagine(parts, order, work);
        const images = await readImages(base64Array, entryParts);
        const tint = await tintOf(images.map(({ bytes }) => bytes));
        const digests = images.map(({ bytes }) => sha256Of(bytes));
        return imagine(parts, { ...order, images: { digests, tint } }, work);
      });
    case 'action':
      return hand(actionOrder(members), click);
    case 'change':
      return hand(changeOrder(members), change);
    case 'simple-change':
      return hand(simpleChangeOrder(members), change);
    case 'modal':
      return hand(modalOrder(members), answerModal);
    case 'blend':
      return hand(await blendOrder(members, entryParts), blend);
    case 'describe':
      return hand(await describeOrder(members, entryParts), describe);
    case 'shorten':
      return hand(shortenOrder(members, entryParts), shorten);
    case 'video':
      return hand(await videoOrder(members, entryParts), video);
    case 'edits':
      return hand(await editOrder(members, entryParts), edit);
    default:
      throw new Error(`Internal error: ${route.name} is not a submission`);
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

/** The response of a fault to a valid submission, instead of the ordinary response (gateway 3.3, 3.5). */
function struckBy(
  effects: readonly FaultEffect[],
): SubmitResponse | { readonly reply: SandboxResponse } | undefined {
  for (const effect of effects) {
    if (effect.kind === 'code') {
      const words = rejectionTexts[effect.code] ?? 'Submit failed';
      // A saturated channel: the only code with a status of its own.
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

/** The actions that a stock gateway recognises in a customId. */
const stockActions =
  /^(JOB::(upsample|variation|low_variation|high_variation|pan_|reroll)|Outpaint::|CustomZoom::|Inpaint::)/;

/** Returns the customId of a click that a stock gateway does not support, if the quirk `stock-buttons` is on. */
function unknownAction(
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

/** Rewrites the code of a response as the quirk `rewrite-codes` does: the codes of modals that always open stay. */
function rewritten(
  { settings }: Pick<ServiceParts, 'settings'>,
  { customId }: OrderMembers,
  body: SubmitResponse['body'],
): SubmitResponse['body'] {
  const opens = typeof customId === 'string' && /::(Inpaint|CustomZoom)::/.test(customId);
  const isChanged = body.code === 22 || (body.code === 21 && !opens);
  return settings.quirks.has('rewrite-codes') && isChanged ? { ...body, code: 1 } : body;
}

/**
 * Reads the images behind the links of requests: the pictures of this sandbox; for any other address, a picture drawn from the words of
 * the address, because the sandbox sends no requests.
 */
function linkReader({ book, studio, names, now, ports }: ServiceParts): LinkReader {
  return async (link) => {
    if (!URL.canParse(link)) return undefined;
    const { hostname, port, pathname } = new URL(link);
    const isOwn = (hostname === '127.0.0.1' || hostname === 'localhost') && Number(port) === ports().service;
    if (!isOwn) return await studio.picture(drawnFrom(link, pathname));
    const route = endpointOf('GET', pathname, names);
    const task = route?.name === 'image' ? book.get(route.taskId) : undefined;
    if (task === undefined || momentOf(task, now()).status !== 'SUCCESS') return undefined;
    return await studio.picture(task.drawing);
  };
}

function drawnFrom(link: string, pathname: string) {
  const name = pathname.split('/').at(-1) ?? '';
  const words = name
    .replace(/\.\w{1,5}$/, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const prompt = parsePrompt(words === '' ? 'a landscape' : words.slice(0, 200));
  return upscaleDrawing(imagineDrawing(prompt, undefined, link), 0);
}
