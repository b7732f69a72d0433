import type { Members } from './ask.ts';
import type { ModalTokens, Usage } from './models.ts';

/** A reply before either endpoint writes it in its own form. */
export interface ModelReply {
  /** The prompt is not answered at all. */
  readonly blocked?: 'SAFETY' | 'PROHIBITED_CONTENT';
  /** In order of their index; empty where the prompt is blocked. */
  readonly candidates: readonly Candidate[];
  readonly usage: Usage;
  /** How a stream of it goes wrong. */
  readonly mishap?: 'cut' | 'error';
}

/** Why a candidate ended, in the native endpoint's words (gateway 6.5). */
export type ReplyFinish =
  | 'STOP'
  | 'MAX_TOKENS'
  | 'SAFETY'
  | 'RECITATION'
  | 'MALFORMED_FUNCTION_CALL'
  /** Of chat: the model would not (gateway 7.1). */
  | 'REFUSED';

export interface Candidate {
  /** A summary of its thoughts, where they are shown. */
  readonly thought?: string;
  readonly parts: readonly ReplyPart[];
  readonly finish: ReplyFinish;
  readonly tokens: ModalTokens;
  readonly thoughts: number;
  /** Mean over its tokens. */
  readonly logprob: number;
  readonly citations: readonly Citation[];
  readonly grounding?: Grounding;
}

/** What a reply is made of, in order. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly args: Members;
      /** Of newer models. */
      readonly signature?: string;
    }
  | { readonly kind: 'image'; readonly png: Buffer }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'output'; readonly output: string };

/** Where a text was taken from; indexes are those of its UTF-8 bytes. */
export interface Citation {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly uri: string;
  readonly license: string;
}

/** The text of a candidate. */
export const visibleText = ({ parts }: Pick<Candidate, 'parts'>): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

/** A value as a reader would put it, cut to what a text may quote of it. */
export const plain = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')).slice(0, 2_000);

/** Where a reply's statements come from, as the native endpoint writes it (gateway 6.5). */
export interface Grounding {
  readonly webSearchQueries?: readonly string[];
  readonly searchEntryPoint?: { readonly renderedContent: string };
  readonly groundingChunks: readonly GroundingChunk[];
  readonly groundingSupports: readonly GroundingSupport[];
  readonly googleMapsWidgetContextToken?: string;
}

export type GroundingChunk =
  | { readonly web: { readonly uri: string; readonly title: string } }
  | {
      readonly maps: {
        readonly uri: string;
        readonly title: string;
        readonly placeId: string;
        readonly text: string;
      };
    };

export interface GroundingSupport {
  readonly groundingChunkIndices: readonly number[];
  readonly confidenceScores: readonly number[];
  readonly segment: { readonly startIndex: number; readonly endIndex: number; readonly text: string };
}
