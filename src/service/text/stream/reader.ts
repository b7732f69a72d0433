import {
  createParser,
  type EventSourceMessage,
  type EventSourceParser,
  type ParseError,
} from 'eventsource-parser';

import { members, parseBounded, parseWithLongIds, valuesIn } from '../../http/json.ts';
import { readReplyText } from '../../http/reply.ts';
import type { ReplyUsage } from '../../result.ts';
import type { JsonObject } from '../../text-service.ts';
import { errorIn, noReply, type ReplyForm, readWhole, type StreamEnd, tooLargeEnd } from '../reply/end.ts';
import type { Gatherer } from './accumulate-native.ts';

/** How a reply of one text endpoint is read, whole or as a stream. */
export interface TextForm extends ReplyForm {
  readonly gather: () => Gatherer;
}

/** Bounds of one reply. */
export interface StreamBounds {
  /** Longest line, or lines of one event together, in characters. An image comes as one line of base64. */
  readonly line: number;
  readonly events: number;
  readonly candidates: number;
  /** Most JSON values of all events. */
  readonly values: number;
  /** Estimated bytes of memory of the reply. */
  readonly kept: number;
}

/** Default bounds. A long reply has a hundred thousand tokens and an event for each; its largest image 48 million characters. */
export const streamBounds: StreamBounds = {
  line: 48 * 1024 * 1024,
  events: 500_000,
  candidates: 128,
  values: 8_000_000,
  kept: 128 * 1024 * 1024,
};

/** Longest text of lines outside events, in characters: an error's body is no longer. */
const maxBare = 256 * 1024;
const maxOddLines = 50_000;

/** Characters that are parsed at once, so that an end is noticed before the rest is read. */
const sliceLength = 8 * 1024;

/** Data, or the name, of events that only keep a connection open; blank data is one too. */
const heartbeat = /^(?:ping|pong|null|keep-?alive|heartbeat)?$/i;

/** Words of a gateway whose own connection broke, on a line of the stream outside any event (gateway 6.7). */
const brokenOff =
  /^(?:unexpected EOF|.{0,200}(?:connection reset|broken pipe|context (?:canceled|deadline exceeded)))/im;

const oddEvent = (text: string, what: string): StreamEnd & { readonly kind: 'unusable' } => ({
  kind: 'unusable',
  what,
  body: { kind: 'text', text: text.slice(0, 300) },
});

/**
 * Reads a reply of the text endpoints from its bytes, in any chunks: Server-Sent Events or one JSON value, whichever of them was
 * requested. Pure: no network, no clock. Never throws, whatever the bytes are.
 *
 * A stream ends with its bytes, or with `[DONE]`, which some gateways send in native streams too; an early finishReason does not end it
 * (gateway 6.7).
 */
export class StreamReader {
  readonly #form: TextForm;
  readonly #bounds: StreamBounds;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #parser: EventSourceParser;
  readonly #gatherer: Gatherer;
  #shape: 'unknown' | 'events' | 'whole' = 'unknown';
  /** Text of a whole body so far. */
  readonly #text: string[] = [];
  #bare = '';
  #oddLines = 0;
  #events = 0;
  #values: number;
  /** The end of the reply; once it is set, later bytes are ignored. */
  #end: StreamEnd | undefined;
  #isDone = false;
  /** Whether the last character was a carriage return: a line feed after it belongs to the same line end. */
  #isAfterReturn = false;
  #isEnding = false;
  #kept = 0;
  /** Characters since the last event. */
  #pending = 0;

  constructor(form: TextForm, bounds: StreamBounds = streamBounds) {
    this.#form = form;
    this.#bounds = bounds;
    this.#values = bounds.values;
    this.#gatherer = form.gather();
    this.#parser = createParser({
      onEvent: (event) => this.#onEvent(event),
      onError: (error) => this.#onError(error),
      maxBufferSize: bounds.line,
    });
  }

  /** Whether the remaining bytes cannot change the result. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the service has said that nothing follows. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Estimated bytes that are kept now. */
  get kept(): number {
    return this.#kept + this.#pending;
  }

  /** Token counts so far. */
  get usage(): ReplyUsage | undefined {
    return this.#gatherer.usage;
  }

  push(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.#decode(() => this.#decoder.decode(bytes, { stream: true }));
  }

  /** Ends the reading: no more bytes come. */
  end(): StreamEnd {
    if (this.#end !== undefined) return this.#end;
    this.#isEnding = true;
    this.#decode(() => this.#decoder.decode());
    // The last event may lack its blank line; a line that was cut off is not JSON.
    if (this.#shape === 'events' && !this.isOver) this.#parser.feed('\n\n');
    this.#end ??= this.#shape === 'events' ? this.#endOfEvents() : this.#endOfWhole();
    return this.#end;
  }

  /** Returns the error that came before the connection broke, if there was one. */
  broken(): (StreamEnd & { readonly kind: 'error' }) | undefined {
    if (this.#end !== undefined) return this.#end.kind === 'error' ? this.#end : undefined;
    return errorIn(this.#bareValue());
  }

  #decode(decode: () => string): void {
    let text: string;
    try {
      text = decode();
    } catch (cause) {
      // After the end of a reply, only the last character is cut.
      if (!this.#isEnding) this.#end = { kind: 'unusable', what: 'but it is not UTF-8', cause };
      return;
    }
    if (text !== '') this.#take(text);
  }

  #take(text: string): void {
    if (this.#shape === 'unknown') {
      // Leading white space decides nothing, and is not part of a reply.
      const rest = text.trimStart();
      if (rest === '') return;
      this.#shape = /^[{[<"]/.test(rest) ? 'whole' : 'events';
      return this.#take(rest);
    }
    this.#pending += text.length;
    if (this.#shape === 'whole') {
      this.#text.push(text);
      return;
    }
    const lines = this.#withLineFeeds(text);
    for (let at = 0; at < lines.length && !this.isOver; at += sliceLength) {
      this.#parser.feed(lines.length <= sliceLength ? lines : lines.slice(at, at + sliceLength));
    }
  }

  /**
   * Turns each line end into one line feed. After a carriage return at the end of a chunk, the parser would wait for the next line end,
   * and an event would be noticed late.
   */
  #withLineFeeds(text: string): string {
    const rest = this.#isAfterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#isAfterReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }

  #onEvent({ data, event: name }: EventSourceMessage): void {
    this.#pending = 0;
    if (this.isOver || this.#isDone || heartbeat.test(data.trim()) || (name && heartbeat.test(name))) return;
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return;
    }
    this.#events += 1;
    if (this.#events > this.#bounds.events) {
      this.#end = tooLargeEnd(`its stream has more than ${this.#bounds.events} events`);
      return;
    }
    const value = this.#parse(data);
    // An event of this name is an error, whatever its data.
    if (value !== undefined)
      this.#add(name === 'error' && errorIn(value) === undefined ? { error: value } : value);
  }

  /** Parses an event. Undefined: it is unreadable, and the reason is noted. */
  #parse(data: string): JsonObject | undefined {
    let value: unknown;
    try {
      this.#values -= valuesIn(data);
      if (this.#values < 0 || data.length > this.#bounds.line) {
        this.#end = tooLargeEnd(this.#values < 0 ? 'its stream has too many values' : this.#lineTooLong());
        return undefined;
      }
      value = parseWithLongIds(data);
    } catch (cause) {
      this.#end ??= this.#isEnding
        ? { kind: 'truncated' }
        : { ...oddEvent(data, 'but the JSON of one of its events is broken'), cause };
      return undefined;
    }
    const event = members(value);
    if (event === undefined) this.#end = oddEvent(data, 'but one of its events is not a JSON object');
    return event;
  }

  #add(event: JsonObject): void {
    const error = errorIn(event);
    if (error !== undefined) {
      this.#end = error;
      return;
    }
    this.#kept += this.#gatherer.add(event);
    const { candidates, kept } = this.#bounds;
    if (this.#gatherer.candidates > candidates)
      this.#end = tooLargeEnd(`it has more than ${candidates} candidates`);
    if (this.#kept > kept) this.#end = tooLargeEnd(`it has more than ${kept} bytes`);
  }

  #onError(error: ParseError): void {
    if (this.isOver || this.#isDone) return;
    if (error.type === 'max-buffer-size-exceeded') {
      this.#end = tooLargeEnd(this.#lineTooLong());
      return;
    }
    this.#oddLines += 1;
    if (error.type === 'unknown-field') this.#bare += `${error.line ?? ''}\n`;
    if (this.#bare.length > maxBare || this.#oddLines > maxOddLines) {
      this.#end = { kind: 'unusable', what: 'but its lines are not events' };
    }
  }

  #lineTooLong(): string {
    return `one line of its stream is longer than ${this.#bounds.line} characters`;
  }

  #endOfEvents(): StreamEnd {
    const error = errorIn(this.#bareValue());
    if (error !== undefined) return error;
    if (brokenOff.test(this.#bare)) return oddEvent(this.#bare, 'but the gateway broke its stream off');
    if (this.#gatherer.isFinished) return { kind: 'answer', whole: this.#gatherer.whole(), streamed: true };
    // Without a choice there is no answer, and the counts say that none was made.
    if (
      this.#isDone &&
      this.#gatherer.mayLackReason &&
      (this.#gatherer.candidates > 0 || this.usage?.candidates === 0)
    ) {
      const whole = this.#gatherer.whole();
      return this.#gatherer.candidates > 0
        ? { kind: 'unfinished', whole }
        : { kind: 'answer', whole: { choices: [], ...whole } };
    }
    return this.#events === 0 && this.#bare.trim() !== ''
      ? { kind: 'other', body: { kind: 'text', text: this.#bare.trim() } }
      : { kind: 'truncated' };
  }

  #endOfWhole(): StreamEnd {
    const body = readReplyText(this.#text.join(''), parseBounded);
    if (body.kind !== 'json') return { kind: 'other', body };
    if (!Array.isArray(body.value)) {
      return readWhole(this.#form, members(body.value), this.#bounds.candidates);
    }
    // Without `alt=sse` a native stream is a list of its events (gateway 6.7).
    for (const item of body.value as unknown[]) {
      const event = members(item);
      if (event === undefined) return noReply;
      this.#add(event);
      if (this.#end !== undefined) return this.#end;
    }
    return this.#endOfEvents();
  }

  /** Returns the object in lines outside events: in all of them together, or in the last one. */
  #bareValue(): JsonObject | undefined {
    for (const text of [this.#bare, this.#bare.trim().split('\n').at(-1) ?? ''])
      try {
        return members(parseBounded(text));
      } catch {
        // Other values are not error objects.
      }
    return undefined;
  }
}
