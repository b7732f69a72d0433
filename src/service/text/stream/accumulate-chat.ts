import { members } from '../../http/json.ts';
import type { ReplyUsage } from '../../result.ts';
import type { JsonObject } from '../../text-service.ts';
import { chatUsageIn, mergedCounts } from '../reply/usage.ts';
import type { Gatherer } from './accumulate-native.ts';
import { type Gathered, gather, gatherList, inIndexOrder, weightOf } from './merge.ts';

/** Joins the chunks of a chat stream (gateway 7.1) into one `chat.completion`. */
export class ChatGatherer implements Gatherer {
  readonly mayLackReason = true;
  readonly #members: Gathered = new Map();
  readonly #choices = new Map<number, Choice>();

  get candidates(): number {
    return this.#choices.size;
  }

  get isFinished(): boolean {
    const choices = [...this.#choices.values()];
    return choices.length > 0 && choices.every((choice) => choice.isFinished);
  }

  get usage(): ReplyUsage | undefined {
    const choices = [...this.#choices.values()].map(({ usage }) => ({ usage }));
    return chatUsageIn({ usage: this.#members.get('usage'), x_groq: this.#members.get('x_groq'), choices });
  }

  add(event: JsonObject): number {
    let kept = 0;
    for (const [name, value] of Object.entries(event)) {
      if (name === 'choices') kept += gatherList(this.#choices, value, () => new Choice());
      else if (name === 'usage') this.#members.set(name, mergedCounts(this.#members.get(name), value));
      else {
        const weight = gather(this.#members, name, value);
        if (typeof value === 'object') kept += weight;
      }
    }
    return kept;
  }

  whole(): JsonObject {
    const choices = inIndexOrder(this.#choices).map(([index, choice]) => choice.whole(index));
    const whole = new Map(this.#members);
    if (whole.get('object') === 'chat.completion.chunk') whole.set('object', 'chat.completion');
    if (choices.length > 0) whole.set('choices', choices);
    return Object.fromEntries(whole);
  }
}

/** Members of a delta that hold a piece of text. */
const pieces = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);

class Choice {
  readonly #members: Gathered = new Map();
  readonly #message: Gathered = new Map();
  readonly #texts = new Map<string, string[]>();
  readonly #calls = new Map<number, Call>();
  /** The single call under the older name of the protocol (`function_call`). */
  #functionCall: Call | undefined;

  get usage(): unknown {
    return this.#members.get('usage');
  }

  get isFinished(): boolean {
    const reason = this.#members.get('finish_reason');
    return (typeof reason === 'string' && reason !== '') || members(this.#members.get('error')) !== undefined;
  }

  add(event: JsonObject): number {
    let kept = 0;
    for (const [name, value] of Object.entries(event)) {
      if (name === 'delta') kept += this.#addDelta(members(value) ?? {});
      else if (name === 'usage') this.#members.set(name, mergedCounts(this.#members.get(name), value));
      else if (name !== 'index') kept += gather(this.#members, name, value);
    }
    return kept;
  }

  whole(index: number): JsonObject {
    const message = new Map(this.#message);
    for (const [name, texts] of this.#texts) message.set(name, texts.join(''));
    const calls = inIndexOrder(this.#calls).map(([, call]) => call.whole());
    if (calls.length > 0) message.set('tool_calls', calls);
    if (this.#functionCall !== undefined)
      message.set('function_call', this.#functionCall.whole()['function']);
    // An event with a whole `message` replaces the result of its deltas.
    return { index, message: Object.fromEntries(message), ...Object.fromEntries(this.#members) };
  }

  #addDelta(delta: JsonObject): number {
    let kept = 0;
    for (const [name, value] of Object.entries(delta)) {
      if (pieces.has(name) && typeof value === 'string') {
        const texts = this.#texts.get(name);
        if (texts === undefined) this.#texts.set(name, [value]);
        else texts.push(value);
        kept += 24 + value.length;
      } else if (name === 'tool_calls') {
        kept += gatherList(this.#calls, value, () => new Call());
      } else if (name === 'function_call' && members(value) !== undefined) {
        this.#functionCall ??= new Call();
        kept += this.#functionCall.add({ function: value });
      } else kept += gather(this.#message, name, value);
    }
    return kept;
  }
}

/** One tool call: its arguments come in pieces, its other members once. */
class Call {
  readonly #members: Gathered = new Map();
  readonly #function: Gathered = new Map();
  readonly #arguments: string[] = [];
  /** Arguments that some gateways send as a whole object, as in a reply that is not streamed. */
  #whole: JsonObject | undefined;

  add(event: JsonObject): number {
    for (const [name, value] of Object.entries(event)) {
      if (name === 'function') this.#addFunction(members(value) ?? {});
      else if (name !== 'index' && value !== null) this.#members.set(name, value);
    }
    return weightOf(event);
  }

  whole(): JsonObject {
    const pieces = this.#arguments.join('');
    const called = {
      ...Object.fromEntries(this.#function),
      arguments: pieces === '' ? (this.#whole ?? '') : pieces,
    };
    return { ...Object.fromEntries(this.#members), function: called };
  }

  #addFunction(called: JsonObject): void {
    for (const [name, value] of Object.entries(called)) {
      if (name === 'arguments') {
        if (typeof value === 'string') this.#arguments.push(value);
        else this.#whole = members(value) ?? this.#whole;
      } else if (value !== null && value !== '') this.#function.set(name, value);
    }
  }
}
