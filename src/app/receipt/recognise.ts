import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { FilePort } from '../../pipeline/files.ts';
import { runFiles } from '../../report/facts/layout.ts';
import type { InputTable } from '../../report/facts/run.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Redactor } from '../output/redact.ts';
import { identityText, isAtRest, type Receipt, type RunIdentity, readReceipt, witnessOf } from './receipt.ts';
import { holdsNone } from './search-file.ts';
import { isAsSeen } from './seen-file.ts';

/** The manifest that is wanted: the one of a run directory, in one form, without these secrets. */
export interface WantedManifest {
  readonly directory: string;
  readonly escapeFormulas: boolean;
  readonly redactor: Pick<Redactor, 'formsInData' | 'applyToData'>;
}

/**
 * The receipt of the last run, where another run of the same would find the same and do nothing: nothing of what it was made of has
 * changed, no job is left to take up, and its manifest is there. Whatever cannot be known counts as changed.
 */
export async function recogniseRun(
  state: StateReader,
  identity: RunIdentity,
  wanted: WantedManifest,
  files: FilePort,
): Promise<Receipt | undefined> {
  const receipt = await currentReceipt(state, wanted);
  return receipt !== undefined && (await isOfSame(receipt, identity, files)) ? receipt : undefined;
}

/** The receipt of the last run, where the plan of the same has nothing to do; its manifest may be another one. */
export async function recognisePlan(
  state: StateReader,
  identity: RunIdentity,
  files: FilePort,
): Promise<Receipt | undefined> {
  const receipt = await receiptOfState(state);
  return receipt !== undefined && (await isOfSame(receipt, identity, files)) ? receipt : undefined;
}

/** Nothing of what its plan was made of has changed. */
async function isOfSame(receipt: Receipt, identity: RunIdentity, files: FilePort): Promise<boolean> {
  if (receipt.identity !== identityText(identity) || !receipt.files.every(isAsSeen)) return false;
  for (const table of receipt.tables)
    if (isListing(table, receipt) && (await listingHash(table, files)) !== table.sha256) return false;
  return true;
}

/** The receipt of the last run, where the manifest that it wrote is the one that would be written for it. */
export async function recogniseManifest(
  state: StateReader,
  identity: RunIdentity,
  wanted: WantedManifest,
): Promise<Receipt | undefined> {
  const receipt = await currentReceipt(state, wanted);
  if (receipt?.identity !== identityText(identity)) return undefined;
  // Copies of tables, and tables too large to be copied: what else the plan was made of is in the state.
  const tables = receipt.tables.map(({ file, sha256, copied }) =>
    copied ? join(wanted.directory, runFiles.inputs, sha256) : file,
  );
  return receipt.files.filter(({ path }) => tables.includes(path)).every(isAsSeen) ? receipt : undefined;
}

/** The receipt that describes the state as it is. */
async function receiptOfState(state: StateReader): Promise<Receipt | undefined> {
  const receipt = await readReceipt(state);
  if (receipt === undefined || receipt.witness !== (await witnessOf(state))) return undefined;
  return (await isAtRest(state)) ? receipt : undefined;
}

async function currentReceipt(
  state: StateReader,
  { directory, escapeFormulas, redactor }: WantedManifest,
): Promise<Receipt | undefined> {
  const receipt = await receiptOfState(state);
  if (receipt === undefined) return undefined;
  const { manifest } = receipt;
  if (manifest.file.path !== join(directory, runFiles.manifest)) return undefined;
  if (manifest.escapeFormulas !== escapeFormulas) return undefined;
  return isAsSeen(manifest.file) && isMaskedAlike(receipt, redactor) ? receipt : undefined;
}

/**
 * Whether the text of the manifest would be the same with these credentials. What was masked by them is not known, so that a text in which
 * something was masked is made again.
 */
export const isMaskedAlike = (
  { manifest: { masked, file } }: Receipt,
  { formsInData }: WantedManifest['redactor'],
): boolean => !masked && holdsNone(file.realPath, formsInData);

/** Files as rows: the listing has no file of its own. */
const isListing = ({ file }: InputTable, { files }: Receipt): boolean =>
  !files.some(({ path }) => path === file);

async function listingHash({ file }: InputTable, files: FilePort): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of files.list(file)) hash.update(chunk);
  } catch {
    // Whoever lists it says what is wrong.
    return undefined;
  }
  return hash.digest('hex');
}
