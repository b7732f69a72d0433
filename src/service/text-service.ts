import type { OnLeave, ReplyUsage, ServiceResult, TellsLeaving } from './result.ts';

/** A JSON object as it travels; unknown fields pass through. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An image as it is sent: `inlineData` of the native endpoint, a data URI of chat. */
export interface InlineImage {
  readonly mimeType: string;
  /** Base64 of the file. */
  readonly data: string;
}

/** One request with what was said after it: the turns before the one that is asked now (`continue`). */
export interface EarlierTurn {
  /** Declared fields by their pipeline names; only `prompt` or `contents` count of an earlier turn. */
  readonly fields: JsonObject;
  readonly images: readonly InlineImage[];
  /** Native contents that followed: rounds of function calls, then the model's reply. */
  readonly after: readonly JsonObject[];
}

/** The kinds of text calls: a step of each asks its own endpoint (gateway 6.1, 7). */
export type TextKind = 'generate' | 'chat';

/**
 * One text call. The client makes the body of it: short forms become native fields, and `extra` is merged into that, member
 * by member, with the last word. Chat has no `earlier` and no `turns`.
 */
export interface TextCallRequest {
  readonly kind: TextKind;
  /** Declared fields by their pipeline names, native and short forms, `model` among them. */
  readonly fields: JsonObject;
  readonly images: readonly InlineImage[];
  /** Oldest first. */
  readonly earlier: readonly EarlierTurn[];
  /** Native contents of this job's own finished rounds of function calls. */
  readonly turns: readonly JsonObject[];
  readonly extra?: JsonObject;
  readonly stream: boolean;
  /** Finish reasons with which an answer is taken as it is, those of a failed provider too. Default: none. */
  readonly accept?: readonly string[];
}

export interface FunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** One candidate (native) or choice (chat), a stream's events merged. */
export interface ReplyCandidate {
  /**
   * Parts in order; of a stream, neighbouring deltas of text, and of thoughts, are joined, but for parts that have anything
   * else, such as a signature. Unknown members pass through. Those of chat are written natively: reasoning is a thought,
   * a tool call a `functionCall`.
   */
  readonly parts: readonly JsonObject[];
  /** Text parts that are not thoughts, joined. Images and calls among the thoughts are no result either. */
  readonly text: string;
  readonly images: readonly InlineImage[];
  readonly functionCalls: readonly FunctionCall[];
  /** As the service wrote it; absent where it said none. */
  readonly finishReason?: string;
  readonly finishMessage?: string;
  /** Of chat: why the model would not answer (gateway 7.1). */
  readonly refusal?: string;
}

/** A reply of the text endpoints, whichever it was and however it came. */
export interface TextReply {
  /** In order of their index. Empty: the prompt was blocked, or nothing came. */
  readonly candidates: readonly ReplyCandidate[];
  readonly blockReason?: string;
  readonly blockMessage?: string;
  /** `blockReason` is ours: a gateway said that there is no answer, as it does of a blocked prompt, and not why. */
  readonly unexplained?: true;
  readonly usage?: ReplyUsage;
  /** The model version that answered. */
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId?: string;
  /** The whole reply as one object of gateway 6.5's shape (chat: of its own), a stream's events merged, nothing left out. */
  readonly whole: JsonObject;
}

/** A model that the service lists (gateway 7.2). */
export interface Model {
  readonly id: string;
  readonly ownedBy?: string;
  /** Unix seconds. */
  readonly created?: number;
  /** Where the service says so; otherwise empty. */
  readonly endpoints: readonly string[];
}

/**
 * The text half of the service (gateway 6.1, 7). Like the image half it repeats nothing: the run is the one owner of
 * retries. A text call is never `lost`: a call without a usable reply is of class `retry`.
 *
 * Besides the codes of `ServiceFailure`: `stream.truncated` (a stream ended without a finishReason; class `retry`),
 * `request.too-large` (refused here, before anything left; class `permanent`). `service.bad-id` and `service.not-found` are
 * said of the model. An error inside a stream that began well has the code and class that its status would have had. A
 * failure may carry the `usage` that was already counted.
 */
export interface TextService extends TellsLeaving {
  ask(request: TextCallRequest, signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<TextReply>>;
  models(signal: AbortSignal): Promise<ServiceResult<readonly Model[]>>;
  close(): Promise<void>;
}
