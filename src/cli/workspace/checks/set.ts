import { relative } from 'node:path';
import type { AxisSetting, Pipeline } from '../../../pipeline/pipeline.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { quoted, setWords } from '../../../report/text/next-commands.ts';
import type { StateReader } from '../../../state/reader.ts';
import { openStateForReading } from '../../../state/state.ts';
import { usageError } from '../../errors/cli-error.ts';

/**
 * Refuses a run with `--set` in the default directory of a pipeline where nothing has run yet: that directory is for the file without
 * changes. Reads only, so that a refused run leaves no directory.
 *
 * @throws CliError (exit 2) with a directory that could be chosen
 */
export async function refuseDefaultDirectory(
  directory: string,
  { source }: Pick<Pipeline, 'source'>,
  cwd: string,
): Promise<void> {
  const { set = [] } = source;
  if (set.length === 0) return;
  const state = openStateForReading(directory);
  await state?.close();
  if (state === undefined)
    throw usageError('--set needs a run directory of its own.', `Add ${ownDirectory(directory, set, cwd)}.`);
}

/**
 * Refuses a run whose `--set` is not that of the directory's runs: the manifest of one directory is of one matrix.
 *
 * @throws CliError (exit 2) with the flags to add
 */
export async function checkSet(
  state: StateReader,
  directory: string,
  { source }: Pick<Pipeline, 'source'>,
  cwd: string,
): Promise<void> {
  const { set = [] } = source;
  const facts = await readRunFacts(state);
  if (facts === undefined) return;
  const { set: before = [] } = facts;
  if (isSameSet(before, set)) return;
  const place = relative(cwd, directory) || '.';
  throw before.length === 0
    ? usageError(
        `${place} holds a run without --set.`,
        `Choose another directory: ${ownDirectory(directory, set, cwd)}.`,
      )
    : usageError(
        `${place} holds a run with ${setWords(before)}.`,
        `Add ${setWords(before)} to continue it, or choose another directory with --out.`,
      );
}

/** True where nothing has run in a directory, or its runs replace the same axes by the same values. */
export async function hasSameSet(state: StateReader, { source }: Pick<Pipeline, 'source'>): Promise<boolean> {
  const facts = await readRunFacts(state);
  return facts === undefined || isSameSet(facts.set ?? [], source.set ?? []);
}

function isSameSet(a: readonly AxisSetting[], b: readonly AxisSetting[]): boolean {
  return (
    a.length === b.length && a.every(({ axis, value }, at) => b[at]?.axis === axis && b[at].value === value)
  );
}

/** `--out runs/foxes-lynx` */
function ownDirectory(directory: string, set: readonly AxisSetting[], cwd: string): string {
  const values = set.map(({ value }) => value.match(/[\p{L}\p{N}]+/gu)?.join('-') ?? 'set');
  const name = `${relative(cwd, directory) || '.'}-${values.join('-').slice(0, 40)}`;
  return `--out ${quoted(name)}`;
}
