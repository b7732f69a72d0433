import type { NativeThinkingLevel, TextModel } from './models.ts';

/** A JSON object as it came. */
export type Members = Readonly<Record<string, unknown>>;

/** A request of either text endpoint, checked: all that the reply is made of. */
export interface Ask {
  readonly model: TextModel;
  /** Content hash of all that determines the reply; whether it is streamed is no part of it. */
  readonly digest: string;
  readonly system: string;
  /** Oldest first; never empty. */
  readonly turns: readonly AskTurn[];
  /** Answers wanted. */
  readonly count: number;
  /** 0 to 2: the higher, the more varied the wording. */
  readonly temperature: number;
  /** Of each reply, thoughts included; absent: the model's own. */
  readonly longest?: number;
  readonly stops: readonly string[];
  readonly thinking: AskedThinking;
  readonly json: JsonWish | undefined;
  readonly functions: readonly FunctionDeclaration[];
  readonly calling: CallingMode;
  /** Names that may be called; empty: all. */
  readonly callable: readonly string[];
  /** Calls of one reply at most; absent: as many as the model makes. */
  readonly mostCalls?: number;
  readonly search: boolean;
  readonly maps: { readonly widget: boolean } | undefined;
  readonly code: boolean;
  readonly image: ImageWish | undefined;
  /** Whether text is wanted beside images. */
  readonly wantsText: boolean;
  /** No category of harm is blocked. */
  readonly unguarded: boolean;
  readonly cachedContent?: string;
}

export interface AskTurn {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

/** What a turn holds. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly bytes: Buffer; readonly where: string }
  /** Something that is named and not read: an address, a sound, a document. */
  | { readonly kind: 'file'; readonly name: string; readonly mime: string; readonly bytes: number }
  | { readonly kind: 'call'; readonly name: string; readonly args: Members; readonly signature?: string }
  | { readonly kind: 'response'; readonly name: string; readonly response: unknown };

interface AskedThinking {
  readonly level?: NativeThinkingLevel;
  /** In tokens; -1 is as much as the model likes. */
  readonly budget?: number;
  /** Thoughts are shown. */
  readonly shown: boolean;
}

export interface JsonWish {
  /** JSON Schema; absent: any JSON. */
  readonly schema?: unknown;
  /** A word of the schema's enum, as it stands (`text/x.enum`). */
  readonly isWord?: boolean;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: unknown;
}

/** AUTO calls where the prompt suggests it, ANY always, NONE never. */
export type CallingMode = 'AUTO' | 'ANY' | 'NONE';

export interface ImageWish {
  /** Width over height; absent: as it likes. */
  readonly aspect?: number;
  /** Factor on the sandbox's own size: 1K is 1. */
  readonly scale: 1 | 2 | 4;
}

/** The parts of the newest turns that put the question: the last user turn with text in it. */
export function questionOf({ turns }: Pick<Ask, 'turns'>): AskTurn {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn?.role === 'user' && turn.parts.some(({ kind }) => kind === 'text')) return turn;
  }
  return turns.at(-1) ?? { role: 'user', parts: [] };
}

/** The text of some parts. */
export const joinedText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');

/** Replies of functions since the question was put. */
export function responsesOf(ask: Pick<Ask, 'turns'>): readonly (Part & { readonly kind: 'response' })[] {
  const from = ask.turns.lastIndexOf(questionOf(ask));
  return ask.turns
    .slice(from)
    .flatMap(({ parts }) => parts)
    .filter((part) => part.kind === 'response');
}

/** A request that is not accepted: what the error envelope says of it (gateway 8.1, 8.4). */
interface RequestError {
  readonly status: number;
  readonly message: string;
  /** `error.code`; default the empty string (gateway 8.1). */
  readonly code?: string;
}

/** A request that was understood, or why not. */
export type Understood<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: RequestError };

export const refuse = (
  message: string,
  status = 400,
  code = '',
): { readonly ok: false; readonly error: RequestError } => ({ ok: false, error: { status, message, code } });

/** What a gateway says of a model that no channel of it has (gateway 8.4). */
export const unknownModel = (id: string): { readonly ok: false; readonly error: RequestError } =>
  refuse(`no available channel for model ${id.slice(0, 100)} under group default`, 503, 'model_not_found');
