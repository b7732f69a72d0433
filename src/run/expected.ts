import { isMapping, type Value } from '../pipeline/value.ts';
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

const fence = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/i;

/** The JSON that a text is. Models like to put it in a single fence, which is taken off. */
export function parseAnswer(text: string): { readonly text: string; readonly value: unknown } | undefined {
  const inner = fence.exec(text)?.[1];
  for (const candidate of inner === undefined ? [text] : [text, inner])
    try {
      return { text: candidate, value: JSON.parse(candidate) as unknown };
    } catch {
      // Not this one.
    }
  return undefined;
}
