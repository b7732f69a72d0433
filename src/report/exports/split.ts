import { createHash } from 'node:crypto';
import { canonicalJson } from '../../pipeline/values/value.ts';
import type { Cell } from '../../plan/cell.ts';

/** A part of a data set, such as `train`, and how much of it. */
export interface SplitPart {
  readonly name: string;
  /** Between 0 and 1; the shares of all parts add up to 1. */
  readonly share: number;
}

/**
 * The part that a cell belongs to. It follows from the cell's variables alone: an edit of the matrix moves no other cell, and the
 * repeats of a combination stay together, so that none of them is tested on what another one was trained with.
 */
export function partOf({ vars }: Pick<Cell, 'vars'>, parts: readonly SplitPart[]): string {
  const hash = createHash('sha256').update('split ').update(canonicalJson(vars)).digest();
  let left = hash.readUIntBE(0, 6) / 2 ** 48;
  for (const { name, share } of parts) {
    if (left < share) return name;
    left -= share;
  }
  // Shares such as 0.1 do not add up exactly.
  return parts.at(-1)?.name ?? '';
}
