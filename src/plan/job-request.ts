import { type EntryKind, isTextKind, kinds, type PressKind, type TextKind } from '../pipeline/kinds.ts';
import type { ButtonWord } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';

/** One way to find a button, with its template rendered. Plain data, part of a job's request. */
export type Press =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/**
 * The request of a job: plain JSON, as stored and as hashed. It contains only fields that the pipeline declares, so that a release that
 * adds a default changes no key.
 */
export type JobRequest = EntryRequest | ClickRequest | TextRequest;

/** A request for a new task. */
export interface EntryRequest {
  readonly kind: EntryKind;
  /**
   * Declared fields by their pipeline names, without those that name images. Words are in lower case (`portrait`, `high`); `batchSize`,
   * `extend` (from 1) and `loop` are never texts, even if a template yields one.
   */
  readonly fields: Readonly<Record<string, Value>>;
  /**
   * Images in order: the step's `images`, or all gathered jobs; or its `image`, then a video's `endImage`. Empty for a video that is
   * extended, which is one of its parent's. Absent for a kind that begins with a prompt and shows no images.
   */
  readonly images?: readonly ImageSource[];
  readonly mask?: MaskSource;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly press?: never;
  readonly continues?: never;
}

/** A request to press a button on the parent's task. */
export interface ClickRequest {
  readonly kind: PressKind;
  /** Alternatives; the first one that the parent's task offers is pressed. */
  readonly press: readonly Press[];
  /**
   * Declared fields by their pipeline names, which answer a modal: `prompt`, `remix`. If `remix: true` or a mask answers the modal
   * without a declared prompt, `prompt` is the nearest prompt above in the pipeline. Absent if there is none, or if a describe suggested
   * a nearer one, which is known, and sent, once the button is pressed.
   */
  readonly fields: Readonly<Record<string, Value>>;
  readonly mask?: MaskSource;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly images?: never;
  readonly continues?: never;
}

/**
 * The part of an image to repaint. White is repainted, also for `edit`, whose endpoint expects it transparent (gateway 2.7); `invert`
 * reverses that.
 */
export type MaskSource =
  /** A PNG file of the size of the image, by its content; its path is in `JobSpec.files`. */
  | { readonly sha256: string; readonly invert?: boolean }
  /** Shapes drawn in the size of the image, in fractions of it. `invert` is present only if true. */
  | { readonly shapes: readonly MaskShape[]; readonly invert?: boolean };

/** The box around a shape: x, y, width and height in fractions of the image's size, from its top left corner. */
export type MaskShape =
  | { readonly rectangle: readonly [number, number, number, number] }
  | { readonly ellipse: readonly [number, number, number, number] };

/** A text call. The service room makes the sent body from it, because it knows the names of the protocol. */
export interface TextRequest {
  readonly kind: TextKind;
  /**
   * Declared fields by their pipeline names, rendered, without `images`, `continue`, and fields that do not determine the result
   * (`stream`, `accept`). Native fields and short forms are treated alike.
   */
  readonly fields: Readonly<Record<string, Value>>;
  /** Images that the model sees, in order: the step's `images`, or all gathered jobs. */
  readonly images?: readonly ImageSource[];
  /** Key of the job whose turns come before this one's (`continue`). */
  readonly continues?: string;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly press?: never;
  readonly mask?: never;
}

/** An image in a request, identified by what determines its content. */
export type ImageSource =
  /** A file, by its content; its path is in `JobSpec.files`. */
  | { readonly sha256: string }
  /** An http(s) address or a data URI, as declared. */
  | { readonly url: string }
  | ShownJob;

/** All images that a job produced, in order; with `output` the file with that output number alone. */
export interface ShownJob {
  readonly job: string;
  readonly output?: number;
}

/** Whether a request is a video that continues a task of its parent. That task must be named. */
export const extendsParent = ({ kind, fields }: JobRequest): boolean =>
  kinds[kind].makes === 'videos' && fields['extend'] !== undefined;

/** Whether a job's reply is text: it has no task, takes no task slot, and is never in doubt. */
export const isTextRequest = (request: JobRequest): request is TextRequest => isTextKind(request.kind);

/** Declared facts about a text call that are not part of the request. */
export interface TextCall {
  /** Whether the reply is streamed. */
  readonly stream: boolean;
  /** Finish reasons, besides a plain end, with which a text counts as a result (`accept`). */
  readonly accept: readonly string[];
  /** Set if JSON must be valid as it stands (`reply: strict`). Absent: read leniently. */
  readonly isStrict?: true;
}

/** The stored part of one candidate of a reply. */
export interface TextCandidate {
  /** All visible text, joined; for a reply that only calls functions, canonical JSON of the calls. */
  readonly text: string;
  /** Whether the text was requested as JSON and contains it. */
  readonly isJson: boolean;
  /** The JSON that a lenient reading found in `text` (which stays as sent) and the texts that it skipped. Absent: `text` itself is JSON. */
  readonly read?: { readonly json: string; readonly passed: readonly string[] };
  /** Finish reason as the service wrote it: `STOP`, `MAX_TOKENS`, `length`, … */
  readonly finishReason?: string;
  /**
   * The content's parts as received, with thoughts, signatures and calls, so that a later turn can repeat them. Image data is replaced by
   * `{ inlineData: { mimeType, output } }`, with the output number of the artifact.
   */
  readonly parts: readonly Value[];
}

/** The place of a call's whole reply: a line of a segment file, which never changes. */
export interface ReplyPlace {
  /** Number of the segment: `replies/<number in five digits>.jsonl`. */
  readonly segment: number;
  /** Offset of the line in bytes. */
  readonly offset: number;
  /** Length of the line in bytes, without its line break. */
  readonly length: number;
  /** SHA-256 of these bytes, in hex. */
  readonly sha256: string;
}

/** The result of a text call, reduced to the data that later steps and the manifest need. */
export interface TextResult {
  readonly candidates: readonly TextCandidate[];
  /** Why the service refused to answer the prompt (gateway 6.5, `promptFeedback.blockReason`). */
  readonly blockReason?: string;
  /** The model version that answered. */
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId?: string;
  /** Place of the whole reply, if it was kept (`keepReplies`). */
  readonly reply?: ReplyPlace;
}
