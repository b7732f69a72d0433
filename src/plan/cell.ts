import { aFlag, aMapping, aNumber, aText, listOf } from '../pipeline/values/shape.ts';
import type { Value } from '../pipeline/values/value.ts';

/** One combination of the matrix's values, with its repeat. */
export interface Cell {
  /** Position in the whole plan, from 1, independent of flags. */
  readonly number: number;
  readonly vars: Readonly<Record<string, Value>>;
  /** Number of the repeat, from 1. */
  readonly repeat: number;
  /** True where the groups that end in this cell are worked on in another slice, in a run on several machines. */
  readonly groupsElsewhere?: true;
}

/** The part of a plan that the flags of one invocation choose. Absent members choose everything. */
export interface Selection {
  /** `--limit`: the first cells, of those that the other flags choose. */
  readonly limit?: number;
  /** `--filter axis=value`, also for columns of `rows`; values compare as they render. One axis: any matches; several: all match. */
  readonly filters?: readonly { readonly axis: string; readonly value: string }[];
  /** `--shard i/n`: cells whose number is i modulo n, with i from 1. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** `--only`: these steps, and what they need. */
  readonly only?: readonly string[];
  /** `verify --repair`: of finished jobs the files that are missing, and nothing else. */
  readonly unsaved?: true;
}

/** Whether a stored document is a selection. */
export const isSelection = aMapping(
  {},
  {
    limit: aNumber,
    filters: listOf(aMapping({ axis: aText, value: aText })),
    shard: aMapping({ index: aNumber, of: aNumber }),
    only: listOf(aText),
    unsaved: aFlag,
  },
) as (value: unknown) => value is Selection;
