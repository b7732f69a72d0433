import { isMapping, type Value } from '../pipeline/values/value.ts';
import type { TextRequest } from '../plan/job-request.ts';

/** The JSON that a request asks its answer to be; undefined: any text. */
export interface ExpectedJson {
  /** Absent: any JSON. */
  readonly schema?: Value;
}

const member = (value: Value | undefined, name: string): Value | undefined =>
  isMapping(value) ? value[name] : undefined;

/** `responseSchema`, the native fields that it is short for, and chat's `response_format` (service.md 4.2, rule 3). */
export function expectedJson({ kind, fields }: TextRequest): ExpectedJson | undefined {
  if (kind === 'chat') {
    const format = fields['response_format'];
    const type = member(format, 'type');
    if (type === 'json_object') return {};
    return type === 'json_schema' ? withSchema(member(member(format, 'json_schema'), 'schema')) : undefined;
  }
  const config = fields['generationConfig'];
  const schema =
    fields['responseSchema'] ?? member(config, 'responseSchema') ?? member(config, 'responseJsonSchema');
  if (schema !== undefined) return withSchema(schema);
  return member(config, 'responseMimeType') === 'application/json' ? {} : undefined;
}

const withSchema = (schema: Value | undefined): ExpectedJson => (schema === undefined ? {} : { schema });

const opening = /^```(?:json)?[ \t]*\r?\n/i;
const closing = '```';

/** What stands in the fence that a text is; its ends are looked for from the ends of the text, whatever it holds. */
function fenced(text: string): string | undefined {
  const block = text.trim();
  const start = opening.exec(block)?.[0].length;
  if (start === undefined || !block.endsWith(closing) || block.length < start + closing.length)
    return undefined;
  let end = block.length - closing.length;
  const drop = (character: string): boolean => {
    const isThere = end > start && block[end - 1] === character;
    if (isThere) end -= 1;
    return isThere;
  };
  while (drop(' ') || drop('\t'));
  drop('\n');
  drop('\r');
  return block.slice(start, end);
}

/** The JSON that a text is. Models like to put it in a single fence, which is taken off. */
export function parseAnswer(text: string): { readonly text: string; readonly value: unknown } | undefined {
  const inner = fenced(text);
  for (const candidate of inner === undefined ? [text] : [text, inner])
    try {
      return { text: candidate, value: JSON.parse(candidate) as unknown };
    } catch {
      // Not this one.
    }
  return undefined;
}
