import { setTimeout as wait } from 'node:timers/promises';
import { digestOf } from '../../seeded.ts';
import type { Usage } from '../../text/models.ts';
import type { StreamEvent } from '../../text/protocol/native-write.ts';
import { jsonReply, type ResponsePiece, type SandboxResponse } from '../reply.ts';
import { errorResponse, membersOf, type ServiceParts, type Visit } from '../visit.ts';
import type { Endpoint } from './route.ts';

/** Answers the native and the chat endpoint, whole or streamed. */
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

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The form of a stream's events. */
type StreamManner =
  /** Server-sent events that end with the connection (gateway 6.7). */
  | 'events'
  /** Server-sent events that end with `[DONE]`. */
  | 'chat-events'
  /** One JSON array: the native endpoint without `alt=sse`. */
  | 'array';

/**
 * Returns a streamed response, whose pieces are the events. `perToken` is in milliseconds. The whole usage counts as received at the
 * end, even if chat was not asked for it.
 */
function streamReply(
  {
    events,
    usage: whole,
    spoilt,
  }: { readonly events: readonly StreamEvent[]; readonly usage: Usage; readonly spoilt: boolean },
  manner: StreamManner,
  perToken: number,
): Pick<SandboxResponse, 'status' | 'type' | 'body' | 'pieces'> {
  const pieces = events.map(({ value, tokens, usage, bare = false }, index): ResponsePiece => {
    const json = JSON.stringify(value);
    return {
      body:
        manner === 'array'
          ? `${index === 0 ? '[' : ',\r\n'}${json}`
          : `${bare ? '' : 'data: '}${json}${ends[manner]}`,
      wait: tokens * perToken,
      ...(usage === undefined ? {} : { usage }),
    };
  });
  const end = { wait: 0, ...(spoilt ? {} : { usage: whole }) };
  if (manner === 'array') pieces.push({ ...end, body: pieces.length === 0 ? '[]' : ']' });
  else if (manner === 'chat-events' && !spoilt) pieces.push({ ...end, body: 'data: [DONE]\n\n' });
  return {
    status: 200,
    type: manner === 'array' ? 'application/json; charset=utf-8' : 'text/event-stream',
    body: '',
    pieces,
  };
}

const ends = { events: '\r\n\r\n', 'chat-events': '\n\n' } as const;
