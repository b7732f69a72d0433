import { isPress, isTextKind } from '../../pipeline/kinds.ts';
import { formatAddress } from '../../pipeline/selectors/address.ts';
import { formatBranch } from '../../pipeline/selectors/parse.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { JobError, JobOrigin, JobSpec } from '../job.ts';
import type { Slot } from '../slot.ts';
import { lacksFilesYet, lacksOnlyFiles } from './former.ts';
import type { DependencyState, Resolved } from './resolved.ts';

export const doneDependency: DependencyState = { kind: 'done' };
export const openDependency: DependencyState = { kind: 'open' };
const madeDependency: DependencyState = { kind: 'open', made: true };

/** `grid`, `grid/U1`: how messages name a slot. */
export const slotName = ({ step, branch }: Pick<Slot, 'step' | 'branch'>): string =>
  formatAddress({ step, segments: branch });

/** Returns the origin of a job that this slot is the first to ask for. */
export const originOf = ({ cell, step, branch, id }: Slot): JobOrigin => ({
  cell,
  step,
  branch: formatBranch(branch),
  slot: id,
});

/**
 * What a slot means for those that depend on it. `cause` is what stopped the slot above, so that a whole chain names the one place where it
 * broke and not its neighbour.
 */
export function stateOf(slot: Slot, cause: string | undefined): DependencyState {
  switch (slot.status) {
    case 'done':
      return doneDependency;
    case 'skipped':
    case 'blocked':
      return { kind: slot.status, cause: cause ?? ownCause(slot), ...acceptedOf(slot) };
    case 'failed':
      return {
        kind: 'blocked',
        cause: ownCause(slot),
        ...acceptedOf(slot),
        ...(slot.record !== undefined && lacksOnlyFiles(slot.record) && { made: true as const }),
      };
    case 'saving':
      // A file that is still to be fetched does not take the result away.
      if (slot.unsaved === true || slot.uncut === true || slot.unseeded === true) return doneDependency;
      return slot.record !== undefined && lacksFilesYet(slot.record) ? madeDependency : openDependency;
    case 'pending':
    case 'submitting':
    case 'running':
    case 'modal':
    case 'in-doubt':
      return openDependency;
  }
}

const acceptedOf = ({ accepted }: Slot): { readonly accepted?: true } => (accepted ? { accepted } : {});

const ownCause = (slot: Slot): string => `${slotName(slot)}: ${slot.error?.code ?? slot.status}`;

/** Why a slot that follows from a stopped one is stopped too. */
export function followError(dependency: {
  readonly kind: 'skipped' | 'blocked';
  readonly cause: string;
}): JobError {
  return dependency.kind === 'blocked'
    ? { code: 'ancestor.failed', message: `blocked by ${dependency.cause}` }
    : { code: 'ancestor.skipped', message: `skipped with ${dependency.cause}` };
}

/** What a slot starts from: nothing, the slot above it, or all that its step gathers. */
export interface Upstream {
  readonly above?: Resolved;
  /** The slot above it, or all that its step gathers and that was not skipped. */
  readonly jobs: readonly Resolved[];
  readonly dependency: DependencyState;
  /** The keys it starts from, as they stand in its job; absent while they are not known, or where there never is one. */
  readonly keys?: Pick<JobSpec, 'parent' | 'inputs'>;
}

export const rootStart: Upstream = { jobs: [], dependency: doneDependency, keys: {} };

export function startBelow(above: Resolved): Upstream {
  const parent = above.slot.job?.key;
  return {
    above,
    jobs: [above],
    dependency: above.dependency,
    ...(parent === undefined ? {} : { keys: { parent } }),
  };
}

/**
 * A click on a button needs no file of its parent; a mask needs the size of the image. A text call that does not show its parent does
 * not wait for files either, but one whose parent lacks them for good is blocked. What starts from an output waits for its file, so that
 * it does not depend on the time whether a grid that is not cut fails it.
 */
export function startOf({ kind, request, gathers }: SlotTemplate, start: Upstream): Upstream {
  const { dependency, jobs } = start;
  // A press waits only for the number.
  if (jobs.some(({ output }) => output !== undefined && !(isPress(kind) && output.number !== undefined))) {
    const waits = jobs.some(({ output }) => output !== undefined && !output.file && !output.error);
    return waits && dependency.kind === 'done' ? { ...start, dependency: openDependency } : start;
  }
  if (request.shows.parent || gathers !== undefined || dependency.kind === 'done') return start;
  const isMade = 'made' in dependency;
  const needsNoFile = isPress(kind) || (isTextKind(kind) && dependency.kind === 'open');
  return isMade && needsNoFile ? { ...start, dependency: doneDependency } : start;
}

/**
 * What a step that gathers starts from: all these, without those that are skipped.
 *
 * @param slots all that it gathers, in the manifest's order; at least one
 * @param ignoresFailed those that failed or are blocked are left out too
 */
export function gatheredStart(slots: readonly Resolved[], ignoresFailed = false): Upstream {
  const usable = ignoresFailed ? slots.filter(({ dependency }) => dependency.kind !== 'blocked') : slots;
  const chosen = usable.filter(({ dependency }) => dependency.kind !== 'skipped');
  const inputs = chosen.flatMap((input) => (isCertain(input) ? (input.slot.job?.key ?? []) : []));
  // What is not settled may still fail, and be left out then.
  const isSettled =
    !ignoresFailed || chosen.every(({ dependency, stands }) => dependency.kind === 'done' || stands);
  const isKnown = inputs.length > 0 && inputs.length === chosen.length && isSettled;
  const dependency = gatheredState(usable.length === 0 ? slots : usable);
  return { jobs: chosen, dependency, ...(isKnown ? { keys: { inputs } } : {}) };
}

/**
 * What cannot change any more decides first: one that is blocked blocks, whatever becomes of the others. The first in
 * the manifest's order is named, so that the message does not depend on which of several was settled first.
 */
function gatheredState(slots: readonly Resolved[]): DependencyState {
  const gates = slots.map(({ dependency }) => dependency);
  const blocked = gates.find(({ kind }) => kind === 'blocked');
  if (blocked !== undefined) return blocked;
  const open = gates.find(({ kind }) => kind === 'open');
  if (open !== undefined) return open;
  if (gates.some(({ kind }) => kind === 'done')) return doneDependency;
  const [skipped] = gates;
  if (skipped === undefined) throw new Error('Internal error: a step gathers nothing.');
  return skipped;
}

/**
 * True when a slot that is not skipped now stays so. A slot with a job waits for no condition any more, and neither does
 * anything above it; only an optional button may still be missing. While a job is redone, its former result stands.
 */
export function isCertain(slot: Resolved): boolean {
  for (let at: Resolved | undefined = slot; at?.dependency.kind === 'open' && !at.stands; at = at.above)
    if (at.slot.job === undefined || at.template.selector?.optional === true) return false;
  return true;
}
