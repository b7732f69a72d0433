import type { JobRecord } from '../../../src/plan/job.ts';
import { isTextRequest } from '../../../src/plan/job-request.ts';
import type { CallResult } from '../../../src/run/machine/job.ts';
import { connectionFailure } from '../../../src/service/failures/classify.ts';
import type { ConnectionFailure } from '../../../src/service/http/reply.ts';
import { texts } from '../../../src/service/kinds.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import { readReply } from '../../../src/service/text/reply/read.ts';
import { StreamReader } from '../../../src/service/text/stream/reader.ts';
import type { TextReply } from '../../../src/service/text-service.ts';
import { askedOf } from '../text-reply.ts';
import { type AskFault, fileFailures } from './faults.ts';
import { replyOf, textFacts } from './reply.ts';
import type { Temper } from './temper.ts';
import { type ModelReply, modelReplyOf } from './text-model.ts';

/** What certainly costs nothing of a call that goes wrong; whatever else left may be charged. */
const unpaid: ReadonlySet<AskFault> = new Set([
  '400',
  '403',
  '413',
  '429',
  '429-retry-info',
  '503',
  'refused',
  'unread-retry',
  'unread-permanent',
]);

/** True where the gateway may charge for a text call, whether anybody hears of it or not. */
export const mayCharge = (fault: AskFault | undefined): boolean => fault === undefined || !unpaid.has(fault);

/**
 * The text half of the gateway: what the model says, in bytes that the real client's readers judge, and what
 * happens to them on the way.
 */
export function carryOutAsk(
  record: JobRecord,
  temper: Temper,
  n: number,
  fault: AskFault | undefined,
): CallResult {
  if (fault === 'unread-retry' || fault === 'unread-permanent')
    return { kind: 'unread', error: fileFailures[fault] };
  const result = answered(record, temper, n, fault);
  if (!result.ok) return { kind: 'refused', error: result.error };
  const asked = askedOf(record, result.value);
  const isWritten = record.keep && asked.kind === 'answered' && asked.asked.verdict.kind !== 'calls';
  if (
    isWritten &&
    (fault === 'unwritten-retry' || fault === 'unwritten-permanent' || fault === 'unwritten-disk')
  )
    return {
      kind: 'unwritten',
      error: fileFailures[fault],
      ...(result.value.usage === undefined ? {} : { usage: result.value.usage }),
    };
  return asked;
}

function answered(
  record: JobRecord,
  temper: Temper,
  n: number,
  fault: AskFault | undefined,
): ServiceResult<TextReply> {
  if (!isTextRequest(record.request)) throw new Error(`${record.key} asks for no text.`);
  const { kind } = record.request;
  const { stream = false, accept = [] } = record.call ?? {};
  const lost = (code: ConnectionFailure['code'], sent: boolean): ServiceResult<TextReply> => ({
    ok: false,
    error: connectionFailure({ code, what: 'it was lost' }, sent, textFacts),
  });
  const refused = (status: number, body: unknown): ServiceResult<TextReply> =>
    readReply(
      { kind: 'refusal', reply: replyOf(status, body) },
      { read: texts[kind].read, stream, accept },
      textFacts,
    );
  const envelope = (words: string) => ({
    error: { code: '', message: `${words} (request id: r${n})`, type: 'x' },
  });
  const status = fault === undefined ? undefined : /^(\d{3})(?:$|-counted)/.exec(fault)?.[1];
  if (status !== undefined)
    return refused(Number(status), envelope(status === '429' ? 'slower' : `not ${record.key}`));
  switch (fault) {
    case '429-retry-info':
      return refused(429, {
        error: {
          code: 429,
          message: 'quota',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' }],
        },
      });
    case 'html-502':
      return refused(502, '<html><title>Bad gateway</title></html>');
    case 'refused':
      return lost('connection.refused', false);
    case 'reset':
    case 'reset-counted':
      return lost('connection.lost', true);
    case 'timeout-counted':
      return lost('connection.timeout', true);
    default: {
      const reader = new StreamReader(texts[kind]);
      reader.push(Buffer.from(bytesOf(modelReplyOf(record, temper, n, fault), kind, stream, fault)));
      const end = reader.end();
      const { usage } = reader;
      const reply = replyOf(200, '', temper.headers?.());
      const received = { kind: 'read', reply, end, ...(usage && { usage }) } as const;
      return readReply(received, { read: texts[kind].read, stream, accept }, textFacts);
    }
  }
}

/** A reply as it travels. What breaks streams leaves a reply that is none alone. */
function bytesOf(
  { events }: ModelReply,
  kind: 'generate' | 'chat',
  stream: boolean,
  fault: AskFault | undefined,
): string {
  const sent = kind === 'chat' ? events.flatMap(chatEvent) : events;
  if (!stream) {
    const whole = JSON.stringify(kind === 'chat' ? wholeChat(events) : wholeNative(events));
    return fault === 'truncated' || fault === 'cut-event' ? whole.slice(0, -5) : whole;
  }
  const event = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`;
  const error = (code: number): string => event({ error: { code, message: 'overloaded', status: '' } });
  const lines = sent.map(event);
  switch (fault) {
    case 'truncated':
      return lines.slice(0, -1).join('');
    case 'cut-event':
      return lines.join('').slice(0, -12);
    case 'in-stream-503':
      return `${lines.slice(0, 1).join('')}${error(503)}`;
    case 'in-stream-429':
      return `${lines.slice(0, 1).join('')}${error(429)}`;
    default:
      return lines.join('');
  }
}

type Json = Readonly<Record<string, unknown>>;
interface Candidate {
  readonly content?: { readonly parts?: readonly Json[] };
  readonly finishReason?: string;
}

const candidateOf = (event: Json): Candidate | undefined =>
  (event['candidates'] as readonly Candidate[] | undefined)?.[0];

function wholeNative(events: readonly Json[]): Json {
  const parts = events.flatMap((event) => candidateOf(event)?.content?.parts ?? []);
  const last = events.at(-1) ?? {};
  const finished = candidateOf(last);
  return finished === undefined
    ? last
    : {
        ...last,
        candidates: [{ ...finished, content: { role: 'model', ...(parts.length > 0 && { parts }) } }],
      };
}

const textOf = (event: Json): string =>
  (candidateOf(event)?.content?.parts ?? [])
    .map((part) => (part['thought'] !== true && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');

const finishOf = (event: Json): string | undefined => {
  const reason = candidateOf(event)?.finishReason;
  if (reason === undefined) return undefined;
  return { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter' }[reason] ?? reason;
};

function chatUsage(event: Json): Json {
  const usage = (event['usageMetadata'] ?? {}) as Readonly<Record<string, number>>;
  const { promptTokenCount = 0, totalTokenCount = 0 } = usage;
  return {
    prompt_tokens: promptTokenCount,
    completion_tokens: totalTokenCount - promptTokenCount,
    total_tokens: totalTokenCount,
  };
}

const chatEvent = (event: Json): readonly Json[] => [
  {
    choices:
      candidateOf(event) === undefined
        ? []
        : [{ index: 0, delta: { content: textOf(event) }, finish_reason: finishOf(event) ?? null }],
    usage: chatUsage(event),
  },
];

const wholeChat = (events: readonly Json[]): Json => {
  const last = events.at(-1) ?? {};
  return {
    choices:
      candidateOf(last) === undefined
        ? []
        : [
            {
              index: 0,
              message: { role: 'assistant', content: events.map(textOf).join('') },
              finish_reason: finishOf(last) ?? 'stop',
            },
          ],
    usage: chatUsage(last),
  };
};
