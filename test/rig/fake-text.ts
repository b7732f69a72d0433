import { type FakeAsk, readAsk, refusalOf, word } from './fake-ask.ts';
import { json, type Reply } from './fake-reply.ts';
import { countTokens, type FakeSays, type FakeTokens, plainSaying } from './fake-saying.ts';
import { textReply } from './fake-text-wire.ts';
import type { FakeRequest } from './faults.ts';

/** How the models behave when nothing goes wrong. */
export interface FakeTextOptions {
  /** Default: texts and JSON that follow from the request. */
  readonly says?: FakeSays;
  /** Ids of `/v1/models`. */
  readonly models?: readonly string[];
}

/** Sums of tokens, in the words of the manifest's columns. */
export interface TokenSums {
  prompt: number;
  candidates: number;
  thoughts: number;
  tool: number;
  total: number;
}

const noTokens = (): TokenSums => ({ prompt: 0, candidates: 0, thoughts: 0, tool: 0, total: 0 });

/** What was asked of the models, in ways to count it. */
export interface FakeTexts {
  /** {@link FakeAsk.name} → calls that were carried out, whatever became of their replies. */
  readonly byName: ReadonlyMap<string, number>;
  /** The calls that were carried out, in order (unless `log: false`). */
  readonly asks: readonly FakeAsk[];
  readonly tokens: {
    /** Of all calls that were carried out: what they cost. */
    readonly charged: Readonly<TokenSums>;
    /** Of these what was told: the last count that left with each reply, whole or broken. */
    readonly counted: Readonly<TokenSums>;
    /** What whole replies told. */
    readonly complete: Readonly<TokenSums>;
  };
}

export interface TextAddress {
  readonly endpoint: FakeAsk['endpoint'] | 'models';
  readonly model: string;
}

/** Where a path below the base address leads, if to the text half (gateway 6.1, 7). */
export function locateText(path: string): TextAddress | undefined {
  const [bare = '', query = ''] = path.split('?', 2);
  if (bare === '/v1/models') return { endpoint: 'models', model: '' };
  if (bare === '/v1/chat/completions') return { endpoint: 'chat', model: '' };
  const [, name = '', operator] =
    /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(bare) ?? [];
  if (operator === 'generateContent') return { endpoint: 'generate', model: decodeURIComponent(name) };
  if (operator === 'streamGenerateContent' && query === 'alt=sse')
    return { endpoint: 'stream', model: decodeURIComponent(name) };
  return undefined;
}

/** The text half of the gateway without its HTTP. */
export class FakeTextGateway implements FakeTexts {
  readonly byName = new Map<string, number>();
  readonly asks: FakeAsk[] = [];
  readonly tokens = { charged: noTokens(), counted: noTokens(), complete: noTokens() };
  readonly #says: FakeSays;
  readonly #models: readonly string[];
  readonly #keeps: boolean;
  #answers = 0;

  constructor({ says, models }: FakeTextOptions, keeps: boolean) {
    this.#says = says ?? plainSaying;
    this.#models = models ?? ['text-pro', 'text-lite', 'img-chat'];
    this.#keeps = keeps;
  }

  /** @returns the reply; or the message of a 400 */
  answer(request: FakeRequest, { endpoint, model }: TextAddress, instead?: FakeSays): Reply | string {
    if (endpoint === 'models') return this.#list();
    const asked = endpoint === 'chat' ? word(request.body?.['model']) : model;
    const ask = readAsk(endpoint, asked, request);
    const refusal = refusalOf(ask);
    if (refusal !== undefined) return refusal;
    const saying = instead?.(ask) ?? this.#says(ask) ?? plainSaying(ask);
    this.byName.set(ask.name, (this.byName.get(ask.name) ?? 0) + 1);
    if (this.#keeps) this.asks.push(ask);
    if (saying.tokens !== null) add(this.tokens.charged, countTokens(ask, saying));
    return textReply(ask, saying, ++this.#answers);
  }

  /** To be told how many bytes of a reply have left. */
  sent(reply: Reply, bytes: number): void {
    const last = reply.usageMarks?.findLast((mark) => mark.bytes <= bytes)?.tokens;
    if (last === undefined) return;
    add(this.tokens.counted, last);
    if (bytes >= reply.body.length) add(this.tokens.complete, last);
  }

  #list(): Reply {
    const data = this.#models.map((id) => ({
      id,
      object: 'model',
      created: 1_793_491_200,
      owned_by: 'fake',
      supported_endpoint_types: ['gemini', 'openai'],
    }));
    return json({ object: 'list', success: true, data });
  }
}

function add(sums: TokenSums, { prompt, candidates, thoughts, tool }: FakeTokens): void {
  sums.prompt += prompt;
  sums.candidates += candidates;
  sums.thoughts += thoughts;
  sums.tool += tool;
  sums.total += prompt + candidates + thoughts + tool;
}
