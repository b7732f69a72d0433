import type { Candidate, ModelReply, ReplyPart } from '../answer.ts';
import type { Members } from '../ask.ts';
import { type ModalTokens, modalSum, type TextModel, totalOf, type Usage } from '../models.ts';
import { type Slice, slicesOf } from './slices.ts';

/** The members that all events of one reply share. */
export interface Stamp {
  readonly model: TextModel;
  readonly responseId: string;
  /** Unix ms. */
  readonly at: number;
}

const categories = ['HATE_SPEECH', 'DANGEROUS_CONTENT', 'HARASSMENT', 'SEXUALLY_EXPLICIT'].map(
  (word) => `HARM_CATEGORY_${word}`,
);

const ratings = (probability: 'NEGLIGIBLE' | 'HIGH') =>
  categories.map((category, index) => {
    const high = probability === 'HIGH' && index === 1;
    return { category, probability: high ? 'HIGH' : 'NEGLIGIBLE', blocked: high };
  });

/** Writes a whole reply (gateway 6.5). */
export function nativeReply(reply: ModelReply, stamp: Stamp): Members {
  if (reply.blocked !== undefined) return blockedReply(reply, stamp);
  return {
    candidates: reply.candidates.map((candidate, index) => ({
      content: contentOf(partsOf(candidate)),
      ...nativeEnd(candidate),
      index,
    })),
    ...replyTail(reply.usage, stamp),
  };
}

/** Writes the reply to a blocked prompt, without candidates (gateway 6.6). */
const blockedReply = ({ blocked, usage }: ModelReply, stamp: Stamp): Members => ({
  promptFeedback: {
    blockReason: blocked,
    blockReasonMessage: 'The prompt was blocked.',
    safetyRatings: ratings('HIGH'),
  },
  ...replyTail(usage, stamp),
});

/** Writes a content; without parts it has no member `parts` (gateway 6.6). */
const contentOf = (parts: readonly Members[]): Members => ({
  ...(parts.length === 0 ? {} : { parts }),
  role: 'model',
});

/** Writes the finish reason of a candidate and the members beside it. */
function nativeEnd(candidate: Candidate): Members {
  const { finish, tokens, logprob, citations, grounding } = candidate;
  const count = modalSum(tokens);
  return {
    // The native endpoint has no word for a refusal: the reply is empty.
    finishReason: finish === 'REFUSED' ? 'STOP' : finish,
    ...(finish === 'MALFORMED_FUNCTION_CALL'
      ? { finishMessage: 'Malformed function call: print(default_api.' }
      : {}),
    safetyRatings: ratings(finish === 'SAFETY' ? 'HIGH' : 'NEGLIGIBLE'),
    ...(citations.length === 0 ? {} : { citationMetadata: { citationSources: citations } }),
    ...(count === 0 ? {} : { tokenCount: count, avgLogprobs: logprob }),
    ...(grounding === undefined ? {} : { groundingMetadata: grounding }),
  };
}

const partsOf = (candidate: Candidate): readonly Members[] => [
  ...(candidate.thought === undefined ? [] : [{ text: candidate.thought, thought: true }]),
  ...candidate.parts.map(partOf),
];

function partOf(part: ReplyPart): Members {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'call': {
      const { id, name, args, signature } = part;
      return {
        functionCall: { ...(signature === undefined ? {} : { id }), name, args },
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      };
    }
    case 'image':
      return { inlineData: { mimeType: 'image/png', data: part.png.toString('base64') } };
    case 'code':
      return { executableCode: { language: 'PYTHON', code: part.code } };
    case 'output':
      return { codeExecutionResult: { outcome: 'OUTCOME_OK', output: part.output } };
  }
}

/** Writes the members behind the candidates. */
const replyTail = (usage: Usage, { model, responseId, at }: Stamp): Members => ({
  usageMetadata: nativeUsage(usage),
  modelVersion: model.version,
  createTime: new Date(at).toISOString(),
  responseId,
});

/** Writes the usage of the native endpoint: counts of 0 are absent, each sum has its details (gateway 6.5). */
function nativeUsage(usage: Usage): Members {
  const { prompt, cached, candidates, thoughts, tool } = usage;
  return {
    ...count('promptTokenCount', prompt, 'promptTokensDetails'),
    ...count('cachedContentTokenCount', cached, 'cacheTokensDetails'),
    ...count('candidatesTokenCount', candidates, 'candidatesTokensDetails'),
    ...count('toolUsePromptTokenCount', tool, 'toolUsePromptTokensDetails'),
    ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
    totalTokenCount: totalOf(usage),
    trafficType: 'ON_DEMAND',
  };
}

function count(name: string, tokens: ModalTokens, details: string): Members {
  const sum = modalSum(tokens);
  if (sum === 0) return {};
  const list = Object.entries(tokens)
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
  return { [name]: sum, [details]: list };
}

/** An event of a stream, its tokens, and the usage that the client knows after it. */
export interface StreamEvent {
  readonly value: unknown;
  readonly tokens: number;
  readonly usage?: Usage;
  /** Whether the value is a plain line instead of an event. */
  readonly bare?: boolean;
}

/** The last event of a stream that fails in its middle (gateway 6.7). */
const unavailable = {
  error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
};

/** Returns the events of a streamed reply (gateway 6.7). */
export function nativeEvents(
  reply: ModelReply,
  stamp: Stamp,
  digest: string,
  mishap: ModelReply['mishap'],
): readonly StreamEvent[] {
  if (reply.blocked !== undefined) {
    return [{ value: blockedReply(reply, stamp), tokens: 0, usage: reply.usage }];
  }
  const events = slicesOf(reply, digest).map((slice) => ({
    value: eventOf(slice, stamp),
    tokens: slice.tokens,
    usage: slice.usage,
    ends: slice.ends !== undefined,
  }));
  if (mishap === undefined) return events;
  const kept = events.filter(({ ends }) => !ends);
  const half = kept.slice(0, Math.ceil(kept.length / 2));
  return mishap === 'cut' ? half : [...half, { value: unavailable, tokens: 0 }];
}

function eventOf({ candidate, part, ends, usage }: Slice, stamp: Stamp): unknown {
  const parts =
    part === undefined ? [] : [part.kind === 'thought' ? { text: part.text, thought: true } : partOf(part)];
  return {
    candidates: [
      {
        ...(part === undefined && ends !== undefined && ends.parts.length > 0
          ? {}
          : { content: contentOf(parts) }),
        ...(ends === undefined ? {} : nativeEnd(ends)),
        index: candidate,
      },
    ],
    ...replyTail(usage, stamp),
  };
}
