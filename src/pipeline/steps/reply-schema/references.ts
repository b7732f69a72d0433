import { isObject, type Json } from '../../values/value.ts';
import type { SchemaDiagnosticDrafts, SchemaPath } from './problems.ts';

/** Most referenced parts of one schema, few enough to compile quickly. */
const maxTargets = 100;

/** A part of a schema that is converted separately. */
export interface Target {
  /** JSON pointer as a fragment, `#/$defs/part`; `#` for the whole schema. */
  readonly pointer: string;
  readonly path: SchemaPath;
  readonly schema: unknown;
}

/**
 * The parts of one schema that `$ref` may lead to. Each becomes a definition with its own name (`t0`, the whole schema, is the first), so
 * that it is converted once, however many references lead to it and however they are written.
 */
export class References {
  readonly #root: unknown;
  readonly #diagnostics: SchemaDiagnosticDrafts;
  /** Definitions by pointer. */
  readonly #definitions = new Map<string, { readonly name: string; schema?: unknown }>();
  readonly #waiting: Target[] = [];
  /** Targets that apply to the same value as a target, by its pointer. */
  readonly #sameValue = new Map<string, { readonly pointer: string; readonly path: SchemaPath }[]>();
  #isFull = false;

  constructor(root: unknown, diagnostics: SchemaDiagnosticDrafts) {
    this.#root = root;
    this.#diagnostics = diagnostics;
    this.define([], root);
  }

  /** Converts the whole schema, and each part that it turns out to refer to. */
  convertAll(convert: (target: Target) => unknown): void {
    // The list grows during the loop.
    for (const target of this.#waiting) {
      const definition = this.#definitions.get(target.pointer);
      const schema = convert(target);
      if (definition !== undefined) definition.schema = schema;
    }
    this.#reportCycles();
  }

  /** Returns the converted schema: all definitions, and a reference to the whole. */
  schema(): unknown {
    const definitions = [...this.#definitions.values()].map(({ name, schema }) => [name, schema ?? true]);
    return { $ref: '#/$defs/t0', $defs: Object.fromEntries(definitions) };
  }

  /** Makes a definition of the part at a path, unless there is one. Returns its name. */
  define(path: SchemaPath, schema: unknown): string {
    const pointer = pointerOf(path);
    const known = this.#definitions.get(pointer);
    if (known !== undefined) return known.name;
    const name = `t${this.#definitions.size}`;
    // The root does not count.
    if (this.#definitions.size > maxTargets) {
      if (!this.#isFull) {
        this.#diagnostics.error(path, `A schema may have at most ${maxTargets} parts with references.`);
      }
      this.#isFull = true;
      return name;
    }
    this.#definitions.set(pointer, { name });
    this.#waiting.push({ pointer, path, schema });
    return name;
  }

  /**
   * Returns the value of `$ref` in the converted schema; undefined if the reference leads nowhere, which is reported.
   *
   * @param owner pointer of the target that applies to the same value as the `$ref`; undefined below a member or item
   */
  refer(value: unknown, path: SchemaPath, owner: string | undefined): string | undefined {
    if (typeof value !== 'string' || !/^#(?:\/|$)/.test(value)) {
      const message = '"$ref" must lead to a place in this schema, and begin with "#/".';
      return this.#diagnostics.error(path, message, 'For example: $ref: "#/$defs/part"');
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
      return this.#diagnostics.error(path, `There is nothing at ${value} in this schema.`);
    }
    if (owner !== undefined) {
      const edges = this.#sameValue.get(owner) ?? [];
      edges.push({ pointer: pointerOf(way), path });
      this.#sameValue.set(owner, edges);
    }
    return `#/$defs/${this.define(way, found)}`;
  }

  /** Reports a schema that applies itself to the same value again, endlessly. */
  #reportCycles(): void {
    const done = new Set<string>();
    const walk = (pointer: string, open: ReadonlySet<string>): void => {
      for (const edge of this.#sameValue.get(pointer) ?? []) {
        if (open.has(edge.pointer)) {
          const message = 'This $ref leads back to itself without passing a member or an item.';
          this.#diagnostics.error(edge.path, message);
        } else if (!done.has(edge.pointer)) {
          walk(edge.pointer, new Set([...open, edge.pointer]));
        }
      }
      done.add(pointer);
    };
    for (const pointer of this.#sameValue.keys()) if (!done.has(pointer)) walk(pointer, new Set([pointer]));
  }
}

const pointerOf = (path: SchemaPath): string =>
  ['#', ...path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

function pathOf(reference: string): SchemaPath | undefined {
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
