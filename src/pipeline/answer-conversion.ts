import { type Keyword, keywordShapes, silentKeywords, typeWords } from './answer-keywords.ts';
import { listing, nearest } from './near.ts';
import { patternMistake } from './selector-pattern.ts';

/** Something in a schema that is not right, at the keys that lead to it. */
export interface SchemaMistake {
  readonly severity: 'error' | 'warning';
  readonly path: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

type Json = { readonly [name: string]: unknown };
type Path = readonly string[];

/** As much as any service takes, and little enough to be compiled in no time. */
const limits = { subschemas: 2000, depth: 100, targets: 100 } as const;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** A schema in JSON Schema 2020-12, and what was wrong with the one it was made of. */
export interface ConvertedSchema {
  readonly schema: unknown;
  readonly mistakes: readonly SchemaMistake[];
}

/**
 * Turns a declared answer schema into JSON Schema 2020-12. It may be JSON Schema, or the subset of OpenAPI that native
 * text endpoints take: upper-case types, `nullable`, counts as texts (protocol.md 5.1). Keywords that assert nothing
 * are left out, as are patterns whose match could take for ever; each `$ref` leads to a schema of its own.
 *
 * @param meter keyword that is put into every subschema with the value `true`, so that the work of a check is counted
 */
export const convertSchema = (schema: unknown, meter: string): ConvertedSchema =>
  new Conversion(schema, meter).run();

class Conversion {
  readonly #root: unknown;
  readonly #meter: string;
  readonly #mistakes: SchemaMistake[] = [];
  /** Schemas that a `$ref` leads to, by its pointer. */
  readonly #targets = new Map<string, { readonly name: string; schema?: unknown }>();
  readonly #waiting: { readonly pointer: string; readonly path: Path; readonly schema: unknown }[] = [];
  /** Which targets apply to the very same value as a target does. */
  readonly #sameValue = new Map<string, { readonly pointer: string; readonly path: Path }[]>();
  #subschemas = 0;
  #isFull = false;

  constructor(root: unknown, meter: string) {
    this.#root = root;
    this.#meter = meter;
  }

  run(): ConvertedSchema {
    this.#target('#', [], this.#root);
    for (const { pointer, path, schema } of this.#waiting) {
      const converted = this.#schema(schema, path, pointer);
      (this.#targets.get(pointer) as { schema?: unknown }).schema = converted;
    }
    this.#reportCycles();
    const definitions = [...this.#targets.values()].map(({ name, schema }) => [name, schema ?? true]);
    return {
      schema: { $ref: '#/$defs/t0', $defs: Object.fromEntries(definitions) },
      mistakes: this.#mistakes,
    };
  }

  #target(pointer: string, path: Path, schema: unknown): string {
    const known = this.#targets.get(pointer);
    if (known !== undefined) return known.name;
    const name = `t${this.#targets.size}`;
    // The root is one of them.
    if (this.#targets.size > limits.targets) {
      if (!this.#isFull) {
        this.#error(path, `A schema may have ${limits.targets} parts that are referred to, not more.`);
      }
      this.#isFull = true;
      return name;
    }
    this.#targets.set(pointer, { name });
    this.#waiting.push({ pointer, path, schema });
    return name;
  }

  /** @param owner the target that this schema applies to the same value as; undefined below a member or item */
  #schema(schema: unknown, path: Path, owner: string | undefined): unknown {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) return this.#error(path, 'A schema is a mapping.', true);
    this.#subschemas += 1;
    if (this.#subschemas === limits.subschemas + 1) {
      this.#error(path, `A schema may have ${limits.subschemas} parts, not more.`, true);
    }
    if (this.#subschemas > limits.subschemas) return true;
    if (path.length > limits.depth) return this.#error(path, 'The schema is nested too deep.', true);
    const members = Object.entries(schema).flatMap(([word, value]) =>
      this.#keyword(word, value, [...path, word], owner),
    );
    this.#checkRequired(schema, path);
    const converted = Object.fromEntries(members);
    // Members that a pattern that is not checked would have named cannot be told from others.
    if (isObject(schema['patternProperties']) && this.#hasUnchecked(schema['patternProperties'])) {
      delete converted['additionalProperties'];
      delete converted['unevaluatedProperties'];
    }
    converted[this.#meter] = true;
    return schema['nullable'] === true ? nullable(converted) : converted;
  }

  #keyword(word: string, value: unknown, path: Path, owner: string | undefined): [string, unknown][] {
    const shape = keywordShapes.get(word);
    if (shape === undefined) {
      this.#checkWord(word, path);
      return [];
    }
    const converted = this.#value(shape, word, value, path, owner);
    return converted === undefined ? [] : [[word, converted]];
  }

  #value(shape: Keyword, word: string, value: unknown, path: Path, owner: string | undefined): unknown {
    switch (shape) {
      case 'same-value':
        return this.#schema(value, path, owner);
      case 'member':
        return this.#schema(value, path, undefined);
      case 'same-value-list':
      case 'member-list': {
        if (!Array.isArray(value) || value.length === 0)
          return this.#error(path, `"${word}" is a list of schemas.`);
        const inner = shape === 'member-list' ? undefined : owner;
        return value.map((item, index) => this.#schema(item, [...path, String(index)], inner));
      }
      case 'same-value-map':
      case 'member-map':
      case 'pattern-map': {
        if (!isObject(value)) return this.#error(path, `"${word}" is a mapping of schemas.`);
        return this.#map(shape, value, path, shape === 'same-value-map' ? owner : undefined);
      }
      case 'definitions': {
        if (!isObject(value)) return this.#error(path, `"${word}" is a mapping of schemas.`);
        for (const [name, one] of Object.entries(value)) {
          const way = [...path, name];
          this.#target(pointerOf(way), way, one);
        }
        return undefined;
      }
      case 'ref':
        return this.#ref(value, path, owner);
      case 'type':
        return this.#type(value, path);
      case 'pattern':
        return this.#pattern(value, path) ? value : undefined;
      case 'number':
        return typeof value === 'number' && (word !== 'multipleOf' || value > 0)
          ? value
          : this.#error(path, `"${word}" is a number${word === 'multipleOf' ? ' above 0' : ''}.`);
      case 'count': {
        // Native schemas write 64-bit integers as texts.
        const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
        return Number.isSafeInteger(number) && (number as number) >= 0
          ? number
          : this.#error(path, `"${word}" is a whole number from 0.`);
      }
      case 'flag':
        return typeof value === 'boolean' ? value : this.#error(path, `"${word}" is true or false.`);
      case 'nullable':
        if (typeof value !== 'boolean') this.#error(path, `"${word}" is true or false.`);
        return undefined;
      case 'names':
        return isStrings(value) ? [...new Set(value)] : this.#error(path, `"${word}" is a list of names.`);
      case 'names-map':
        return isObject(value) && Object.values(value).every(isStrings)
          ? value
          : this.#error(path, `"${word}" is a mapping of lists of names.`);
      case 'values':
        return Array.isArray(value) && value.length > 0
          ? value
          : this.#error(path, `"${word}" is a list of values, and not an empty one.`);
      case 'value':
        return value;
    }
  }

  #map(shape: Keyword, value: Json, path: Path, owner: string | undefined): Json {
    const entries = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      const way = [...path, name];
      const converted = this.#schema(one, way, owner);
      return shape === 'pattern-map' && !this.#pattern(name, way) ? [] : [[name, converted]];
    });
    return Object.fromEntries(entries);
  }

  #ref(value: unknown, path: Path, owner: string | undefined): unknown {
    if (typeof value !== 'string' || !/^#(?:\/|$)/.test(value)) {
      const hint = 'For example: $ref: "#/$defs/part"';
      return this.#error(
        path,
        '"$ref" leads to a place in this schema, and begins with "#/".',
        undefined,
        hint,
      );
    }
    const way = pathOf(value);
    const found = way?.reduce<unknown>(
      (part, name) =>
        (isObject(part) || Array.isArray(part)) && Object.hasOwn(part, name)
          ? (part as Json)[name]
          : undefined,
      this.#root,
    );
    if (way === undefined || found === undefined) {
      return this.#error(path, `There is nothing at ${value} in this schema.`);
    }
    const pointer = pointerOf(way);
    if (owner !== undefined) {
      const edges = this.#sameValue.get(owner) ?? [];
      edges.push({ pointer, path });
      this.#sameValue.set(owner, edges);
    }
    return `#/$defs/${this.#target(pointer, way, found)}`;
  }

  #type(value: unknown, path: Path): unknown {
    const words = typeof value === 'string' ? [value] : value;
    if (!isStrings(words) || words.length === 0)
      return this.#error(path, 'The type is a word, or a list of words.');
    const types: string[] = [];
    for (const word of words) {
      const small = word.toLowerCase();
      // What a native schema says where it says no type.
      if (small === 'type_unspecified') return undefined;
      if (!typeWords.includes(small)) {
        const near = nearest(word, typeWords);
        const hint = near === undefined ? `The types are ${listing(typeWords)}.` : `Did you mean "${near}"?`;
        return this.#error(path, `"${word}" is no type.`, undefined, hint);
      }
      if (!types.includes(small)) types.push(small);
    }
    return types.length === 1 ? types[0] : types;
  }

  /** True for a pattern that answers are matched with. */
  #pattern(value: unknown, path: Path): boolean {
    if (typeof value !== 'string') {
      this.#error(path, '"pattern" is a text.');
      return false;
    }
    if (value === '' || patternMistake(value) === undefined) return value !== '';
    if (isRegularExpression(value)) {
      const message = 'Answers are not checked against this pattern: a match could take for ever.';
      this.#mistakes.push({
        severity: 'warning',
        path,
        message,
        hint: 'It is sent to the service as it is. Patterns without repeated groups, look-around and more than two open repeats are checked.',
      });
    } else {
      this.#error(path, 'This pattern is no regular expression.');
    }
    return false;
  }

  #hasUnchecked(patterns: Json): boolean {
    return Object.keys(patterns).some((pattern) => pattern === '' || patternMistake(pattern) !== undefined);
  }

  #checkWord(word: string, path: Path): void {
    if (silentKeywords.has(word) || word.startsWith('x-')) return;
    const near = nearest(word, [...keywordShapes.keys(), ...silentKeywords]);
    if (near === undefined) return;
    const message = `"${word}" is no keyword of a schema, and asks for nothing.`;
    this.#mistakes.push({ severity: 'warning', path, message, hint: `Did you mean "${near}"?` });
  }

  /** Services refuse a schema that requires what it does not describe. */
  #checkRequired(schema: Json, path: Path): void {
    const { required, properties, additionalProperties } = schema;
    if (!isStrings(required) || !isObject(properties)) return;
    if (additionalProperties !== undefined && additionalProperties !== false) return;
    if (['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'].some((word) => word in schema)) return;
    for (const [index, name] of required.entries()) {
      if (Object.hasOwn(properties, name)) continue;
      const near = nearest(name, Object.keys(properties));
      this.#mistakes.push({
        severity: 'warning',
        path: [...path, 'required', String(index)],
        message: `"${name}" is required, and is none of the properties.`,
        ...(near === undefined ? {} : { hint: `Did you mean "${near}"?` }),
      });
    }
  }

  /** A schema that applies itself to the same value again has no end. */
  #reportCycles(): void {
    const done = new Set<string>();
    const walk = (pointer: string, open: ReadonlySet<string>): void => {
      for (const edge of this.#sameValue.get(pointer) ?? []) {
        if (open.has(edge.pointer)) {
          this.#error(edge.path, 'This $ref leads back to itself without going to a member or an item.');
        } else if (!done.has(edge.pointer)) {
          walk(edge.pointer, new Set([...open, edge.pointer]));
        }
      }
      done.add(pointer);
    };
    for (const pointer of this.#sameValue.keys()) if (!done.has(pointer)) walk(pointer, new Set([pointer]));
  }

  #error<T = undefined>(path: Path, message: string, instead?: T, hint?: string): T | undefined {
    this.#mistakes.push({ severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) });
    return instead;
  }
}

function nullable(schema: { [name: string]: unknown }): unknown {
  const { type, enum: values } = schema;
  const simple = !['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'const'].some((word) => word in schema);
  if (!simple || type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const types = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    type: types.includes('null') ? types : [...types, 'null'],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

function isRegularExpression(source: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags).flags === flags;
    } catch {
      // It may be one in the other way of reading.
    }
  }
  return false;
}

const pointerOf = (path: Path): string =>
  ['#', ...path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

function pathOf(reference: string): Path | undefined {
  let text: string;
  try {
    text = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
