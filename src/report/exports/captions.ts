import type { ManifestRow } from '../../manifest/row.ts';
import { textFields } from '../../manifest/text-columns.ts';
import { needsOf } from '../../plan/job.ts';
import type { Slot } from '../../plan/slot.ts';

/**
 * What a step says about the images of a cell: the first text of the call that was made from an image is its caption. A call that
 * was made from none of them describes them all, where the cell has no other one.
 *
 * @param rows of one cell
 * @param step the one that describes; absent: none does
 */
export function captionsOf(
  rows: readonly ManifestRow[],
  step: string | undefined,
): { get(slot: Slot): string | undefined } {
  const byJob = new Map<string, string>();
  const texts: string[] = [];
  for (const { slot, artifact } of step === undefined ? [] : rows) {
    if (slot.step !== step || slot.status !== 'done') continue;
    const { text } = textFields(slot, artifact);
    if (text === undefined) continue;
    texts.push(text);
    const made = slot.record ?? slot.job;
    if (made === undefined) continue;
    for (const key of needsOf(made)) if (!byJob.has(key)) byJob.set(key, text);
  }
  const forAll = byJob.size === 0 && texts.length === 1 ? texts[0] : undefined;
  return { get: ({ job }) => (job === undefined ? undefined : byJob.get(job.key)) ?? forAll };
}
