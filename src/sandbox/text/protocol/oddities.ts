import type { Quirk } from '../../quirks.ts';
import type { ModelReply } from '../answer.ts';
import type { StreamEvent } from './native/stream.ts';

/** How an endpoint writes a reply. */
export interface Writing {
  whole(reply: ModelReply): unknown;
  events(reply: ModelReply, mishap: ModelReply['mishap']): readonly StreamEvent[];
}

type Wire = Readonly<Record<string, unknown>>;
type Endpoint = 'generate' | 'chat';

/** An endpoint as gateways write it that go beyond the contract: each of the quirks of texts changes what the contract writes. */
export function oddWriting(write: Writing, endpoint: Endpoint, quirks: ReadonlySet<Quirk>): Writing {
  const odd = (value: unknown): unknown => {
    let wire = value as Wire;
    if (quirks.has('total-tokens')) wire = withTotalAlone(wire);
    if (endpoint === 'chat' && quirks.has('no-finish-reason')) wire = withoutReasons(wire);
    return endpoint === 'generate' && quirks.has('snake-case') ? inSnakeCase(wire) : wire;
  };
  return {
    whole: (reply) => odd(write.whole(reply)),
    events: (reply, mishap) => {
      if (endpoint === 'chat' && reply.blocked !== undefined && quirks.has('no-candidates'))
        return [{ value: odd(unanswered(write.whole(reply) as Wire)), tokens: 0, usage: reply.usage }];
      return write.events(reply, mishap).map((event) => {
        const failed = quirks.has('bare-errors') && (event.value as Wire)['error'] !== undefined;
        if (!failed) return { ...event, value: odd(event.value) };
        return endpoint === 'chat'
          ? { ...event, value: inChoice }
          : { ...event, value: (event.value as Wire)['error'], bare: true };
      });
    },
  };
}

/** JSON as models write it behind their thinking, in a sentence, with a comma too many. */
export const looseReply = (reply: ModelReply): ModelReply => ({
  ...reply,
  candidates: reply.candidates.map((candidate) => ({
    ...candidate,
    parts: candidate.parts.map((part) =>
      part.kind === 'text' && /[}\]]$/.test(part.text)
        ? {
            ...part,
            text: `<think>\nIs it {"a": 1}?\n</think>\nHere is the JSON:\n${part.text.slice(0, -1)}${/[{[]\s*.$/s.test(part.text) ? '' : ','}${part.text.slice(-1)}\nDone.`,
          }
        : part,
    ),
  })),
});

/** A failure of the provider in the middle of a chat stream, as a choice tells it. */
const inChoice = {
  object: 'chat.completion.chunk',
  choices: [
    {
      index: 0,
      delta: {},
      finish_reason: 'error',
      error: { code: 503, message: 'The model is overloaded. Please try again later.' },
    },
  ],
};

/** No choice, and counts which say that none was made: how one gateway streams the reply to a blocked prompt. */
const unanswered = (whole: Wire): Wire => ({
  ...whole,
  object: 'chat.completion.chunk',
  choices: [],
  usage: { ...(whole['usage'] as Wire), completion_tokens: 0 },
});

function withTotalAlone(wire: Wire): Wire {
  const [native, chat] = [wire['usageMetadata'], wire['usage']] as readonly (Wire | null | undefined)[];
  return {
    ...wire,
    ...(native && { usageMetadata: { totalTokenCount: native['totalTokenCount'] } }),
    ...(chat && { usage: { total_tokens: chat['total_tokens'] } }),
  };
}

const withoutReasons = (wire: Wire): Wire => ({
  ...wire,
  choices: (wire['choices'] as readonly Wire[]).map((choice) => ({ ...choice, finish_reason: null })),
});

const numbers: Readonly<Record<string, number>> = {
  STOP: 1,
  MAX_TOKENS: 2,
  SAFETY: 3,
  RECITATION: 4,
  OTHER: 5,
};

/** A native reply as the vendor's Python library prints it: members in snake case, reasons as numbers. */
function inSnakeCase<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => inSnakeCase(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name === 'args'
      ? inner
      : name === 'finishReason'
        ? (numbers[inner as string] ?? inner)
        : inSnakeCase(inner),
  ]);
  return Object.fromEntries(entries) as T;
}
