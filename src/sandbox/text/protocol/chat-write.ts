import { type Candidate, type ModelReply, visibleText } from '../answer.ts';
import type { Members } from '../ask.ts';
import { modalSum, totalOf, type Usage } from '../models.ts';
import type { Stamp, StreamEvent } from './native-write.ts';
import { slicesOf } from './slices.ts';

/** Writes a whole reply (gateway 7.1). `isFunctionCall`: a call has the older form of the protocol, `function_call`. */
export function chatReply(reply: ModelReply, stamp: Stamp, isFunctionCall = false): Members {
  const candidates = reply.blocked === undefined ? reply.candidates : [undefined];
  return {
    ...head(stamp, 'chat.completion'),
    choices: candidates.map((candidate, index) => ({
      index,
      message: messageOf(candidate, isFunctionCall),
      logprobs: null,
      finish_reason: finishOf(candidate, isFunctionCall),
    })),
    usage: chatUsage(reply.usage),
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  };
}

/** Returns the events of a streamed reply, to which the caller adds `[DONE]`. */
export function chatEvents(
  reply: ModelReply,
  stamp: Stamp,
  digest: string,
  mishap: ModelReply['mishap'],
  { withUsage, isFunctionCall = false }: { readonly withUsage: boolean; readonly isFunctionCall?: boolean },
): readonly StreamEvent[] {
  const choice = (index: number, delta: Members, finish: string | null): Members => ({
    ...head(stamp, 'chat.completion.chunk'),
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    ...(withUsage ? { usage: null } : {}),
  });
  const events: (StreamEvent & { readonly ends?: boolean })[] = [];
  const count = reply.blocked === undefined ? reply.candidates.length : 1;
  for (let index = 0; index < count; index += 1) {
    events.push({ value: choice(index, { role: 'assistant', content: '', refusal: null }, null), tokens: 0 });
  }
  const calls = reply.candidates.map(() => 0);
  for (const { candidate, part, ends, tokens } of slicesOf(reply, digest)) {
    if (part?.kind === 'text')
      events.push({ value: choice(candidate, { content: part.text }, null), tokens });
    if (part?.kind === 'call') {
      const index = calls[candidate] ?? 0;
      calls[candidate] = index + 1;
      const text = JSON.stringify(part.args);
      const half = Math.ceil(text.length / 2);
      const first = { name: part.name, arguments: text.slice(0, half) };
      const rest = { arguments: text.slice(half) };
      const deltas = isFunctionCall
        ? [{ function_call: first }, { function_call: rest }]
        : [
            { tool_calls: [{ index, id: part.id, type: 'function', function: first }] },
            { tool_calls: [{ index, function: rest }] },
          ];
      for (const [at, delta] of deltas.entries())
        events.push({ value: choice(candidate, delta, null), tokens: at === 0 ? tokens : 0 });
    }
    if (ends !== undefined) {
      if (ends.finish === 'REFUSED') {
        events.push({ value: choice(candidate, { refusal }, null), tokens: 0 });
      }
      events.push({ value: choice(candidate, {}, finishOf(ends, isFunctionCall)), tokens: 0, ends: true });
    }
  }
  if (reply.blocked !== undefined) {
    events.push({ value: choice(0, {}, 'content_filter'), tokens: 0, ends: true });
  }
  if (mishap !== undefined) {
    const kept = events.filter(({ ends }) => ends !== true);
    const half = kept.slice(0, Math.ceil(kept.length / 2));
    return mishap === 'cut' ? half : [...half, { value: unavailable, tokens: 0 }];
  }
  if (!withUsage) return events;
  const last = { ...head(stamp, 'chat.completion.chunk'), choices: [], usage: chatUsage(reply.usage) };
  return [...events, { value: last, tokens: 0, usage: reply.usage }];
}

const unavailable = {
  error: {
    message: 'The model is overloaded. Please try again later.',
    type: 'server_error',
    param: '',
    code: 'service_unavailable',
  },
};

const refusal = "I'm sorry, but I can't help with that.";

const head = ({ model, responseId, at }: Stamp, object: string): Members => ({
  id: `chatcmpl-${responseId}`,
  object,
  created: Math.floor(at / 1000),
  model: model.version,
});

function messageOf(candidate: Candidate | undefined, isFunctionCall: boolean): Members {
  if (candidate === undefined) return { role: 'assistant', content: '', refusal: null, annotations: [] };
  const calls = candidate.parts.filter((part) => part.kind === 'call');
  const isRefusal = candidate.finish === 'REFUSED';
  return {
    role: 'assistant',
    content: calls.length > 0 || isRefusal ? null : visibleText(candidate),
    refusal: isRefusal ? refusal : null,
    annotations: [],
    ...(isFunctionCall
      ? calls.slice(0, 1).map((call) => ({ function_call: calledOf(call) }))[0]
      : calls.length > 0 && {
          tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: calledOf(call) })),
        }),
  };
}

const calledOf = ({ name, args }: { readonly name: string; readonly args: Members }): Members => ({
  name,
  arguments: JSON.stringify(args),
});

function finishOf(candidate: Candidate | undefined, isFunctionCall: boolean): string {
  switch (candidate?.finish) {
    case undefined:
    case 'SAFETY':
    case 'RECITATION':
      return 'content_filter';
    case 'MAX_TOKENS':
      return 'length';
    default:
      if (candidate?.parts.some(({ kind }) => kind === 'call') !== true) return 'stop';
      return isFunctionCall ? 'function_call' : 'tool_calls';
  }
}

/** Writes the usage of chat, where thoughts are a part of the completion. */
function chatUsage(usage: Usage): Members {
  const { prompt, cached, candidates, thoughts, tool } = usage;
  return {
    prompt_tokens: modalSum(prompt) + modalSum(tool),
    completion_tokens: modalSum(candidates) + thoughts,
    total_tokens: totalOf(usage),
    prompt_tokens_details: { cached_tokens: modalSum(cached), audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
