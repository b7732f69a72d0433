import { type Body, type FakeAsk, list, object, word } from './fake-ask.ts';

/** One candidate of an answer. */
export interface FakeCandidate {
  readonly text?: string;
  /** What it thought, as a part of its own before the text. */
  readonly thought?: string;
  readonly images?: readonly { readonly mimeType: string; readonly data: string }[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly args?: Body }[];
  /** As it is sent. Default `STOP`, of chat `stop`; null: none. */
  readonly finishReason?: string | null;
  readonly finishMessage?: string;
  /** Of chat. */
  readonly refusal?: string;
  /** Members that replace or join those of the candidate or choice. */
  readonly more?: Body;
}

/** Tokens as the native endpoint counts them; `total` is their sum. */
export interface FakeTokens {
  readonly prompt: number;
  readonly candidates: number;
  readonly thoughts: number;
  readonly tool: number;
}

/** What the model says to one call, whichever endpoint it came to. */
export interface FakeSaying extends FakeCandidate {
  /** Further candidates after this one. */
  readonly others?: readonly FakeCandidate[];
  /** The prompt is blocked: no candidates at all. */
  readonly blockReason?: string;
  /** No candidates, without a reason. */
  readonly silent?: boolean;
  /** What is told of the tokens instead of what follows from the texts; null: nothing is told. */
  readonly tokens?: Partial<FakeTokens> | null;
  /**
   * How a stream goes wrong after its first half: it ends without a finishReason; an error comes as an event, or bare,
   * without `data:` (gateway 6.7); an event's JSON is cut; a `[DONE]` follows the end, which is no fault.
   */
  readonly stream?: 'unfinished' | 'error' | 'bare-error' | 'cut-event' | 'done';
}

/** Decides call by call; undefined: the service's own answer. */
export type FakeSays = (ask: FakeAsk) => FakeSaying | undefined;

/**
 * What is said when nothing is scripted: a text or JSON that follows from the request. Where functions are declared, the
 * first is called once, and its answer is then said.
 */
export function plainSaying(ask: FakeAsk): FakeSaying {
  const [name] = ask.functions;
  if (name !== undefined && !ask.turns.some(isFunctionResult))
    return { calls: [{ id: `call-${ask.hash % 1000}`, name, args: { of: ask.text } }] };
  const others = Array.from({ length: ask.candidates - 1 }, (_, at) => ({ text: plainText(ask, at + 1) }));
  return { text: plainText(ask, 0), ...(others.length > 0 && { others }) };
}

const isFunctionResult = (turn: Body): boolean =>
  list(turn['parts']).some((part) => object(part)?.['functionResponse'] !== undefined);

function plainText({ json, hash, text }: FakeAsk, candidate: number): string {
  if (json !== undefined)
    return JSON.stringify(sample(json === true ? { type: 'object' } : json, hash + candidate));
  const id = (hash + candidate).toString(16).padStart(8, '0');
  return `Answer ${id}, in words: ${text.slice(0, 60)}`;
}

/** A value that a schema allows, the same one for the same number. Knows what pipelines commonly declare, not all of JSON Schema. */
export function sample(schema: Body, seed: number): unknown {
  const allowed = list(schema['enum']);
  if (allowed.length > 0) return allowed[seed % allowed.length];
  if ('const' in schema) return schema['const'];
  const [branch] = [...list(schema['anyOf']), ...list(schema['oneOf'])];
  if (branch !== undefined) return sample(object(branch) ?? {}, seed);
  const declared = Array.isArray(schema['type']) ? list(schema['type'])[0] : schema['type'];
  const type = word(declared, 'properties' in schema ? 'object' : 'string').toLowerCase();
  const least = Number(schema['minimum'] ?? 0);
  const most = Number(schema['maximum'] ?? least + 99);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(object(schema['properties']) ?? {}).map(([name, inner], at) => [
          name,
          sample(object(inner) ?? {}, Math.imul(seed + at + 1, 0x9e37_79b1) >>> 0),
        ]),
      );
    case 'array': {
      const count = Math.max(Number(schema['minItems'] ?? 1), 1);
      return Array.from({ length: count }, (_, at) => sample(object(schema['items']) ?? {}, seed + at));
    }
    case 'integer':
      return Math.ceil(least) + (seed % (Math.floor(most) - Math.ceil(least) + 1));
    case 'number':
      return least + ((seed % 1000) / 1000) * (most - least);
    case 'boolean':
      return seed % 2 === 0;
    case 'null':
      return null;
    default: {
      const word = `word ${seed.toString(16)}`;
      const length = Number(schema['maxLength'] ?? Infinity);
      return word.padEnd(Number(schema['minLength'] ?? 0), '.').slice(0, length);
    }
  }
}

/** A token is a character, an image 258 (as vendors count one), a search 7. */
export function countTokens(ask: FakeAsk, saying: FakeSaying): FakeTokens {
  const candidates = candidatesOf(saying);
  const sum = (count: (candidate: FakeCandidate) => number): number =>
    candidates.reduce((total, candidate) => total + count(candidate), 0);
  const isSearching = list(ask.body['tools']).some((tool) => object(tool)?.['vendor_search'] !== undefined);
  return {
    prompt: ask.texts.join('').length + 258 * ask.images.length,
    candidates: sum(
      ({ text = '', images = [], calls = [] }) => text.length + 258 * images.length + 20 * calls.length,
    ),
    thoughts: sum(({ thought = '' }) => thought.length),
    tool: isSearching ? 7 : 0,
    ...saying.tokens,
  };
}

export const candidatesOf = (saying: FakeSaying): readonly FakeCandidate[] =>
  saying.blockReason !== undefined || saying.silent === true ? [] : [saying, ...(saying.others ?? [])];
