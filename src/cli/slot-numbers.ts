import type { SlotStatus } from '../plan/slot.ts';
import { count } from './progress/amounts.ts';

/** How many slots are what: those statuses that count, in the order of what one wants to know. */
export function slotNumbers(slots: Readonly<Record<SlotStatus, number>>): readonly string[] {
  const open = slots.submitting + slots.running + slots.modal + slots.saving;
  const numbers: readonly (readonly [number, string])[] = [
    [slots.failed, 'failed'],
    [slots.blocked, 'blocked'],
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
