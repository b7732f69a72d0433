import { imagineDrawing, upscaleDrawing } from '../draw/lineage.ts';
import type { Studio } from '../draw/studio.ts';
import { parsePrompt } from '../prompt/flags.ts';
import type { Quirk } from '../quirks.ts';
import type { ModelReply } from './answer.ts';
import type { Ask, Members } from './ask.ts';
import { type Composing, composeReply } from './compose/compose.ts';
import type { TextMarks } from './compose/marks.ts';
import { findModel } from './models.ts';
import { readChat } from './protocol/chat/read.ts';
import { chatEvents, chatReply } from './protocol/chat/write.ts';
import { readNative } from './protocol/native/read.ts';
import { nativeEvents, type StreamEvent } from './protocol/native/stream.ts';
import { nativeReply, type Stamp } from './protocol/native/write.ts';
import { looseReply, oddWriting, type Writing } from './protocol/oddities.ts';
import { refuse, type Understood, unknownModel } from './protocol/problem.ts';
import { modalSum, type Usage } from './tokens.ts';

/** What the text desk knows of the service around it. */
export interface TextDeskParts {
  readonly settings: TextMarks & { readonly anyModel: boolean; readonly quirks: ReadonlySet<Quirk> };
  readonly names: { readonly searchTool: string; readonly mapsTool: string };
  readonly studio: Studio;
}

/** A reply as one endpoint writes it: a whole body, or the events of a stream. */
export interface TextResponse {
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
