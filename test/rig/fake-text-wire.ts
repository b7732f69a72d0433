import type { Body, FakeAsk } from './fake-ask.ts';
import type { Reply } from './fake-reply.ts';
import {
  candidatesOf,
  countTokens,
  type FakeCandidate,
  type FakeSaying,
  type FakeTokens,
} from './fake-saying.ts';

/** A reply in the words of one endpoint, in the pieces of a stream. */
interface Pieces {
  /** The whole reply as one object. */
  readonly whole: Body;
  /** The same as events of a stream, each with what it tells of the tokens. */
  readonly events: readonly { readonly body: Body; readonly tokens?: FakeTokens }[];
}

const created = 1_793_491_200;

/** The reply that says this (gateway 6.5, 6.7, 7.1). */
export function textReply(ask: FakeAsk, saying: FakeSaying, number: number): Reply {
  const isChat = ask.endpoint === 'chat';
  const isStream = isChat ? ask.body['stream'] === true : ask.endpoint === 'stream';
  const tokens = saying.tokens === null ? undefined : countTokens(ask, saying);
  const pieces = (isChat ? chatPieces : nativePieces)(ask, saying, tokens, number);
  const headers = { 'x-request-id': `text${number}` };
  if (!isStream) {
    const body = Buffer.from(JSON.stringify(pieces.whole));
    const type = { 'content-type': 'application/json; charset=utf-8' };
    return { status: 200, headers: { ...headers, ...type }, body, ...usageUpTo([[body.length, tokens]]) };
  }
  return streamReply(pieces.events, saying.stream, isChat, headers);
}

const usageUpTo = (
  marks: readonly (readonly [number, FakeTokens | undefined])[],
): Pick<Reply, 'usageMarks'> => ({
  usageMarks: marks.flatMap(([bytes, tokens]) => (tokens === undefined ? [] : [{ bytes, tokens }])),
});

const unavailable = {
  error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
};

function streamReply(
  events: Pieces['events'],
  fault: FakeSaying['stream'],
  isChat: boolean,
  headers: Readonly<Record<string, string>>,
): Reply {
  const breaks = fault !== undefined && fault !== 'done';
  const good = breaks ? events.slice(0, Math.ceil(events.length / 2)) : events;
  const chunks: Buffer[] = [];
  const marks: (readonly [number, FakeTokens | undefined])[] = [];
  let bytes = 0;
  const write = (text: string): void => {
    const chunk = Buffer.from(text);
    bytes += chunk.length;
    chunks.push(chunk);
  };
  for (const { body, tokens } of good) {
    write(`data: ${JSON.stringify(body)}\r\n\r\n`);
    marks.push([bytes, tokens]);
  }
  if (fault === 'error') write(`data: ${JSON.stringify(unavailable)}\r\n\r\n`);
  if (fault === 'bare-error') write(`${JSON.stringify(unavailable, null, 2)}\n`);
  if (fault === 'cut-event') write('data: {"candidates":[{"content":{"par\r\n\r\n');
  if (fault === 'done' || (isChat && !breaks)) write('data: [DONE]\r\n\r\n');
  return {
    status: 200,
    headers: { ...headers, 'content-type': 'text/event-stream' },
    body: Buffer.concat(chunks),
    chunks,
    ...usageUpTo(marks),
  };
}

/** A text in two pieces, neither of them empty where it can be helped. */
const halves = (text: string): readonly string[] =>
  text.length < 2
    ? [text]
    : [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))];

const sumOf = ({ prompt, candidates, thoughts, tool }: FakeTokens): number =>
  prompt + candidates + thoughts + tool;

const nativeUsage = (tokens: FakeTokens): Body => ({
  promptTokenCount: tokens.prompt,
  ...(tokens.candidates > 0 && { candidatesTokenCount: tokens.candidates }),
  ...(tokens.thoughts > 0 && { thoughtsTokenCount: tokens.thoughts }),
  ...(tokens.tool > 0 && { toolUsePromptTokenCount: tokens.tool }),
  totalTokenCount: sumOf(tokens),
  trafficType: 'ON_DEMAND',
});

const nativeParts = ({ thought, text, images = [], calls = [] }: FakeCandidate): readonly Body[] => [
  ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
  ...(text === undefined ? [] : [{ text }]),
  ...images.map((inlineData) => ({ inlineData })),
  ...calls.map((functionCall) => ({
    functionCall: { args: {}, ...functionCall },
    thoughtSignature: 'signed by the fake',
  })),
];

function nativeCandidate(
  { finishReason = 'STOP', finishMessage, more }: FakeCandidate,
  index: number,
  parts: readonly Body[],
  isLast: boolean,
): Body {
  return {
    content: { role: 'model', ...(parts.length > 0 && { parts }) },
    ...(isLast && finishReason !== null && { finishReason }),
    ...(isLast && finishMessage !== undefined && { finishMessage }),
    index,
    ...(isLast && more),
  };
}

function nativePieces(
  ask: FakeAsk,
  saying: FakeSaying,
  tokens: FakeTokens | undefined,
  number: number,
): Pieces {
  const facts = { modelVersion: `${ask.model}-001`, responseId: `response-${number}` };
  const usage = tokens === undefined ? {} : { usageMetadata: nativeUsage(tokens) };
  const { blockReason } = saying;
  const feedback = blockReason === undefined ? {} : { promptFeedback: { blockReason } };
  const candidates = candidatesOf(saying);
  const whole = {
    ...(candidates.length > 0 && {
      candidates: candidates.map((one, index) => nativeCandidate(one, index, nativeParts(one), true)),
    }),
    ...feedback,
    ...usage,
    ...facts,
  };
  if (candidates.length === 0) return { whole, events: [{ body: whole, ...(tokens && { tokens }) }] };
  const events = candidates.flatMap((one, index) => {
    const parts = nativeParts(one).flatMap((part) =>
      typeof part['text'] === 'string' ? halves(part['text']).map((text) => ({ ...part, text })) : [part],
    );
    return [
      ...parts.map((part) => ({ candidates: [nativeCandidate(one, index, [part], false)], ...facts })),
      { candidates: [nativeCandidate(one, index, [], true)], ...facts },
    ];
  });
  // Usage stands in every chunk and grows; at first it counts no candidates.
  const early = tokens && { ...tokens, candidates: 0, thoughts: 0 };
  return {
    whole,
    events: events.map((body, at) => {
      const known = at === events.length - 1 ? tokens : early;
      return known === undefined
        ? { body }
        : { body: { ...body, usageMetadata: nativeUsage(known) }, tokens: known };
    }),
  };
}

function chatPieces(
  ask: FakeAsk,
  saying: FakeSaying,
  tokens: FakeTokens | undefined,
  number: number,
): Pieces {
  const facts = { id: `chatcmpl-${number}`, created, model: `${ask.model}-001` };
  const usage = tokens && {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.candidates + tokens.thoughts,
    total_tokens: tokens.prompt + tokens.candidates + tokens.thoughts,
    completion_tokens_details: { reasoning_tokens: tokens.thoughts },
  };
  const candidates = candidatesOf(saying);
  const reasonOf = ({ finishReason = 'stop' }: FakeCandidate): string | null => finishReason;
  const whole = {
    ...facts,
    object: 'chat.completion',
    choices: candidates.map(({ text, refusal = null, thought, more, ...one }, index) => ({
      index,
      message: {
        role: 'assistant',
        content: text ?? null,
        refusal,
        ...(thought !== undefined && { reasoning_content: thought }),
      },
      finish_reason: reasonOf(one),
      ...more,
    })),
    ...(usage !== undefined && { usage }),
  };
  const chunk = (choices: readonly Body[]): { body: Body } => ({
    body: { ...facts, object: 'chat.completion.chunk', choices },
  });
  const events: Pieces['events'] = [
    ...candidates.flatMap((one, index) => [
      ...halves(one.text ?? '').map((content) => chunk([{ index, delta: { role: 'assistant', content } }])),
      chunk([
        {
          index,
          delta: one.refusal === undefined ? {} : { refusal: one.refusal },
          finish_reason: reasonOf(one),
        },
      ]),
    ]),
    ...(tokens === undefined ? [] : [{ body: { ...chunk([]).body, usage }, tokens }]),
  ];
  return { whole, events };
}
