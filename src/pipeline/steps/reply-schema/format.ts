import { kinds, type TextKind } from '../../kinds.ts';
import { hasTags } from '../../templates/compile.ts';
import { isMapping, type Value } from '../../values/value.ts';

/** The reply format that a text request asks for. */
export interface ReplyFormat {
  /** Whether the reply is JSON; undefined if a template decides it. */
  readonly json: boolean | undefined;
  /** The schema of the reply, as declared. */
  readonly schema?: Value;
  /** Set for `text/x.enum`: the reply is a bare word of the schema's enum. */
  readonly isWord?: true;
}

const at = (value: Value | undefined, path: readonly string[]): Value | undefined =>
  path.reduce<Value | undefined>(
    (part, name) => (isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    value,
  );

/** Returns the reply format of a request, from its fields by their pipeline names, rendered or as written. */
export function replyFormat(kind: TextKind, fields: Readonly<Record<string, Value>>): ReplyFormat {
  const { replyType, schemas } = kinds[kind];
  const given = at(fields, replyType.path);
  const word = typeof given === 'string' ? given : undefined;
  const isTemplate = word !== undefined && hasTags(word);
  const isJsonWord = word !== undefined && replyType.json.test(word);
  for (const path of schemas) {
    const schema = at(fields, path);
    // A text is still a template, which will yield the schema.
    if (typeof schema !== 'string' && !isMapping(schema)) continue;
    const declared = isMapping(schema) ? { schema } : {};
    if (word === undefined || isTemplate || isJsonWord) return { json: true, ...declared };
    return /^text\/x\.enum\b/i.test(word) ? { json: false, isWord: true, ...declared } : { json: false };
  }
  return { json: isTemplate ? undefined : isJsonWord };
}
