import { setTimeout as wait } from 'node:timers/promises';
import { digestOf } from '../../seeded.ts';
import { jsonReply, type SandboxResponse } from '../reply/reply.ts';
import { streamReply } from '../reply/text-reply.ts';
import { errorResponse, membersOf, type ServiceParts, type Visit } from '../visit.ts';
import type { Endpoint } from './route.ts';

/** The text endpoints, native and chat, whole or streamed. */
export async function respondToText(
  parts: ServiceParts,
  route: Endpoint,
  visit: Visit,
): Promise<SandboxResponse> {
  const { texts, settings, now, closing } = parts;
  const { query, requestId } = visit;
  const members = await membersOf(parts, visit);
  if (!members.ok) return members.error;
  const stamp = { responseId: digestOf(`response ${requestId}`).slice(0, 24), at: now() };
  const reply =
    route.name === 'generate'
      ? await texts.generate(decoded(route.model ?? ''), route.stream === true, members.value, stamp)
      : await texts.chat(members.value, stamp);
  if (!reply.ok) {
    const { status, message, code } = reply.error;
    return errorResponse(parts, requestId, status, message, {}, code);
  }
  const { model, usage, written, whole, events, spoilt } = reply.value;
  const perToken = settings.tokenLatency * settings.pace;
  const time = settings.textLatency * settings.pace + (events === undefined ? written * perToken : 0);
  if (time > 0) await wait(time, undefined, { signal: closing });
  const text = { model, usage };
  if (events === undefined) return { ...jsonReply(200, whole), text };
  const manner = route.name === 'chat' ? 'chat-events' : query.get('alt') === 'sse' ? 'events' : 'array';
  return { ...streamReply({ events, usage, spoilt }, manner, perToken), text };
}

/** A path segment without its escapes; as it is where they are none. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
