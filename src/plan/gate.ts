import { formatAddress } from '../pipeline/selectors/address.ts';
import { type JobError, lacksOnlyFiles } from './job.ts';
import type { Slot } from './slot.ts';

/** What a slot means for all that follows from it. */
export type Gate =
  /** Its result is there. */
  | { readonly kind: 'done' }
  /** Not settled yet, or in doubt: what follows waits. */
  | { readonly kind: 'open' }
  /** What follows is skipped, or blocked, for this reason. */
  | {
      readonly kind: 'skipped' | 'blocked';
      readonly cause: string;
      /** Only files are missing: what presses its buttons does not need them. */
      readonly made?: true;
    };

export const doneGate: Gate = { kind: 'done' };
export const openGate: Gate = { kind: 'open' };

/** `grid`, `grid/U1`: how messages name a slot. */
export const slotName = ({ step, branch }: Pick<Slot, 'step' | 'branch'>): string =>
  formatAddress({ step, segments: branch });

/**
 * The gate of a slot. `cause` is what stopped the slot above, so that a whole chain names the one place where it
 * broke and not its neighbour.
 */
export function gateOf(slot: Slot, cause: string | undefined): Gate {
  switch (slot.status) {
    case 'done':
      return doneGate;
    case 'skipped':
    case 'blocked':
      return { kind: slot.status, cause: cause ?? ownCause(slot) };
    case 'failed':
      return {
        kind: 'blocked',
        cause: ownCause(slot),
        ...(slot.record !== undefined && lacksOnlyFiles(slot.record) && { made: true as const }),
      };
    case 'saving':
      // A file that is still to be fetched does not take the result away.
      return slot.unsaved === true ? doneGate : openGate;
    case 'pending':
    case 'submitting':
    case 'running':
    case 'modal':
    case 'in-doubt':
      return openGate;
  }
}

const ownCause = (slot: Slot): string => `${slotName(slot)}: ${slot.error?.code ?? slot.status}`;

/** Why a slot that follows from a stopped one is stopped too. */
export function followError(gate: {
  readonly kind: 'skipped' | 'blocked';
  readonly cause: string;
}): JobError {
  return gate.kind === 'blocked'
    ? { code: 'ancestor.failed', message: `blocked by ${gate.cause}` }
    : { code: 'ancestor.skipped', message: `skipped with ${gate.cause}` };
}
