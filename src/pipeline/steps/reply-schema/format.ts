import { hasTags } from '../../templates/compile.ts';
import { isMapping, type Value } from '../../values/value.ts';

/** What a text request says about the form of its reply. */
export interface ReplyFormat {
  /** The reply is asked for as JSON; undefined where a template decides it. */
  readonly json: boolean | undefined;
  /** The schema that it must keep to, as declared. */
  readonly schema?: Value;
}

/** Where a schema may be declared; the first that is there holds. */
export const schemaPaths: Readonly<Record<'generate' | 'chat', readonly (readonly string[])[]>> = {
  generate: [
    ['responseSchema'],
    ['generationConfig', 'responseSchema'],
    ['generationConfig', 'responseJsonSchema'],
  ],
  chat: [['response_format', 'json_schema', 'schema']],
};

const at = (value: Value | undefined, path: readonly string[]): Value | undefined =>
  path.reduce<Value | undefined>(
    (part, name) => (isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    value,
  );

/** The form of the reply that a request's fields (by their pipeline names, rendered or as written) ask for. */
export function replyFormat(kind: 'generate' | 'chat', fields: Readonly<Record<string, Value>>): ReplyFormat {
  for (const path of schemaPaths[kind]) {
    const schema = at(fields, path);
    // What is a text here is still a template, and will be the schema.
    if (typeof schema === 'string') return { json: true };
    if (isMapping(schema)) return { json: true, schema };
  }
  const word =
    kind === 'generate'
      ? at(fields, ['generationConfig', 'responseMimeType'])
      : at(fields, ['response_format', 'type']);
  if (typeof word !== 'string') return { json: false };
  if (hasTags(word)) return { json: undefined };
  return { json: kind === 'generate' ? /^application\/json\b/i.test(word) : word.startsWith('json') };
}
