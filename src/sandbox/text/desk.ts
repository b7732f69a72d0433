import { imagineDrawing, upscaleDrawing } from '../draw/lineage.ts';
import type { Studio } from '../draw/studio.ts';
import { parsePrompt } from '../prompt/flags.ts';
import type { Quirk } from '../quirks.ts';
import type { ModelReply } from './answer.ts';
import { type Ask, type Members, refuse, type Understood, unknownModel } from './ask.ts';
import { type Composing, composeReply, type TextMarks } from './compose.ts';
import { findModel, modalSum, type Usage } from './models.ts';
import { readChat } from './protocol/chat-read.ts';
import { chatEvents, chatReply } from './protocol/chat-write.ts';
import { readNative } from './protocol/native-read.ts';
import { nativeEvents, nativeReply, type Stamp, type StreamEvent } from './protocol/native-write.ts';

interface TextDeskParts {
  readonly settings: TextMarks & { readonly anyModel: boolean; readonly quirks: ReadonlySet<Quirk> };
  readonly names: { readonly searchTool: string; readonly mapsTool: string };
  readonly studio: Studio;
}

/** A reply as one endpoint writes it: a whole body, or the events of a stream. */
interface TextResponse {
  readonly model: string;
  readonly usage: Usage;
  /** Tokens that were written: what the reply takes its time for. */
  readonly written: number;
  readonly whole?: unknown;
  readonly events?: readonly StreamEvent[];
  /** The stream breaks off before its end. */
  readonly spoilt: boolean;
}

/** Streams that were spoilt once are remembered, the newest of them. */
const mostSpoilt = 10_000;

/** Answers the two text endpoints. All but the ids and times of a reply depends on the request alone. */
export class TextDesk {
  readonly #parts: TextDeskParts;
  readonly #making: Composing;
  readonly #spoilt = new Set<string>();

  constructor(parts: TextDeskParts) {
    this.#parts = parts;
    const { settings, studio } = parts;
    this.#making = {
      marks: settings,
      paint: (prompt, seed, { aspect, scale }, candidate) => {
        const parsed = parsePrompt(prompt);
        const flags = {
          ...parsed.flags,
          seed,
          ...(aspect === undefined ? {} : { aspect: [aspect, 1] as const }),
        };
        const grid = imagineDrawing({ text: parsed.text, flags });
        return studio.picture(upscaleDrawing(grid, candidate % 4), scale);
      },
    };
  }

  /** The native endpoint (gateway 6.1). */
  async generate(
    modelId: string,
    stream: boolean,
    body: Members,
    stamp: Omit<Stamp, 'model'>,
  ): Promise<Understood<TextResponse>> {
    const model = findModel(modelId, this.#parts.settings.anyModel);
    if (model === undefined) return unknownModel(modelId);
    if (!model.endpoints.includes('gemini')) {
      return refuse(
        `models/${modelId} is not found for API version v1beta, or is not supported for generateContent`,
        404,
      );
    }
    const ask = readNative(body, model, this.#parts.names);
    if (!ask.ok) return ask;
    const { digest } = ask.value;
    return this.#replyTo('generate', ask.value, stream, {
      whole: (reply) => nativeReply(reply, { ...stamp, model }),
      events: (reply, mishap) => nativeEvents(reply, { ...stamp, model }, digest, mishap),
    });
  }

  /** The chat endpoint (gateway 7.1). */
  async chat(body: Members, stamp: Omit<Stamp, 'model'>): Promise<Understood<TextResponse>> {
    const id = body['model'];
    if (id === undefined || id === null || id === '') return refuse('model name is required');
    if (typeof id !== 'string') return refuse('model: expected a string');
    const model = findModel(id, this.#parts.settings.anyModel);
    if (model === undefined) return unknownModel(id);
    const read = readChat(body, model);
    if (!read.ok) return read;
    const { ask, stream, streamUsage: withUsage, isFunctionCall } = read.value;
    return this.#replyTo('chat', ask, stream, {
      whole: (reply) => chatReply(reply, { ...stamp, model }, isFunctionCall),
      events: (reply, mishap) =>
        chatEvents(reply, { ...stamp, model }, ask.digest, mishap, { withUsage, isFunctionCall }),
    });
  }

  async #replyTo(
    endpoint: 'generate' | 'chat',
    ask: Ask,
    stream: boolean,
    contract: Writing,
  ): Promise<Understood<TextResponse>> {
    const composed = await composeReply(ask, this.#making);
    if (!composed.ok) return composed;
    const { quirks } = this.#parts.settings;
    const reply =
      ask.json !== undefined && quirks.has('loose-json') ? looseReply(composed.value) : composed.value;
    if (reply.blocked !== undefined && quirks.has('no-candidates') && (endpoint === 'generate' || !stream))
      return refuse('no candidates', 500, 'no_candidates');
    const write = oddWriting(contract, endpoint, quirks);
    const { usage } = reply;
    const written = modalSum(usage.candidates) + usage.thoughts;
    const about = { model: ask.model.id, usage, written };
    if (!stream) return { ok: true, value: { ...about, whole: write.whole(reply), spoilt: false } };
    const mishap = this.#mishap(ask, reply);
    const events = write.events(reply, mishap);
    return { ok: true, value: { ...about, events, spoilt: mishap !== undefined } };
  }

  /** A stream breaks only the first time, so that a repeated request succeeds. */
  #mishap({ digest }: Ask, { mishap }: ModelReply): ModelReply['mishap'] {
    if (mishap === undefined || this.#spoilt.has(digest)) return undefined;
    this.#spoilt.add(digest);
    if (this.#spoilt.size > mostSpoilt) {
      const [oldest] = this.#spoilt;
      if (oldest !== undefined) this.#spoilt.delete(oldest);
    }
    return mishap;
  }
}

interface Writing {
  whole(reply: ModelReply): unknown;
  events(reply: ModelReply, mishap: ModelReply['mishap']): readonly StreamEvent[];
}

type Wire = Readonly<Record<string, unknown>>;
type Endpoint = 'generate' | 'chat';

/** An endpoint as gateways write it that go beyond the contract: each of the quirks of texts changes what the contract writes. */
function oddWriting(write: Writing, endpoint: Endpoint, quirks: ReadonlySet<Quirk>): Writing {
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
const looseReply = (reply: ModelReply): ModelReply => ({
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
