import type { Position } from '../diagnostics/diagnostic.ts';
import type { Axis, MatrixSpec } from '../pipeline.ts';
import type { Value } from '../values/value.ts';

/** What is known about a variable of the matrix. */
export interface Variable {
  readonly name: string;
  /** Absent for one that only an include has. */
  readonly axis?: Axis;
  /** Every value it can have, where the file lists them. */
  readonly values?: readonly Value[];
  /** Where each of these values stands in the file. */
  readonly positions?: readonly Position[];
}

/** The part of the matrix that could be read. */
export interface MatrixDraft {
  readonly spec: MatrixSpec;
  readonly variables: ReadonlyMap<string, Variable>;
  /** False when a table's columns, or the axes themselves, are not known: any name could be one. */
  readonly complete: boolean;
}
