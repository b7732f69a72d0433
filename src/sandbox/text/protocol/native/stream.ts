import type { ModelReply } from '../../answer.ts';
import type { Usage } from '../../tokens.ts';
import { type Slice, slicesOf } from '../slices.ts';
import { blockedReply, contentOf, nativeEnd, partOf, replyTail, type Stamp } from './write.ts';

/** One event of a stream: its parts, its tokens, and the usage that the client knows by then. */
export interface StreamEvent {
  readonly value: unknown;
  readonly tokens: number;
  readonly usage?: Usage;
  /** A line of its own, and no event. */
  readonly bare?: boolean;
}

/** What a stream says in its middle that fails there (gateway 6.7). */
const unavailable = {
  error: {
    code: 503,
    message: 'The model is overloaded. Please try again later.',
    status: 'UNAVAILABLE',
  },
};

/** The events of a streamed answer (gateway 6.7). */
export function nativeEvents(
  reply: ModelReply,
  stamp: Stamp,
  digest: string,
  mishap: ModelReply['mishap'],
): readonly StreamEvent[] {
  if (reply.blocked !== undefined) {
    return [{ value: blockedReply(reply, stamp), tokens: 0, usage: reply.usage }];
  }
  const events = slicesOf(reply, digest).map((slice) => ({
    value: eventOf(slice, stamp),
    tokens: slice.tokens,
    usage: slice.usage,
    ends: slice.ends !== undefined,
  }));
  if (mishap === undefined) return events;
  const kept = events.filter(({ ends }) => !ends);
  const half = kept.slice(0, Math.ceil(kept.length / 2));
  return mishap === 'cut' ? half : [...half, { value: unavailable, tokens: 0 }];
}

function eventOf({ candidate, part, ends, usage }: Slice, stamp: Stamp): unknown {
  const parts =
    part === undefined ? [] : [part.kind === 'thought' ? { text: part.text, thought: true } : partOf(part)];
  return {
    candidates: [
      {
        ...(part === undefined && ends !== undefined && ends.parts.length > 0
          ? {}
          : { content: contentOf(parts) }),
        ...(ends === undefined ? {} : nativeEnd(ends)),
        index: candidate,
      },
    ],
    ...replyTail(usage, stamp),
  };
}
