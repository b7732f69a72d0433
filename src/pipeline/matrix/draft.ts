import type { Position } from '../diagnostics/diagnostic.ts';
import type { Axis, MatrixSpec } from '../pipeline.ts';
import type { Value } from '../values/value.ts';

/** A variable of the matrix, as far as it is known. */
export interface Variable {
  readonly name: string;
  /** Absent if only an include defines the variable. */
  readonly axis?: Axis;
  /** All possible values, if the file lists them. */
  readonly values?: readonly Value[];
  /** Position of each of these values in the file. */
  readonly positions?: readonly Position[];
}

/** The readable part of the matrix. */
export interface MatrixDraft {
  readonly spec: MatrixSpec;
  readonly variables: ReadonlyMap<string, Variable>;
  /** False if a table's columns or the axes themselves are unknown: then any name could be a variable. */
  readonly complete: boolean;
}
