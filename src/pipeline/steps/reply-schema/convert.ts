import { isObject, type Json } from '../../values/value.ts';
import { convertAssertion, hasUnchecked, isMatched } from './assertions.ts';
import { type Keyword, keywordShapes, warnOfKeyword, warnOfRequired } from './keywords.ts';
import { type SchemaDiagnosticDraft, SchemaDiagnosticDrafts, type SchemaPath } from './problems.ts';
import { References } from './references.ts';

/** Limits of a schema: as large as any service accepts, and small enough to compile quickly. */
const limits = { subschemas: 2000, depth: 100 } as const;

/** A schema in JSON Schema 2020-12, with the errors and warnings about the original. */
export interface ConvertedSchema {
  readonly schema: unknown;
  readonly diagnostics: readonly SchemaDiagnosticDraft[];
}

/**
 * Converts a declared reply schema to JSON Schema 2020-12. It may be JSON Schema, or the native subset of OpenAPI: upper-case types,
 * `nullable`, counts as texts (gateway 6.2). Keywords without an assertion are left out, as are patterns that could match for ever; each
 * `$ref` leads to a schema of its own.
 *
 * @param meter keyword that is added to every subschema with the value `true`, to count the work of a check
 */
export const convertSchema = (schema: unknown, meter: string): ConvertedSchema =>
  new Conversion(schema, meter).run();

/** Walks a schema; errors are in the order of the walk. */
class Conversion {
  readonly #meter: string;
  readonly #diagnostics = new SchemaDiagnosticDrafts();
  readonly #references: References;
  #subschemas = 0;

  constructor(root: unknown, meter: string) {
    this.#meter = meter;
    this.#references = new References(root, this.#diagnostics);
  }

  run(): ConvertedSchema {
    this.#references.convertAll(({ schema, path, pointer }) => this.#schema(schema, path, pointer));
    return { schema: this.#references.schema(), diagnostics: this.#diagnostics.found };
  }

  /** @param owner pointer of the target that applies to the same value as this schema; undefined below a member or item */
  #schema(schema: unknown, path: SchemaPath, owner: string | undefined): unknown {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) return this.#unread(path, 'A schema must be a mapping.');
    this.#subschemas += 1;
    if (this.#subschemas === limits.subschemas + 1) {
      this.#diagnostics.error(path, `A schema may have at most ${limits.subschemas} parts.`);
    }
    if (this.#subschemas > limits.subschemas) return true;
    if (path.length > limits.depth) return this.#unread(path, 'The schema is nested too deeply.');
    const members = Object.entries(schema).flatMap(([word, value]) =>
      this.#keyword(word, value, [...path, word], owner),
    );
    warnOfRequired(schema, path, this.#diagnostics);
    const converted = Object.fromEntries(members);
    // If a pattern is not checked, the members that match it cannot be told from others.
    if (isObject(schema['patternProperties']) && hasUnchecked(schema['patternProperties'])) {
      delete converted['additionalProperties'];
      delete converted['unevaluatedProperties'];
    }
    if (Array.isArray(converted['enum'])) converted['enum'] = asWritten(converted['enum'], converted['type']);
    converted[this.#meter] = true;
    return schema['nullable'] === true ? nullable(converted) : converted;
  }

  /** Replaces a schema that is not checked by one that accepts anything. */
  #unread(path: SchemaPath, message: string): true {
    this.#diagnostics.error(path, message);
    return true;
  }

  #keyword(word: string, value: unknown, path: SchemaPath, owner: string | undefined): [string, unknown][] {
    const shape = keywordShapes.get(word);
    if (shape === undefined) {
      warnOfKeyword(word, path, this.#diagnostics);
      return [];
    }
    const converted = this.#value(shape, word, value, path, owner);
    return converted === undefined ? [] : [[word, converted]];
  }

  #value(shape: Keyword, word: string, value: unknown, path: SchemaPath, owner: string | undefined): unknown {
    switch (shape) {
      case 'same-value':
        return this.#schema(value, path, owner);
      case 'member':
        return this.#schema(value, path, undefined);
      case 'same-value-list':
      case 'member-list': {
        if (!Array.isArray(value) || value.length === 0)
          return this.#diagnostics.error(path, `"${word}" must be a list of schemas.`);
        const inner = shape === 'member-list' ? undefined : owner;
        return value.map((item, index) => this.#schema(item, [...path, String(index)], inner));
      }
      case 'same-value-map':
      case 'member-map':
      case 'pattern-map': {
        if (!isObject(value)) return this.#diagnostics.error(path, `"${word}" must be a mapping of schemas.`);
        return this.#map(shape, value, path, shape === 'same-value-map' ? owner : undefined);
      }
      case 'definitions': {
        if (!isObject(value)) return this.#diagnostics.error(path, `"${word}" must be a mapping of schemas.`);
        for (const [name, one] of Object.entries(value)) this.#references.define([...path, name], one);
        return undefined;
      }
      case 'ref':
        return this.#references.refer(value, path, owner);
      default:
        return convertAssertion(shape, word, value, path, this.#diagnostics);
    }
  }

  #map(shape: Keyword, value: Json, path: SchemaPath, owner: string | undefined): Json {
    const entries = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      const way = [...path, name];
      // Names become parts of addresses, which cannot contain half a character.
      if (!name.isWellFormed()) {
        this.#diagnostics.error(way, 'The name contains half of a surrogate pair, which is not a character.');
        return [];
      }
      const converted = this.#schema(one, way, owner);
      const isLeftOut = shape === 'pattern-map' && !isMatched(name, way, this.#diagnostics);
      return isLeftOut ? [] : [[name, converted]];
    });
    return Object.fromEntries(entries);
  }
}

/**
 * Adds equivalent values to an enum: native schemas write numbers as texts, and YAML reads texts of digits as numbers. The type decides
 * which of them counts.
 */
function asWritten(values: readonly unknown[], type: unknown): readonly unknown[] {
  const types = new Set(Array.isArray(type) ? (type as readonly unknown[]) : [type]);
  const others = values.flatMap((value): readonly unknown[] => {
    if (typeof value === 'number' && types.has('string')) return [String(value)];
    const isNumber = typeof value === 'string' && /^-?\d{1,20}(?:\.\d{1,20})?$/.test(value);
    return isNumber && (types.has('integer') || types.has('number')) ? [Number(value)] : [];
  });
  return [...new Set([...values, ...others])];
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
