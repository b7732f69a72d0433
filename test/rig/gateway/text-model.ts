import { isMapping } from '../../../src/pipeline/values/value.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import { isTextRequest } from '../../../src/plan/job-request.ts';
import { roundsIn } from '../../../src/run/effects/function-calls.ts';
import type { AskFault } from './faults.ts';
import type { Temper } from './temper.ts';

type Json = Readonly<Record<string, unknown>>;

/** A native answer, in the parts that a stream would bring it in. */
export interface ModelReply {
  readonly events: readonly Json[];
  /** Tokens of the whole reply. */
  readonly tokens: number;
}

/** Tokens of a call. */
export interface ModelUsage {
  readonly prompt: number;
  readonly candidates: number;
  readonly thoughts: number;
}

/**
 * What the model says to a request: always the same, but for what a fault makes of it. Calls functions twice where it
 * is given some, answers JSON that was asked for, and draws.
 */
export function modelReplyOf(
  record: JobRecord,
  temper: Temper,
  n: number,
  fault: AskFault | undefined,
): ModelReply {
  const { key, request } = record;
  if (!isTextRequest(request)) throw new Error(`${key} asks for no text.`);
  const usage = usageOf(temper, n);
  const reply = (parts: readonly Json[], finishReason = 'STOP'): ModelReply => ({
    tokens: usage.totalTokenCount,
    events: [
      ...parts.map((part) => ({
        candidates: [{ index: 0, content: { role: 'model', parts: [part] } }],
        usageMetadata: usage,
      })),
      {
        candidates: [{ index: 0, content: { role: 'model' }, finishReason }],
        usageMetadata: usage,
        modelVersion: 'v1',
      },
    ],
  });
  const thought = { text: 'Let me think.', thought: true, thoughtSignature: `s${key}` };
  switch (fits(fault, request.fields) ? fault : undefined) {
    case 'blocked':
      return {
        tokens: usage.totalTokenCount,
        events: [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: usage }],
      };
    case 'filtered':
      return reply([{ text: 'It is' }], 'SAFETY');
    case 'max-tokens':
      return reply([{ text: 'It was a dark' }], 'MAX_TOKENS');
    case 'all-thought':
      return reply([thought], 'MAX_TOKENS');
    case 'empty':
      return reply([]);
    case 'bad-call':
      return reply([], 'MALFORMED_FUNCTION_CALL');
    case 'stranger-call':
      return reply([{ functionCall: { name: 'launch', args: {} } }]);
    case 'endless-calls':
      return reply([{ functionCall: { name: 'wind', args: {} } }]);
    case 'not-json':
      return reply([{ text: 'Number two, I think.' }]);
    case 'schema':
      return reply([{ text: '{"best":9}' }]);
    default:
      return reply([thought, ...saidTo(record, temper, n)]);
  }
}

/** Whether what goes wrong can go wrong with such a request: a reply that is no JSON is a good one where none was asked for. */
function fits(fault: AskFault | undefined, fields: JobRecord['request']['fields']): boolean {
  const hasSchema = isMapping(fields['responseSchema']);
  if (fault === 'schema') return hasSchema;
  if (fault === 'not-json') return hasSchema || isMapping(fields['response_format']);
  return (fault !== 'stranger-call' && fault !== 'endless-calls') || isMapping(fields['functions']);
}

function saidTo({ key, request, turns }: JobRecord, temper: Temper, n: number): readonly Json[] {
  const { fields } = request;
  const config = fields['generationConfig'];
  if (isMapping(fields['functions']) && roundsIn(turns) < temper.rounds(key))
    return [
      { functionCall: { id: 'a', name: 'temperature', args: { of: key } }, thoughtSignature: `c${key}` },
      { functionCall: { name: 'wind', args: {} } },
    ];
  const schema = fields['responseSchema'];
  if (isMapping(schema)) {
    const isOfScenes = isMapping(schema['properties']) && schema['properties']['scenes'] !== undefined;
    const json = JSON.stringify(isOfScenes ? { scenes: temper.scenes(key, n) } : { best: temper.best(key) });
    return [{ text: temper.isFenced(key) ? `\`\`\`json\n${json}\n\`\`\`` : json }];
  }
  if (isMapping(fields['response_format'])) return [{ text: `{"note":"${key}"}` }];
  if (isMapping(config))
    return [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } }];
  return [{ text: `Words of ${key}` }, { text: ', and more of them.' }];
}

function usageOf(temper: Temper, n: number) {
  const { prompt, candidates, thoughts } = temper.usage(n);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: thoughts,
    totalTokenCount: prompt + candidates + thoughts,
  };
}
