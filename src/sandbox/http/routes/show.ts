import { sharp } from '../../../artifacts/formats/image-library.ts';
import type { WireLink } from '../../../service/wire.ts';
import type { Drawing } from '../../draw/canvas/drawing.ts';
import { upscaleDrawing } from '../../draw/lineage.ts';
import { imagesIn } from '../../draw/order.ts';
import type { FaultEffect } from '../../faults/fault.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { unitOf } from '../../seeded.ts';
import { recordOf, type TaskRecord } from '../../tasks/record.ts';
import { missingTask, notReady } from '../../tasks/submission.ts';
import { momentOf, type StoredTask } from '../../tasks/task.ts';
import { emptyReply, flatReply, jsonReply, type SandboxResponse } from '../reply.ts';
import { hostOf, imageErrorResponse, membersOf, type ServiceParts, type Visit } from '../visit.ts';
import type { Endpoint } from './route.ts';

const longestList = 1000;

/** GET …/task/{id}/fetch. */
export function respondToFetch(parts: ServiceParts, { taskId }: Endpoint, visit: Visit): SandboxResponse {
  const task = parts.book.get(taskId);
  if (task !== undefined) return jsonReply(200, taskRecord(parts, task, visit));
  switch (parts.settings.unknownTask) {
    case 'error':
      return flatReply(400, 'task_no_found', 4);
    case 'empty':
      return emptyReply(200);
    case 'no-content':
      return emptyReply(204);
  }
}

/** GET …/task/{id}/image-seed (gateway 4.1): the seed of its prompt, or a number that the service chose. */
export function respondToImageSeed({ book, now }: ServiceParts, { taskId }: Endpoint): SandboxResponse {
  const task = book.get(taskId);
  if (task === undefined) return jsonReply(missingTask.status, missingTask.body);
  if (momentOf(task, now()).status !== 'SUCCESS') return jsonReply(400, notReady.body);
  const chosen = String(Math.floor(unitOf(`seed ${task.request}`) * 2 ** 32));
  const result = parsePrompt(task.prompt).flags.seed ?? chosen;
  return jsonReply(200, { code: 1, description: 'Submit success', result, properties: {} });
}

/** POST …/task/list-by-condition {ids} (gateway 4.1): the known tasks of these ids, in no order. */
export async function respondToListByCondition(
  parts: ServiceParts,
  _route: Endpoint,
  visit: Visit,
): Promise<SandboxResponse> {
  if (parts.settings.quirks.has('no-listing')) return noListing(visit);
  const members = await membersOf(parts, visit);
  if (!members.ok) return members.error;
  const ids = members.value['ids'] ?? [];
  const valid = Array.isArray(ids) && ids.every((id) => typeof id === 'string' || typeof id === 'number');
  if (!valid) return imageErrorResponse(parts, visit.requestId, 'ids: expected an array of task ids');
  if (ids.length > longestList)
    return imageErrorResponse(parts, visit.requestId, `ids: at most ${longestList}, got ${ids.length}`);
  const tasks = [...new Set(ids.map(String))].flatMap((id) => parts.book.get(id) ?? []);
  return jsonReply(
    200,
    tasks.reverse().flatMap((task) => rowsOf(parts, task, visit)),
  );
}

/** The rows of one task. With `two-rows`, a task whose modal was answered with the same id has a second row that still shows MODAL. */
function rowsOf(parts: ServiceParts, task: StoredTask, visit: Visit): readonly TaskRecord[] {
  const row = taskRecord(parts, task, visit);
  if (!parts.settings.quirks.has('two-rows') || task.modal?.result !== task.id) return [row];
  const { confirmedAt: _answeredAt, result: _result, ...opened } = task.modal;
  const left: StoredTask = { ...task, outcome: { kind: 'modal' }, modal: opened };
  return [row, taskRecord(parts, left, visit)];
}

/** GET …/task/list: the newest tasks, newest first. */
export function respondToList(parts: ServiceParts, _route: Endpoint, visit: Visit): SandboxResponse {
  if (parts.settings.quirks.has('no-listing')) return noListing(visit);
  return jsonReply(
    200,
    parts.book.newest(longestList).flatMap((task) => rowsOf(parts, task, visit)),
  );
}

/** POST …/task/{id}/cancel: cancels an unfinished task; always 200 without a body (gateway 4.1). */
export function respondToCancel({ book, now }: ServiceParts, { taskId }: Endpoint): SandboxResponse {
  const task = book.get(taskId);
  const at = now();
  const { finished } = task === undefined ? { finished: true } : momentOf(task, at);
  if (task !== undefined && !finished) {
    book.change({ ...task, outcome: { kind: 'cancel' }, startAt: Math.min(task.startAt, at), endAt: at });
  }
  return emptyReply(200);
}

const noListing = ({ path }: Visit): SandboxResponse =>
  jsonReply(404, { error: `no such path: ${path.slice(0, 200)}` });

/** The record of a task, changed by the faults of a fetch. */
export function taskRecord(parts: ServiceParts, task: StoredTask, { request, effects }: Visit): TaskRecord {
  const { settings, names, now, ports } = parts;
  const at = now();
  const link = effects.find((effect) => effect.kind === 'link')?.link;
  const origins: Partial<Record<typeof link & string, string>> = {
    foreign: 'https://cdn.sandbox.invalid',
    loopback: 'http://localhost:3000',
    path: '',
  };
  const origin = origins[link ?? 'expired'] ?? `http://${hostOf(request)}:${ports().service}`;
  const linkOf = (id: string, percent: number, output?: number): string => {
    const query = new URLSearchParams();
    if (link === 'expired') query.set('ex', String(at - 1));
    else if (settings.linkLife > 0) query.set('ex', String(at + settings.linkLife));
    if (percent < 100) query.set('rand', String(percent));
    const file = output === undefined ? id : `${id}/${output}`;
    return `${origin}/${names.path}/image/${file}${query.size === 0 ? '' : `?${query.toString()}`}`;
  };
  const record = recordOf(task, at, settings, names, linkOf);
  const word = effects.find((effect) => effect.kind === 'status-word');
  const finished = ['SUCCESS', 'FAILURE', 'CANCEL', 'MODAL'].includes(record.status ?? '');
  return {
    ...record,
    ...(link === 'missing' && { imageUrl: null, videoUrl: '', videoUrls: null }),
    ...(link === 'missing' && 'imageUrls' in record && { imageUrls: null }),
    ...(link === 'stale-videos' && { videoUrls: record.videoUrls?.map((video) => stale(video, at)) ?? null }),
    ...(word !== undefined && !finished && { status: word.word }),
  };
}

function stale(link: WireLink, at: number): WireLink {
  const expired = (url: string): string => `${url.split('?', 1)[0]}?ex=${at - 1}`;
  return typeof link === 'string' ? expired(link) : { ...link, url: expired(link.url ?? '') };
}

/** GET …/image/{id} and …/image/{id}/{n}: a picture, its preview, or the nth video. */
export async function respondToImage(
  parts: ServiceParts,
  route: Endpoint,
  { query, effects, gone }: Visit,
): Promise<SandboxResponse> {
  const { book, settings, studio, now } = parts;
  const json = effects.find((effect) => effect.kind === 'json');
  if (json !== undefined) return jsonReply(json.status, { error: 'http_get_image_failed' });
  if (effects.some(({ kind }) => kind === 'challenge')) {
    const body = '<!doctype html><title>Just a moment...</title><p>Checking your browser.</p>';
    return { status: 403, type: 'text/html; charset=utf-8', body, headers: { 'cf-mitigated': 'challenge' } };
  }
  const task = book.get(route.taskId);
  if (task === undefined) return jsonReply(404, { error: 'task_not_found' });
  const at = now();
  const expires = query.get('ex');
  if (expires === null ? settings.linkLife > 0 : !(Number(expires) > at)) {
    return jsonReply(403, { error: 'This content is no longer available.' });
  }
  const { status, percent = 0 } = momentOf(task, at);
  const { drawing, films } = task;
  const names = imagesIn([...drawing.frames, ...(films ?? []).flatMap(({ end }) => end ?? [])]);
  if (names.some((sha256) => book.images.get(sha256) === undefined)) {
    return jsonReply(410, { error: 'The image that this was made from is not kept any more.' });
  }
  if (route.output !== undefined) {
    const { quirks } = settings;
    if (
      films === undefined &&
      quirks.has('no-grids') &&
      status === 'SUCCESS' &&
      route.output <= drawing.frames.length
    )
      return await finished(parts, upscaleDrawing(drawing, route.output - 1), effects, gone);
    const film = status === 'SUCCESS' ? films?.[route.output - 1] : undefined;
    if (film === undefined) return jsonReply(404, { error: 'image_not_found' });
    return { status: 200, type: 'image/webp', body: await studio.film(film, gone) };
  }
  if (status === 'SUCCESS') return await finished(parts, drawing, effects, gone);
  if (status === 'IN_PROGRESS' && !settings.quirks.has('no-previews')) {
    return { status: 200, type: 'image/png', body: await studio.preview(drawing, percent, gone) };
  }
  return jsonReply(404, { error: 'image_not_found' });
}

/** A finished picture, or half of a JPEG if a fault asks for that. */
async function finished(
  { studio }: ServiceParts,
  drawing: Drawing,
  effects: readonly FaultEffect[],
  gone: AbortSignal,
): Promise<SandboxResponse> {
  const body = await studio.picture(drawing, gone);
  if (!effects.some(({ kind }) => kind === 'half-jpeg')) return { status: 200, type: 'image/png', body };
  const whole = await sharp(body).jpeg().toBuffer();
  const half = whole.subarray(0, Math.floor(whole.length / 2));
  return { status: 200, type: 'image/jpeg', body: Buffer.concat([half, Buffer.from('ffd9', 'hex')]) };
}
