import type { Members } from './ask.ts';
import type { ModalTokens, Usage } from './models.ts';

/** A reply in a form that both endpoints can write. */
export interface ModelReply {
  /** Why the prompt is blocked. */
  readonly blocked?: 'SAFETY' | 'PROHIBITED_CONTENT';
  /** In order of their index; empty if the prompt is blocked. */
  readonly candidates: readonly Candidate[];
  readonly usage: Usage;
  /** How a stream of the reply fails. */
  readonly mishap?: 'cut' | 'error';
}

/** Why a candidate ended, in the native endpoint's words (gateway 6.5). */
export type ReplyFinish =
  | 'STOP'
  | 'MAX_TOKENS'
  | 'SAFETY'
  | 'RECITATION'
  | 'MALFORMED_FUNCTION_CALL'
  /** A refusal of the model, which only chat has (gateway 7.1). */
  | 'REFUSED';

export interface Candidate {
  /** A summary of the thoughts, if they are shown. */
  readonly thought?: string;
  readonly parts: readonly ReplyPart[];
  readonly finish: ReplyFinish;
  readonly tokens: ModalTokens;
  readonly thoughts: number;
  /** Mean log probability of the tokens. */
  readonly logprob: number;
  readonly citations: readonly Citation[];
  readonly grounding?: Grounding;
}

/** A part of a reply. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly args: Members;
      /** The thought signature of newer models. */
      readonly signature?: string;
    }
  | { readonly kind: 'image'; readonly png: Buffer }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'output'; readonly output: string };

/** The source of a part of a text. The indexes count UTF-8 bytes. */
export interface Citation {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly uri: string;
  readonly license: string;
}

/** Joins the text parts of a candidate. */
export const visibleText = ({ parts }: Pick<Candidate, 'parts'>): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

/** Writes a value as text, at most 2,000 characters of it. */
export const plain = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')).slice(0, 2_000);

/** The sources of a reply, in the native endpoint's form (gateway 6.5). */
export interface Grounding {
  readonly webSearchQueries?: readonly string[];
  readonly searchEntryPoint?: { readonly renderedContent: string };
  readonly groundingChunks: readonly GroundingChunk[];
  readonly groundingSupports: readonly GroundingSupport[];
  readonly googleMapsWidgetContextToken?: string;
}

export type GroundingChunk =
  | { readonly web: Readonly<Record<'uri' | 'title', string>> }
  | { readonly maps: Readonly<Record<'uri' | 'title' | 'placeId' | 'text', string>> };

export interface GroundingSupport {
  readonly groundingChunkIndices: readonly number[];
  readonly confidenceScores: readonly number[];
  readonly segment: { readonly startIndex: number; readonly endIndex: number; readonly text: string };
}
