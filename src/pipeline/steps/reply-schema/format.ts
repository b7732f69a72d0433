import { kinds, type TextKind } from '../../kinds.ts';
import { hasTags } from '../../templates/compile.ts';
import { isMapping, type Value } from '../../values/value.ts';

/** What a text request says about the form of its reply. */
export interface ReplyFormat {
  /** The reply is asked for as JSON; undefined where a template decides it. */
  readonly json: boolean | undefined;
  /** The schema that it must keep to, as declared. */
  readonly schema?: Value;
  /** Of `text/x.enum`: the reply is a word of the schema's enum as it stands. */
  readonly isWord?: true;
}

const at = (value: Value | undefined, path: readonly string[]): Value | undefined =>
  path.reduce<Value | undefined>(
    (part, name) => (isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    value,
  );

/** The form of the reply that a request's fields (by their pipeline names, rendered or as written) ask for. */
export function replyFormat(kind: TextKind, fields: Readonly<Record<string, Value>>): ReplyFormat {
  const { replyType, schemas } = kinds[kind];
  const given = at(fields, replyType.path);
  const word = typeof given === 'string' ? given : undefined;
  const isTemplate = word !== undefined && hasTags(word);
  const isJsonWord = word !== undefined && replyType.json.test(word);
  for (const path of schemas) {
    const schema = at(fields, path);
    // What is a text here is still a template, and will be the schema.
    if (typeof schema !== 'string' && !isMapping(schema)) continue;
    const declared = isMapping(schema) ? { schema } : {};
    if (word === undefined || isTemplate || isJsonWord) return { json: true, ...declared };
    return /^text\/x\.enum\b/i.test(word) ? { json: false, isWord: true, ...declared } : { json: false };
  }
  return { json: isTemplate ? undefined : isJsonWord };
}
