import type { OnLeave, ReplyUsage, ServiceResult, TellsLeaving } from './result.ts';

/** A JSON object as it is sent and received; unknown fields are kept. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An image as it is sent: `inlineData` of the native endpoint, a data URI of chat. */
export interface InlineImage {
  readonly mimeType: string;
  /** Base64 of the file. */
  readonly data: string;
}

/** An earlier turn of a conversation (`continue`): one request, and what was said after it. */
export interface EarlierTurn {
  /** Declared fields by their pipeline names; only `prompt` or `contents` are used. */
  readonly fields: JsonObject;
  readonly images: readonly InlineImage[];
  /** Native contents that followed: rounds of function calls, then the model's reply. */
  readonly after: readonly JsonObject[];
}

/** The kinds of text calls; each has its own endpoint (gateway 6.1, 7). */
export type TextKind = 'generate' | 'chat';

/**
 * One text call. The client builds its body: short forms become native fields, and `extra` is merged in member by member and overrides
 * them. Chat has no `earlier` and no `turns`.
 */
export interface TextCallRequest {
  readonly kind: TextKind;
  /** Declared fields by their pipeline names, native and short forms, `model` among them. */
  readonly fields: JsonObject;
  readonly images: readonly InlineImage[];
  /** Earlier turns, oldest first. */
  readonly earlier: readonly EarlierTurn[];
  /** Native contents of this job's own finished rounds of function calls. */
  readonly turns: readonly JsonObject[];
  readonly extra?: JsonObject;
  readonly stream: boolean;
  /** Finish reasons with which an answer is accepted as it is, those of a failed provider included. Default: none. */
  readonly accept?: readonly string[];
}

export interface FunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** One candidate (native) or choice (chat), merged from all events of a stream. */
export interface ReplyCandidate {
  /**
   * Parts in order. In a stream, neighbouring deltas of text, and of thoughts, are joined, except parts with other members, such as a
   * signature. Unknown members are kept. Parts of chat get native names: reasoning is a thought, a tool call a `functionCall`.
   */
  readonly parts: readonly JsonObject[];
  /** Joined text parts that are not thoughts. Images and calls within thoughts are not results either. */
  readonly text: string;
  readonly images: readonly InlineImage[];
  readonly functionCalls: readonly FunctionCall[];
  /** Finish reason in the service's own word; absent if it gave none. */
  readonly finishReason?: string;
  readonly finishMessage?: string;
  /** Why the model refused to answer, in chat (gateway 7.1). */
  readonly refusal?: string;
}

/** A reply of either text endpoint, streamed or not. */
export interface TextReply {
  /** Candidates in order of their index. Empty: the prompt was blocked, or nothing came. */
  readonly candidates: readonly ReplyCandidate[];
  readonly blockReason?: string;
  readonly blockMessage?: string;
  /** Whether `blockReason` is ours: the gateway reported no answer, as for a blocked prompt, and gave no reason. */
  readonly unexplained?: true;
  readonly usage?: ReplyUsage;
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId?: string;
  /** The whole reply as one object in the shape of gateway 6.5 (chat: its own), merged from all events of a stream, nothing left out. */
  readonly whole: JsonObject;
}

/** A model that the service lists (gateway 7.2). */
export interface Model {
  readonly id: string;
  readonly ownedBy?: string;
  /** Time of creation in Unix seconds. */
  readonly created?: number;
  /** Endpoints of the model, if the service lists them; otherwise empty. */
  readonly endpoints: readonly string[];
}

/**
 * The text half of the service (gateway 6.1, 7). Like the image half it never repeats a request: the run owns all retries. A text call
 * is never `lost`: without a usable reply it fails with class `retry`.
 *
 * Additional codes to those of `ServiceFailure`: `stream.truncated` (a stream ended without a finishReason; class `retry`),
 * `request.too-large` (refused locally before sending; class `permanent`). `service.bad-id` and `service.not-found` are about the
 * model. An error inside a stream that began well has the code and class of its status. A failure may carry the `usage` counted so far.
 */
export interface TextService extends TellsLeaving {
  ask(request: TextCallRequest, signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<TextReply>>;
  models(signal: AbortSignal): Promise<ServiceResult<readonly Model[]>>;
  close(): Promise<void>;
}
