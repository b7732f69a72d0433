import { cutText } from '../../diagnostics/terminal-text.ts';

/** Keys and list indexes from a schema to one of its parts; empty for the schema itself. */
export type SchemaPath = readonly string[];

/** An error or warning about one part of a schema. */
export interface SchemaDiagnosticDraft {
  readonly severity: 'error' | 'warning';
  readonly path: SchemaPath;
  readonly message: string;
  readonly hint?: string;
}

/** Collects the errors and warnings about a schema, in the order of discovery. */
export class SchemaDiagnosticDrafts {
  readonly #found: SchemaDiagnosticDraft[] = [];

  get found(): readonly SchemaDiagnosticDraft[] {
    return this.#found;
  }

  /** Adds an error. No reply is checked against a schema with an error. */
  error(path: SchemaPath, message: string, hint?: string): undefined {
    this.#add('error', path, message, hint);
  }

  /** Adds a warning. The schema is used nevertheless. */
  warning(path: SchemaPath, message: string, hint?: string): void {
    this.#add('warning', path, message, hint);
  }

  #add(severity: SchemaDiagnosticDraft['severity'], path: SchemaPath, message: string, hint?: string): void {
    const advice = hint === undefined ? {} : { hint: cutText(hint) };
    this.#found.push({ severity, path, message: cutText(message), ...advice });
  }
}
