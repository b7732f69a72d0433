import type { CountedStatus } from '../../plan/slot.ts';
import { count } from './amounts.ts';

type Slots = Readonly<Record<CountedStatus, number>>;

/** Returns the number of slots that are not settled or in doubt. */
export const unsettled = ({ pending, submitting, running, modal, saving }: Slots): number =>
  pending + submitting + running + modal + saving;

/** Whether no slot is unsettled, in doubt, or waiting below a job in doubt. */
const isWhole = (slots: Slots): boolean => unsettled(slots) + slots['in-doubt'] === 0;

/** Describes how a run ended that had nothing more to do. "complete" requires that no slot failed or is left. */
export function endingWord(slots: Slots | undefined): 'complete' | 'ended with failures' | 'ended' {
  if (slots === undefined) return 'complete';
  if (slots.failed + slots.blocked > 0) return 'ended with failures';
  return isWhole(slots) ? 'complete' : 'ended';
}

/** Formats the numbers of slots by status, most interesting first; zeros are left out. */
export function slotNumbers(slots: Slots): readonly string[] {
  const open = slots.submitting + slots.running + slots.modal + slots.saving;
  const numbers: readonly (readonly [number, string])[] = [
    [slots.failed, 'failed'],
    [slots.blocked, 'blocked'],
    [slots.accepted, 'failed or blocked as accepted'],
    [slots['in-doubt'], 'in doubt'],
    [slots.skipped, 'skipped'],
    [open, 'under way'],
    [slots.pending, 'still to do'],
  ];
  return [
    `${count(slots.done)} done`,
    ...numbers.filter(([amount]) => amount > 0).map(([amount, word]) => `${count(amount)} ${word}`),
  ];
}
