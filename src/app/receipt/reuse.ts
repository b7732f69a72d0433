import { join } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import { runFiles } from '../../report/facts/layout.ts';
import type { RunFlags } from '../flags.ts';
import type { HeldDirectory, RunOpening } from '../run/session.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import { identityOfRun } from './finished.ts';
import type { Reuse } from './merge/merge.ts';
import { baseText, readReceipt, witnessOf } from './receipt.ts';
import { readSettledCells } from './settled-cells.ts';

/**
 * The cells in which the last run left nothing to do, where this run differs from that one in its matrix alone: what a cell asks for
 * follows from its values. Undefined where each cell is to be looked at.
 */
export async function reusableCells(
  read: ReadPipeline,
  opening: RunOpening,
  { state, directory, missing }: HeldDirectory,
  flags: RunFlags,
): Promise<Reuse | undefined> {
  if (missing !== undefined || flags['new-service']) return undefined;
  if (flags.redo.length > 0 || flags['redo-jobs'] !== undefined) return undefined;
  if (isNarrowed(opening.selection)) return undefined;
  const receipt = await readReceipt(state.reader);
  if (receipt?.base === undefined || receipt.base !== baseText(identityOfRun(read, opening)))
    return undefined;
  if (receipt.witness !== (await witnessOf(state.reader))) return undefined;
  const { totals, manifest, images, settled: sha256 } = receipt;
  // The content of an image is part of what a cell asks for, and is no value of the cell.
  if (images.length > 0 || sha256 === undefined) return undefined;
  if (manifest.escapeFormulas !== flags['escape-formulas']) return undefined;
  if (manifest.file.path !== join(directory, runFiles.manifest)) return undefined;
  // These are on no column, would move to another row, or compare rows that are not read.
  const { possibleCost, assumedTokens, unanswered, countedBefore, sameFiles } = totals;
  if ([possibleCost, assumedTokens, unanswered, countedBefore, sameFiles].some((sum) => sum !== undefined))
    return undefined;
  const settled = readSettledCells(join(directory, runFiles.cells), sha256);
  return settled && { receipt, settled };
}
