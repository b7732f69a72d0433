import { aMapping, aNumber, aText, listOf } from '../pipeline/values/shape.ts';
import type { Value } from '../pipeline/values/value.ts';

/** One combination of the matrix's values. */
export interface Cell {
  /** Position in the whole plan, from 1; it does not depend on flags. */
  readonly number: number;
  readonly vars: Readonly<Record<string, Value>>;
  /** From 1. */
  readonly repeat: number;
}

/** What the flags of one invocation choose of a plan. Absent members choose everything. */
export interface Selection {
  /** `--limit`: the first cells (of those that the other flags choose). */
  readonly limit?: number;
  /** `--filter axis=value`, `--filter rows.column=value` is written `column=value`; values compare as they render. Same axis: or; different axes: and. */
  readonly filters?: readonly { readonly axis: string; readonly value: string }[];
  /** `--shard i/n`: cells whose number is i modulo n, i from 1. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** `--only`: these steps, with what they need. */
  readonly only?: readonly string[];
}

/** Whether a document that was kept is one. */
export const isSelection = aMapping(
  {},
  {
    limit: aNumber,
    filters: listOf(aMapping({ axis: aText, value: aText })),
    shard: aMapping({ index: aNumber, of: aNumber }),
    only: listOf(aText),
  },
) as (value: unknown) => value is Selection;
