import type { Random } from '../../draw/canvas/random.ts';
import type { Occasion } from '../say/prose.ts';

/** Longest array that is made, and most members that are made because a schema counts them. */
export const mostItems = 2_000;

/** One value in the making: what all of its parts share. */
export interface Making {
  /** The schema that references lead into. */
  readonly root: unknown;
  readonly occasion: Occasion;
  readonly random: Random;
  /** Share of the members that need not be there and are, from 0 to 1. */
  readonly optional: number;
  /** From this depth on, or after this many values, only required members are made. */
  isDeep(depth: number): boolean;
  /**
   * A part of it.
   *
   * @param name of the member that it is, or is an item of; empty for one without a name
   * @param depth 0 for the whole
   */
  make(schema: unknown, name: string, depth: number): unknown;
}
