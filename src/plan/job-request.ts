import { type EntryKind, isTextKind, kinds, type PressKind, type TextKind } from '../pipeline/kinds.ts';
import type { ButtonWord } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';

/** One way to find a button, its template rendered. Plain data: it is part of a job's request. */
export type Press =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/**
 * What a job asks the service for: plain JSON, as stored and as hashed. It holds only fields that the pipeline
 * declares, so that a release that adds a default changes no key.
 */
export type JobRequest = EntryRequest | ClickRequest | TextRequest;

/** A task of its own. */
export interface EntryRequest {
  readonly kind: EntryKind;
  /**
   * Declared fields by their pipeline names, without those that name images. Words are in lower case (`portrait`, `high`),
   * `batchSize`, `extend` (from 1) and `loop` are no texts, however a template gave them.
   */
  readonly fields: Readonly<Record<string, Value>>;
  /**
   * In order: the step's `images`, or all that it gathers; its `image`, then a video's `endImage`; empty of a video that is extended: that
   * is one of its parent's. Absent of a kind that begins from words and shows none.
   */
  readonly images?: readonly ImageSource[];
  readonly mask?: MaskSource;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly press?: never;
  readonly continues?: never;
}

/** A button that is pressed on the parent's task. */
export interface ClickRequest {
  readonly kind: PressKind;
  /** The first of these that the parent's task offers is pressed. */
  readonly press: readonly Press[];
  /**
   * Declared fields by their pipeline names, which answer a modal: `prompt`, `remix`. Where `remix: true` or a mask answers
   * it and no prompt is declared, `prompt` is the nearest one above that the pipeline says; absent where there is none, or
   * where a describe suggested a nearer one, which is known, and sent, once the button is pressed.
   */
  readonly fields: Readonly<Record<string, Value>>;
  readonly mask?: MaskSource;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly images?: never;
  readonly continues?: never;
}

/**
 * Which part of an image is to be repainted. White is repainted, also for `edit`, whose wire wants it transparent
 * (gateway 2.7); `invert` turns that round.
 */
export type MaskSource =
  /** A PNG file of the size of the image, by its content; where it lies says `JobSpec.files`. */
  | { readonly sha256: string; readonly invert?: boolean }
  /** Drawn in the size of the image from boxes in fractions of it: `[x, y, width, height]`. `invert` stands only where true. */
  | { readonly shapes: readonly MaskShape[]; readonly invert?: boolean };

/** The box around a shape: x, y, width and height in fractions of the image's, from its top left corner. */
export type MaskShape =
  | { readonly rectangle: readonly [number, number, number, number] }
  | { readonly ellipse: readonly [number, number, number, number] };

/** What a text job asks for. The body that is sent is made of it by the service room, which knows the wire's names. */
export interface TextRequest {
  readonly kind: TextKind;
  /**
   * Declared fields by their pipeline names, rendered, without `images`, `continue`, and what does not determine
   * the result (`stream`, `accept`): native fields and the short forms alike.
   */
  readonly fields: Readonly<Record<string, Value>>;
  /** What it shows the model, in order: the step's `images`, or all that it gathers. */
  readonly images?: readonly ImageSource[];
  /** Key of the job whose turns come before this one's (`continue`). */
  readonly continues?: string;
  readonly extra?: Readonly<Record<string, Value>>;
  readonly press?: never;
  readonly mask?: never;
}

/** An image that a request shows, by what determines its content. */
export type ImageSource =
  /** A file, by its content; where it lies says `JobSpec.files`. */
  | { readonly sha256: string }
  /** An http(s) address or a data URI, as declared. */
  | { readonly url: string }
  /** All images that this job produced, in order. */
  | { readonly job: string };

/** True for a video that continues a task of its parent. That task must be named. */
export const extendsParent = ({ kind, fields }: JobRequest): boolean =>
  kinds[kind].makes === 'videos' && fields['extend'] !== undefined;

/** True for a job whose reply is text: it has no task, takes no room for one, and is never in doubt. */
export const isTextRequest = (request: JobRequest): request is TextRequest => isTextKind(request.kind);

/** What is declared about a text call beside the request itself. */
export interface TextCall {
  /** The reply comes as a stream. */
  readonly stream: boolean;
  /** Finish reasons besides a plain end whose text is taken as a result all the same (`accept`). */
  readonly accept: readonly string[];
  /** JSON is read as it stands (`reply: strict`). Absent: leniently. */
  readonly isStrict?: true;
}

/** The kept part of one candidate of a reply. */
export interface TextCandidate {
  /** All visible text, joined; of a reply that only calls functions, canonical JSON of the calls. */
  readonly text: string;
  /** The text was asked for as JSON, and is. */
  readonly isJson: boolean;
  /** The JSON that a lenient reading took out of `text`, which stays as it was sent, and what it passed over. Absent: `text` is JSON. */
  readonly read?: { readonly json: string; readonly passed: readonly string[] };
  /** As the service wrote it: `STOP`, `MAX_TOKENS`, `length`, … */
  readonly finishReason?: string;
  /**
   * The content's parts as they came, thoughts, signatures and calls included, so that a later turn can repeat them;
   * in place of image data stands `{ inlineData: { mimeType, output } }`, the output number of the artifact.
   */
  readonly parts: readonly Value[];
}

/** Where the whole reply of a call lies: a line of a segment, which is never changed. */
export interface ReplyPlace {
  /** Number of the segment: `replies/<number in five digits>.jsonl`. */
  readonly segment: number;
  /** Bytes before the line. */
  readonly offset: number;
  /** Bytes of the line, without its line break. */
  readonly length: number;
  /** SHA-256 of these bytes, in hex. */
  readonly sha256: string;
}

/** The result of a text call, reduced to what later steps and the manifest need. */
export interface TextResult {
  readonly candidates: readonly TextCandidate[];
  /** Why the prompt was not answered at all (gateway 6.5, `promptFeedback.blockReason`). */
  readonly blockReason?: string;
  /** The model version that answered. */
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId?: string;
  /** Where the whole reply lies, where it was kept (`keepReplies`). */
  readonly reply?: ReplyPlace;
}
