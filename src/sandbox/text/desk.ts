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

/** A reply in the form of one endpoint: a whole body, or the events of a stream. */
interface TextResponse {
  readonly model: string;
  readonly usage: Usage;
  /** Number of written tokens, which decides how long the reply takes. */
  readonly written: number;
  readonly whole?: unknown;
  readonly events?: readonly StreamEvent[];
  /** Whether the stream fails before its end. */
  readonly spoilt: boolean;
}

/** Number of failed streams that are remembered, the newest of all. */
const maxSpoilt = 10_000;

/** Answers the two text endpoints. A reply depends only on its request, but for its ids and times. */
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
        const flags = { ...parsed.flags, seed, ...(aspect && { aspect: [aspect, 1] as const }) };
        const grid = imagineDrawing({ text: parsed.text, flags });
        return studio.picture(upscaleDrawing(grid, candidate % 4), undefined, scale);
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
    endpoint: Endpoint,
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

  /** Returns the failure of a stream only the first time, so that a repeated request succeeds. */
  #mishap({ digest }: Ask, { mishap }: ModelReply): ModelReply['mishap'] {
    if (mishap === undefined || this.#spoilt.has(digest)) return undefined;
    this.#spoilt.add(digest);
    if (this.#spoilt.size > maxSpoilt) {
      const [oldest] = this.#spoilt;
      if (oldest !== undefined) this.#spoilt.delete(oldest);
    }
    return mishap;
  }
}

/** The writers of one endpoint. */
interface Writing {
  whole(reply: ModelReply): unknown;
  events(reply: ModelReply, mishap: ModelReply['mishap']): readonly StreamEvent[];
}

type Endpoint = 'generate' | 'chat';

/** Returns the writers of an endpoint with the quirks of texts. */
function oddWriting(write: Writing, endpoint: Endpoint, quirks: ReadonlySet<Quirk>): Writing {
  const odd = (value: unknown): unknown => {
    let wire = value as Members;
    if (quirks.has('total-tokens')) wire = withTotalAlone(wire);
    if (endpoint === 'chat' && quirks.has('no-finish-reason')) wire = withoutReasons(wire);
    return endpoint === 'generate' && quirks.has('snake-case') ? inSnakeCase(wire) : wire;
  };
  return {
    whole: (reply) => odd(write.whole(reply)),
    events: (reply, mishap) => {
      if (endpoint === 'chat' && reply.blocked !== undefined && quirks.has('no-candidates'))
        return [{ value: odd(unanswered(write.whole(reply) as Members)), tokens: 0, usage: reply.usage }];
      return write.events(reply, mishap).map((event) => {
        const failed = quirks.has('bare-errors') && (event.value as Members)['error'] !== undefined;
        if (!failed) return { ...event, value: odd(event.value) };
        return endpoint === 'chat'
          ? { ...event, value: inChoice }
          : { ...event, value: (event.value as Members)['error'], bare: true };
      });
    },
  };
}

/** Writes JSON behind thinking, in a sentence, with a comma too many. */
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

/** The event of a chat stream whose provider failed, with the error in a choice. */
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

/** Writes the reply to a blocked prompt as one gateway streams it: without choices and completion tokens. */
const unanswered = (whole: Members): Members => ({
  ...whole,
  object: 'chat.completion.chunk',
  choices: [],
  usage: { ...(whole['usage'] as Members), completion_tokens: 0 },
});

function withTotalAlone(wire: Members): Members {
  const [native, chat] = [wire['usageMetadata'], wire['usage']] as readonly (Members | null | undefined)[];
  return {
    ...wire,
    ...(native && { usageMetadata: { totalTokenCount: native['totalTokenCount'] } }),
    ...(chat && { usage: { total_tokens: chat['total_tokens'] } }),
  };
}

const withoutReasons = (wire: Members): Members => ({
  ...wire,
  choices: (wire['choices'] as readonly Members[]).map((choice) => ({ ...choice, finish_reason: null })),
});

const numbers: Readonly<Record<string, number>> = {
  STOP: 1,
  MAX_TOKENS: 2,
  SAFETY: 3,
  RECITATION: 4,
  OTHER: 5,
};

/** Writes a native reply as the vendor's Python library prints it: members in snake case, reasons as numbers. */
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
