import { createHash } from 'node:crypto';

import type { FakeRequest } from './faults.ts';

/** A JSON object as it came. */
export type Body = Readonly<Record<string, unknown>>;

/** A text call as the fake service understood it, whichever endpoint it came to. */
export interface FakeAsk {
  /** `stream`: streamGenerateContent; chat streams where its body says so. */
  readonly endpoint: 'generate' | 'stream' | 'chat';
  readonly model: string;
  readonly body: Body;
  /** Text of the last turn of a user that has one. */
  readonly text: string;
  /** Texts of all turns, system instructions first. */
  readonly texts: readonly string[];
  /** Turns after that one: rounds of function calls. */
  readonly rounds: number;
  /** All turns, those of the model included. */
  readonly turns: readonly Body[];
  /** Images in the order in which the model is shown them. */
  readonly images: readonly { readonly mimeType: string; readonly bytes: Buffer }[];
  /** The JSON that is asked for; its schema, or `true` for any. */
  readonly json: Body | true | undefined;
  /** Names of declared functions. */
  readonly functions: readonly string[];
  readonly candidates: number;
  /** A number that depends on nothing but the model and the body. */
  readonly hash: number;
  /** `<text>`, with ` +2` where two turns follow it: what was asked, in words to count. */
  readonly name: string;
}

export const object = (value: unknown): Body | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;

export const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : [];

const objects = (value: unknown): readonly Body[] =>
  list(value)
    .map(object)
    .filter((item) => item !== undefined);

export const word = (value: unknown, otherwise = ''): string =>
  typeof value === 'string' ? value : otherwise;

interface Turn {
  readonly role: string;
  readonly texts: readonly string[];
  readonly images: readonly { readonly mimeType: string; readonly data: string }[];
}

const dataUri = /^data:([^;,]+);base64,(.*)$/s;

function nativeTurn(content: Body): Turn {
  const parts = objects(content['parts']);
  return {
    role: word(content['role'], 'user'),
    texts: parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])),
    images: parts.flatMap((part) => {
      const inline = object(part['inlineData']);
      return inline === undefined ? [] : [{ mimeType: word(inline['mimeType']), data: word(inline['data']) }];
    }),
  };
}

function chatTurn({ role, content }: Body): Turn {
  const parts: readonly Body[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
  return {
    role: word(role),
    texts: parts.flatMap((part) => ('text' in part ? [word(part['text'])] : [])),
    images: parts.flatMap((part) => {
      const [, mimeType, data] = dataUri.exec(word(object(part['image_url'])?.['url'])) ?? [];
      return mimeType === undefined || data === undefined ? [] : [{ mimeType, data }];
    }),
  };
}

function wantedJson(endpoint: FakeAsk['endpoint'], body: Body): FakeAsk['json'] {
  if (endpoint === 'chat') {
    const format = object(body['response_format']);
    if (format?.['type'] === 'json_schema') return object(object(format['json_schema'])?.['schema']) ?? true;
    return format?.['type'] === 'json_object' ? true : undefined;
  }
  const config = object(body['generationConfig']);
  if (config?.['responseMimeType'] !== 'application/json') return undefined;
  return object(config['responseSchema']) ?? object(config['responseJsonSchema']) ?? true;
}

/** Understands a text call; what it lacks is refused elsewhere. */
export function readAsk(endpoint: FakeAsk['endpoint'], model: string, { body = {} }: FakeRequest): FakeAsk {
  const isChat = endpoint === 'chat';
  const raw = objects(isChat ? body['messages'] : body['contents']);
  const turns = raw.map(isChat ? chatTurn : nativeTurn);
  const last = turns.findLastIndex(({ role, texts }) => role === 'user' && texts.length > 0);
  const text = turns[last]?.texts.join('') ?? '';
  const rounds = turns.length - 1 - last;
  const system = isChat ? [] : nativeTurn(object(body['systemInstruction']) ?? {}).texts;
  const config = object(body['generationConfig']) ?? {};
  const digest = createHash('sha256').update(model).update(JSON.stringify(body)).digest();
  return {
    endpoint,
    model,
    body,
    text,
    texts: [...system, ...turns.flatMap(({ texts }) => texts)],
    rounds,
    turns: raw,
    images: turns.flatMap(({ images }) =>
      images.map(({ mimeType, data }) => ({ mimeType, bytes: Buffer.from(data, 'base64') })),
    ),
    json: wantedJson(endpoint, body),
    functions: objects(body['tools'])
      .flatMap((tool) => objects(tool['functionDeclarations']))
      .map(({ name }) => word(name)),
    candidates: Number(isChat ? (body['n'] ?? 1) : (config['candidateCount'] ?? 1)),
    hash: digest.readUInt32BE(0),
    name: rounds === 0 ? text : `${text} +${rounds}`,
  };
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * What a strict model refuses with 400 (gateway 8.2, 6.2).
 *
 * @returns the message, or undefined
 */
export function refusalOf(ask: FakeAsk): string | undefined {
  if (ask.endpoint === 'chat') return refusalOfChat(ask);
  if (ask.turns.length === 0) return 'contents is required';
  const config = object(ask.body['generationConfig']) ?? {};
  const thinking = object(config['thinkingConfig']) ?? {};
  if ('thinkingLevel' in thinking && 'thinkingBudget' in thinking)
    return 'You can only set only one of thinking budget and thinking level.';
  if (('responseSchema' in config || 'responseJsonSchema' in config) && ask.json === undefined)
    return 'responseSchema needs responseMimeType application/json';
  let calls: readonly Body[] = [];
  for (const turn of ask.turns) {
    const parts = objects(turn['parts']);
    if (parts.length === 0) return 'a turn has no parts';
    const answers = parts
      .map((part) => object(part['functionResponse']))
      .filter((found) => found !== undefined);
    const isAnswered =
      calls.length === answers.length &&
      calls.every(({ id, name }, i) => answers[i]?.['name'] === name && answers[i]?.['id'] === id);
    if (!isAnswered)
      return 'the number of function response parts is not that of the function call parts of the turn before';
    const calling = parts.filter((part) => 'functionCall' in part);
    if (calling.some((part) => part['thoughtSignature'] !== 'signed by the fake'))
      return 'Function call is missing a thought_signature in functionCall parts';
    calls = calling.map((part) => object(part['functionCall'])).filter((found) => found !== undefined);
    for (const part of parts) {
      const inline = object(part['inlineData']);
      if (inline !== undefined && !base64.test(word(inline['data']))) return 'inlineData is no base64';
    }
  }
  return ask.turns.at(-1)?.['role'] === 'model' ? 'the last turn is the model’s' : undefined;
}

function refusalOfChat({ turns, model }: FakeAsk): string | undefined {
  if (model === '') return 'model name is required';
  if (turns.length === 0) return 'messages is required';
  const isWrong = turns.some(
    ({ role, content }) =>
      typeof role !== 'string' || (typeof content !== 'string' && !Array.isArray(content)),
  );
  return isWrong ? 'a message has no role or no content' : undefined;
}
