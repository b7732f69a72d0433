import type { NativeThinkingLevel, TextModel } from './models.ts';

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A valid request of either text endpoint. */
export interface Ask {
  readonly model: TextModel;
  /** Hash of everything that decides the reply. A streamed request has the same hash. */
  readonly digest: string;
  readonly system: string;
  /** Oldest first; never empty. */
  readonly turns: readonly AskTurn[];
  /** Number of candidates. */
  readonly count: number;
  /** 0 to 2: the higher, the more varied the wording. */
  readonly temperature: number;
  /** Largest number of tokens of a candidate, thoughts included; default: the model's own. */
  readonly longest?: number;
  readonly stops: readonly string[];
  readonly thinking: AskedThinking;
  readonly json: JsonWish | undefined;
  readonly functions: readonly FunctionDeclaration[];
  readonly calling: CallingMode;
  /** Names of the functions that may be called; empty: all. */
  readonly callable: readonly string[];
  /** Largest number of calls of one reply. */
  readonly maxCalls?: number;
  readonly search: boolean;
  readonly maps: { readonly widget: boolean } | undefined;
  readonly code: boolean;
  readonly image: ImageWish | undefined;
  /** Whether text is wanted beside images. */
  readonly wantsText: boolean;
  /** Whether every safety setting is off. */
  readonly unguarded: boolean;
  readonly cachedContent?: string;
}

export interface AskTurn {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

/** A part of a turn. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly bytes: Buffer; readonly where: string }
  /** A file that is not read: an address, a sound, a document. */
  | { readonly kind: 'file'; readonly name: string; readonly mime: string; readonly bytes: number }
  | { readonly kind: 'call'; readonly name: string; readonly args: Members; readonly signature?: string }
  | { readonly kind: 'response'; readonly name: string; readonly response: unknown };

interface AskedThinking {
  readonly level?: NativeThinkingLevel;
  /** Thinking budget in tokens; -1: the model decides. */
  readonly budget?: number;
  /** Whether the reply shows a summary of the thoughts. */
  readonly shown: boolean;
}

export interface JsonWish {
  /** JSON Schema; absent: any JSON. */
  readonly schema?: unknown;
  /** Whether the reply is a plain word of the schema's enum (`text/x.enum`). */
  readonly isWord?: boolean;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: unknown;
}

/** When functions are called. AUTO: if the prompt suggests it; ANY: always; NONE: never. */
export type CallingMode = 'AUTO' | 'ANY' | 'NONE';

export interface ImageWish {
  /** Width over height; absent: the model decides. */
  readonly aspect?: number;
  /** Factor on the size of the sandbox's images: 1K is 1. */
  readonly scale: 1 | 2 | 4;
}

/** Returns the turn that asks the question: the last user turn with text. */
export function questionOf({ turns }: Pick<Ask, 'turns'>): AskTurn {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn?.role === 'user' && turn.parts.some(({ kind }) => kind === 'text')) return turn;
  }
  return turns.at(-1) ?? { role: 'user', parts: [] };
}

/** Joins the texts of parts. */
export const joinedText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');

/** Returns the responses of functions since the question. */
export function responsesOf(ask: Pick<Ask, 'turns'>): readonly (Part & { readonly kind: 'response' })[] {
  const from = ask.turns.lastIndexOf(questionOf(ask));
  return ask.turns
    .slice(from)
    .flatMap(({ parts }) => parts)
    .filter((part) => part.kind === 'response');
}

/** The error envelope of a refused request (gateway 8.1, 8.4). */
interface RequestError {
  readonly status: number;
  readonly message: string;
  /** `error.code`; default the empty string (gateway 8.1). */
  readonly code?: string;
}

/** A value, or the refusal of the request. */
export type Understood<T> = { readonly ok: true; readonly value: T } | Refused;

type Refused = { readonly ok: false; readonly error: RequestError };

export const refuse = (message: string, status = 400, code = ''): Refused => ({
  ok: false,
  error: { status, message, code },
});

/** Returns the refusal of a model that no channel of the gateway has (gateway 8.4). */
export const unknownModel = (id: string): Refused =>
  refuse(`no available channel for model ${id.slice(0, 100)} under group default`, 503, 'model_not_found');
