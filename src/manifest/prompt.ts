import type { Value } from '../pipeline/value.ts';
import { isTextRequest, type JobRequest, type TextRequest } from '../plan/job.ts';

/** What a job was asked for, exactly as sent; undefined where its request holds no prompt of its own. */
export function ownPrompt(request: JobRequest): string | undefined {
  const { prompt } = request.fields;
  if (typeof prompt === 'string') return prompt;
  return isTextRequest(request) ? lastUserTurn(request) : undefined;
}

/** Of a conversation that is written out (`contents`, `messages`): the text of the user's last turn. */
function lastUserTurn({ kind, fields }: TextRequest): string | undefined {
  const turns = kind === 'chat' ? fields['messages'] : fields['contents'];
  if (typeof turns === 'string') return turns;
  // A native content without a role is the user's (service.md 2.7).
  const last = [...listOf(turns)].reverse().find((turn) => (member(turn, 'role') ?? 'user') === 'user');
  if (last === undefined) return undefined;
  const content = kind === 'chat' ? member(last, 'content') : member(last, 'parts');
  if (typeof content === 'string') return content;
  const texts = listOf(content).flatMap((part) => {
    const text = typeof part === 'string' ? part : member(part, 'text');
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Both endpoints take a lone object for a list of one. */
const listOf = (value: Value | undefined): readonly Value[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

const member = (value: Value, name: string): Value | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Value>>)[name]
    : undefined;
