import type { Candidate, ModelReply, ReplyPart } from '../answer.ts';
import { type ModalTokens, modalSum, type TextModel, totalOf, type Usage } from '../models.ts';
import { type Slice, slicesOf } from './slices.ts';

/** What every event of one reply says alike. */
export interface Stamp {
  readonly model: TextModel;
  readonly responseId: string;
  /** Unix ms. */
  readonly at: number;
}

type Wire = Readonly<Record<string, unknown>>;

const categories = ['HATE_SPEECH', 'DANGEROUS_CONTENT', 'HARASSMENT', 'SEXUALLY_EXPLICIT'].map(
  (word) => `HARM_CATEGORY_${word}`,
);

const ratings = (probability: 'NEGLIGIBLE' | 'HIGH') =>
  categories.map((category, index) => {
    const high = probability === 'HIGH' && index === 1;
    return { category, probability: high ? 'HIGH' : 'NEGLIGIBLE', blocked: high };
  });

/** A whole reply (gateway 6.5). */
export function nativeReply(reply: ModelReply, stamp: Stamp): Wire {
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

/** The reply to a blocked prompt: no candidates (gateway 6.6). */
const blockedReply = ({ blocked, usage }: ModelReply, stamp: Stamp): Wire => ({
  promptFeedback: {
    blockReason: blocked,
    blockReasonMessage: 'The prompt was blocked.',
    safetyRatings: ratings('HIGH'),
  },
  ...replyTail(usage, stamp),
});

/** Content without parts has no `parts` at all (gateway 6.6). */
const contentOf = (parts: readonly Wire[]): Wire => ({
  ...(parts.length === 0 ? {} : { parts }),
  role: 'model',
});

/** The finish reason of a candidate on the wire. */
function nativeEnd(candidate: Candidate): Wire {
  const { finish, tokens, logprob, citations, grounding } = candidate;
  const count = modalSum(tokens);
  return {
    // Chat's refusal has no word here: such a reply is an empty one.
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

/** All parts of a candidate, its thoughts first. */
const partsOf = (candidate: Candidate): readonly Wire[] => [
  ...(candidate.thought === undefined ? [] : [{ text: candidate.thought, thought: true }]),
  ...candidate.parts.map(partOf),
];

function partOf(part: ReplyPart): Wire {
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

/** What stands behind the candidates. */
const replyTail = (usage: Usage, { model, responseId, at }: Stamp): Wire => ({
  usageMetadata: nativeUsage(usage),
  modelVersion: model.version,
  createTime: new Date(at).toISOString(),
  responseId,
});

/** Counts as the native endpoint writes them: what is 0 is absent, each sum has its details (gateway 6.5). */
function nativeUsage(usage: Usage): Wire {
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

function count(name: string, tokens: ModalTokens, details: string): Wire {
  const sum = modalSum(tokens);
  if (sum === 0) return {};
  const list = Object.entries(tokens)
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
  return { [name]: sum, [details]: list };
}

/** One event of a stream: its parts, its tokens, and the usage that the client knows by then. */
export interface StreamEvent {
  readonly value: unknown;
  readonly tokens: number;
  readonly usage?: Usage;
  /** A line of its own, and no event. */
  readonly bare?: boolean;
}

/** What a stream says in its middle that fails there (gateway 6.7). */
const unavailable = {
  error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
};

/** The events of a streamed answer (gateway 6.7). */
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
