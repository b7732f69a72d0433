import type { StreamEvent } from '../../text/protocol/native/stream.ts';
import type { Usage } from '../../text/tokens.ts';
import type { ResponsePiece, SandboxResponse } from './reply.ts';

/** How the events of a stream are written. */
export type StreamManner =
  /** Server-sent events that end with the connection (gateway 6.7). */
  | 'events'
  /** Server-sent events that end with `[DONE]`. */
  | 'chat-events'
  /** One JSON array, as the native endpoint streams without `alt=sse`. */
  | 'array';

/**
 * A stream's events as the pieces of a reply. `perToken` in milliseconds. A stream without a fault counts as received to
 * its end, even where chat was not asked for the usage.
 */
export function streamReply(
  {
    events,
    usage: whole,
    spoilt,
  }: {
    readonly events: readonly StreamEvent[];
    readonly usage: Usage;
    readonly spoilt: boolean;
  },
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
