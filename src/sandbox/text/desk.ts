import { imagineDrawing, upscaleDrawing } from '../draw/lineage.ts';
import type { Studio } from '../draw/studio.ts';
import { parsePrompt } from '../prompt/flags.ts';
import type { TextAnswer } from './answer.ts';
import type { Ask, Members } from './ask.ts';
import { type Composing, composeAnswer } from './compose/compose.ts';
import type { TextMarks } from './compose/marks.ts';
import { findModel } from './models.ts';
import { readChat } from './protocol/chat/read.ts';
import { chatAnswer, chatEvents } from './protocol/chat/write.ts';
import { readNative } from './protocol/native/read.ts';
import { nativeEvents, type StreamEvent } from './protocol/native/stream.ts';
import { nativeAnswer, type Stamp } from './protocol/native/write.ts';
import { refuse, type Understood, unknownModel } from './protocol/problem.ts';
import { sumOf, type Usage } from './tokens.ts';

/** What the text desk knows of the service around it. */
export interface TextDeskParts {
  readonly settings: TextMarks & { readonly anyModel: boolean };
  readonly names: { readonly searchTool: string; readonly mapsTool: string };
  readonly studio: Studio;
}

/** An answer as one endpoint writes it: a whole body, or the events of a stream. */
export interface TextReply {
  readonly model: string;
  readonly usage: Usage;
  /** Tokens that were written: what the answer takes its time for. */
  readonly written: number;
  readonly whole?: unknown;
  readonly events?: readonly StreamEvent[];
  /** The stream does not come to its end. */
  readonly spoilt: boolean;
}

/** How an endpoint writes an answer. */
interface Writing {
  whole(answer: TextAnswer): unknown;
  events(answer: TextAnswer, mishap: TextAnswer['mishap']): readonly StreamEvent[];
}

/** Streams that were spoilt once are remembered, the newest of them. */
const mostSpoilt = 10_000;

/** Answers the two text endpoints. All but the ids and times of an answer depends on the request alone. */
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
  ): Promise<Understood<TextReply>> {
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
    return this.#answered(ask.value, stream, {
      whole: (answer) => nativeAnswer(answer, { ...stamp, model }),
      events: (answer, mishap) => nativeEvents(answer, { ...stamp, model }, digest, mishap),
    });
  }

  /** The chat endpoint (gateway 7.1). */
  async chat(body: Members, stamp: Omit<Stamp, 'model'>): Promise<Understood<TextReply>> {
    const id = body['model'];
    if (id === undefined || id === null || id === '') return refuse('model name is required');
    if (typeof id !== 'string') return refuse('model: expected a string');
    const model = findModel(id, this.#parts.settings.anyModel);
    if (model === undefined) return unknownModel(id);
    const read = readChat(body, model);
    if (!read.ok) return read;
    const { ask, stream, streamUsage: withUsage, isFunctionCall } = read.value;
    return this.#answered(ask, stream, {
      whole: (answer) => chatAnswer(answer, { ...stamp, model }, isFunctionCall),
      events: (answer, mishap) =>
        chatEvents(answer, { ...stamp, model }, ask.digest, mishap, { withUsage, isFunctionCall }),
    });
  }

  async #answered(ask: Ask, stream: boolean, write: Writing): Promise<Understood<TextReply>> {
    const answer = await composeAnswer(ask, this.#making);
    if (!answer.ok) return answer;
    const { usage } = answer.value;
    const written = sumOf(usage.candidates) + usage.thoughts;
    const about = { model: ask.model.id, usage, written };
    if (!stream) return { ok: true, value: { ...about, whole: write.whole(answer.value), spoilt: false } };
    const mishap = this.#mishap(ask, answer.value);
    const events = write.events(answer.value, mishap);
    return { ok: true, value: { ...about, events, spoilt: mishap !== undefined } };
  }

  /** A stream is spoilt the first time it is asked for, so that asking again helps. */
  #mishap({ digest }: Ask, { mishap }: TextAnswer): TextAnswer['mishap'] {
    if (mishap === undefined || this.#spoilt.has(digest)) return undefined;
    this.#spoilt.add(digest);
    if (this.#spoilt.size > mostSpoilt) {
      const [oldest] = this.#spoilt;
      if (oldest !== undefined) this.#spoilt.delete(oldest);
    }
    return mishap;
  }
}
