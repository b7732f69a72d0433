import { members } from '../../http/json.ts';
import type { ReplyUsage } from '../../result.ts';
import type { JsonObject } from '../../text-service.ts';
import { objectsIn, withNativeNames } from '../reply/native.ts';
import { mergedCounts, readNativeUsage } from '../reply/usage.ts';
import { type Gathered, gather, gatherList, inIndexOrder, weightOf } from './merge.ts';

/** Joins the events of a stream into one reply. */
export interface Gatherer {
  /** Adds an event. @returns about how many bytes of it are kept */
  add(event: JsonObject): number;
  /** Whether each candidate has a finish reason, or the prompt was blocked and there are none. */
  readonly isFinished: boolean;
  readonly candidates: number;
  /** Token counts so far. */
  readonly usage: ReplyUsage | undefined;
  /** Whether `[DONE]` may end the stream without a finish reason. */
  readonly mayLackReason: boolean;
  /** Returns the result as one object, like a reply that is not streamed. Nothing may be added afterwards. */
  whole(): JsonObject;
}

/**
 * Joins the events of streamGenerateContent (gateway 6.7): parts in order, with neighbouring deltas of text, and of thoughts, joined;
 * the largest of each count; the last ratings and reasons.
 */
export class NativeGatherer implements Gatherer {
  readonly mayLackReason = false;
  readonly #members: Gathered = new Map();
  readonly #candidates = new Map<number, Candidate>();

  get candidates(): number {
    return this.#candidates.size;
  }

  get isFinished(): boolean {
    const feedback = members(this.#members.get('promptFeedback'));
    if (typeof feedback?.['blockReason'] === 'string') return true;
    const candidates = [...this.#candidates.values()];
    return candidates.length > 0 && candidates.every((candidate) => candidate.isFinished);
  }

  get usage(): ReplyUsage | undefined {
    return readNativeUsage(this.#members.get('usageMetadata'));
  }

  add(event: JsonObject): number {
    let kept = 0;
    for (const [name, value] of Object.entries(withNativeNames(event))) {
      if (name === 'candidates') kept += gatherList(this.#candidates, value, () => new Candidate());
      else if (name === 'usageMetadata')
        this.#members.set(name, mergedCounts(this.#members.get(name), value));
      else {
        const weight = gather(this.#members, name, value);
        if (typeof value === 'object') kept += weight;
      }
    }
    return kept;
  }

  whole(): JsonObject {
    const candidates = inIndexOrder(this.#candidates).map(([index, candidate]) => candidate.whole(index));
    return Object.fromEntries([
      ...(candidates.length > 0 ? [['candidates', candidates] as const] : []),
      ...this.#members,
    ]);
  }
}

/** Members of a candidate that each event repeats. */
const repeated = new Set(['safetyRatings', 'tokenCount', 'avgLogprobs']);

class Candidate {
  readonly #members: Gathered = new Map();
  readonly #content: Gathered = new Map();
  readonly #parts: JsonObject[] = [];
  /** The text of the last part, while more text may follow. */
  #open: { readonly text: string[]; readonly thought: boolean } | undefined;
  #hasContent = false;

  get isFinished(): boolean {
    const reason = this.#members.get('finishReason');
    return typeof reason === 'string' && reason !== '';
  }

  add(event: JsonObject): number {
    let kept = 0;
    for (const [name, value] of Object.entries(event)) {
      if (name === 'content') kept += this.#addContent(members(value));
      else if (name === 'index') continue;
      else if (repeated.has(name)) this.#members.set(name, value);
      else kept += gather(this.#members, name, value);
    }
    return kept;
  }

  whole(index: number): JsonObject {
    this.#close();
    const content = {
      ...Object.fromEntries(this.#content),
      ...(this.#parts.length > 0 && { parts: this.#parts }),
    };
    return { ...(this.#hasContent && { content }), ...Object.fromEntries(this.#members), index };
  }

  #addContent(content: JsonObject | undefined): number {
    if (content === undefined) return 0;
    this.#hasContent = true;
    for (const [name, value] of Object.entries(content)) {
      if (name !== 'parts') this.#content.set(name, value);
    }
    return objectsIn(content['parts']).reduce((sum, part) => sum + this.#addPart(part), 0);
  }

  #addPart(part: JsonObject): number {
    const delta = deltaOf(part);
    if (delta === undefined) {
      this.#close();
      this.#parts.push(part);
      return weightOf(part);
    }
    if (delta.text === '') return 0;
    if (this.#open?.thought !== delta.thought) {
      this.#close();
      this.#open = { text: [], thought: delta.thought };
    }
    this.#open?.text.push(delta.text);
    return 24 + delta.text.length;
  }

  #close(): void {
    if (this.#open === undefined) return;
    const { text, thought } = this.#open;
    this.#parts.push({ text: text.join(''), ...(thought && { thought }) });
    this.#open = undefined;
  }
}

/**
 * Returns a part that is text and nothing else. A part with a signature is sent back as it came (gateway 6.4): joined to others it
 * would sign text that it does not belong to.
 */
function deltaOf(part: JsonObject): { readonly text: string; readonly thought: boolean } | undefined {
  const { text, thought = false, ...others } = part;
  if (typeof text !== 'string' || typeof thought !== 'boolean') return undefined;
  return Object.keys(others).length === 0 ? { text, thought } : undefined;
}
