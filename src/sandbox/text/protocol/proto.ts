import { isMembers, type Members } from '../ask.ts';

/**
 * The type of a field of the native endpoint. The endpoint reads proto JSON: names in snake case or camel case, null as absent, numbers
 * also as strings; its errors name the path of the field.
 */
export type Field =
  | { readonly kind: 'string' | 'bool' | 'float' | 'int' | 'bytes' | 'struct' | 'any' }
  | { readonly kind: 'enum'; readonly type: string; readonly values: readonly string[] }
  | { readonly kind: 'message'; readonly message: Message }
  /** `single`: a single item counts as a list of one (gateway 6.2). */
  | { readonly kind: 'list'; readonly of: Field; readonly single?: boolean }
  | { readonly kind: 'map'; readonly of: Field };

/** The service's name of a message, and its fields by their camelCase names. */
export interface Message {
  readonly type: string;
  readonly fields: () => Readonly<Record<string, Field>>;
}

const maxErrors = 20;
const deepest = 100;

const package_ = 'type.googleapis.com/google.ai.generativelanguage.v1beta.';

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const scalarTypes = {
  string: 'TYPE_STRING',
  bool: 'TYPE_BOOL',
  float: 'TYPE_FLOAT',
  int: 'TYPE_INT32',
  bytes: 'TYPE_BYTES',
} as const;

/** Reads a body by its message. Returns the fields by their camelCase names, or all errors in the service's words. */
export function readProto(
  body: Members,
  message: Message,
):
  | { readonly ok: true; readonly value: Members }
  | { readonly ok: false; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const value = readMessage(body, message, '', errors, 0);
  return errors.length === 0 ? { ok: true, value } : { ok: false, errors: errors.slice(0, maxErrors) };
}

function readMessage(
  given: Members,
  message: Message,
  path: string,
  errors: string[],
  depth: number,
): Members {
  const read: Record<string, unknown> = {};
  const fields = new Map(
    Object.entries(message.fields()).flatMap(([name, field]) => [
      [name, { name, field }],
      [snake(name), { name, field }],
    ]),
  );
  for (const [name, value] of Object.entries(given)) {
    if (errors.length >= maxErrors) break;
    const known = fields.get(name);
    if (known === undefined) {
      errors.push(unknownName(name, path, 'Cannot find field.'));
    } else if (value !== null) {
      if (Object.hasOwn(read, known.name)) {
        errors.push(unknownName(name, path, `Proto field is already set.`));
        continue;
      }
      const at = path === '' ? snake(known.name) : `${path}.${snake(known.name)}`;
      read[known.name] = readField(value, known.field, at, errors, depth + 1);
    }
  }
  return read;
}

function readField(value: unknown, field: Field, path: string, errors: string[], depth: number): unknown {
  if (depth > deepest) {
    errors.push(`Invalid JSON payload received. Nesting is deeper than ${deepest} at '${path}'.`);
    return undefined;
  }
  if (Array.isArray(value) && field.kind !== 'list' && field.kind !== 'any') {
    const [, parent = '', name = path] = /^(.*)\.([^.]*)$/.exec(path) ?? [];
    errors.push(unknownName(name, parent, 'Proto field is not repeating, cannot start list.'));
    return undefined;
  }
  switch (field.kind) {
    case 'any':
      return value;
    case 'message':
      if (isMembers(value)) return readMessage(value, field.message, path, errors, depth);
      return wrong(value, path, `${package_}${field.message.type}`, errors);
    case 'struct':
      return isMembers(value)
        ? value
        : wrong(value, path, 'type.googleapis.com/google.protobuf.Struct', errors);
    case 'list': {
      if (!Array.isArray(value)) {
        return field.single === true
          ? [readField(value, field.of, `${path}[0]`, errors, depth)]
          : wrong(value, path, typeNameOf(field.of), errors);
      }
      return value.map((item, index) => readField(item, field.of, `${path}[${index}]`, errors, depth));
    }
    case 'map': {
      if (!isMembers(value)) return wrong(value, path, typeNameOf(field.of), errors);
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [
          name,
          readField(item, field.of, `${path}[${quote(name)}].value`, errors, depth),
        ]),
      );
    }
    case 'enum': {
      const word =
        typeof value === 'string' ? field.values.find((each) => each === value.toUpperCase()) : undefined;
      return word ?? wrong(value, path, `${package_}${field.type}`, errors);
    }
    case 'bytes': {
      if (typeof value !== 'string') return wrong(value, path, scalarTypes.bytes, errors);
      const bytes = bytesOf(value);
      if (bytes !== undefined) return bytes;
      errors.push(
        `Invalid value at '${path}' (TYPE_BYTES), Base64 decoding failed for ${quote(value.slice(0, 60))}`,
      );
      return undefined;
    }
    case 'string':
      return typeof value === 'string' ? value : wrong(value, path, scalarTypes.string, errors);
    case 'bool':
      return typeof value === 'boolean' ? value : wrong(value, path, scalarTypes.bool, errors);
    case 'float':
    case 'int': {
      const number =
        typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value) : value;
      const fits =
        typeof number === 'number' &&
        Number.isFinite(number) &&
        (field.kind === 'float' || Number.isInteger(number));
      return fits ? number : wrong(value, path, scalarTypes[field.kind], errors);
    }
  }
}

/** Decodes base64 in either alphabet, padded or not. Returns undefined for any other text. */
export function bytesOf(text: string): Buffer | undefined {
  const bare = text.replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]*$|^[A-Za-z0-9_-]*$/.test(bare) || bare.length % 4 === 1) return undefined;
  return Buffer.from(bare, 'base64');
}

const quote = (text: string): string => JSON.stringify(text);

function typeNameOf(field: Field): string {
  switch (field.kind) {
    case 'message':
      return `${package_}${field.message.type}`;
    case 'enum':
      return `${package_}${field.type}`;
    case 'list':
    case 'map':
      return typeNameOf(field.of);
    case 'struct':
    case 'any':
      return 'type.googleapis.com/google.protobuf.Value';
    default:
      return scalarTypes[field.kind];
  }
}

function wrong(value: unknown, path: string, type: string, errors: string[]): undefined {
  errors.push(`Invalid value at '${path}' (${type}), ${(JSON.stringify(value) ?? '').slice(0, 100)}`);
  return undefined;
}

const unknownName = (name: string, path: string, why: string): string =>
  `Invalid JSON payload received. Unknown name ${quote(name.slice(0, 100))}${path === '' ? '' : ` at '${path}'`}: ${why}`;
