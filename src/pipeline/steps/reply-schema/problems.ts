import { cutText } from '../../diagnostics/terminal-text.ts';

/** The keys that lead to a part of a schema, list indices included; empty for the schema itself. */
export type SchemaPath = readonly string[];

/** Something in a schema that is not right, at the keys that lead to it. */
export interface SchemaDiagnosticDraft {
  readonly severity: 'error' | 'warning';
  readonly path: SchemaPath;
  readonly message: string;
  readonly hint?: string;
}

/** Collects what is not right in one schema, in the order in which it is found. */
export class SchemaDiagnosticDrafts {
  readonly #found: SchemaDiagnosticDraft[] = [];

  get found(): readonly SchemaDiagnosticDraft[] {
    return this.#found;
  }

  /** No reply is checked against a schema with an error. */
  error(path: SchemaPath, message: string, hint?: string): undefined {
    this.#add('error', path, message, hint);
  }

  /** The schema is used all the same. */
  warning(path: SchemaPath, message: string, hint?: string): void {
    this.#add('warning', path, message, hint);
  }

  #add(severity: SchemaDiagnosticDraft['severity'], path: SchemaPath, message: string, hint?: string): void {
    const advice = hint === undefined ? {} : { hint: cutText(hint) };
    this.#found.push({ severity, path, message: cutText(message), ...advice });
  }
}
