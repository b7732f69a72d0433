import type { AxisSetting, Pipeline } from '../../../pipeline/pipeline.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { setWords } from '../../../report/text/next-commands.ts';
import { quoted } from '../../../report/text/printable.ts';
import type { StateReader } from '../../../state/reader.ts';
import { openStateForReading } from '../../../state/state.ts';
import { usageError } from '../../errors/cli-error.ts';
import { adding, giving } from '../../errors/correction.ts';

/**
 * Refuses a run with `--set` in the default directory of a pipeline if nothing has run there yet: that directory is for the unchanged file.
 * Reads only, so that a refused run leaves no directory.
 *
 * @throws CliError (exit 2) that suggests a directory
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
    throw usageError(
      '--set needs a run directory of its own.',
      `Add ${outWords(directory, set, cwd)}.`,
      giving('--out', ownDirectory(directory, set, cwd)),
    );
}

/**
 * Refuses a run whose `--set` differs from that of the directory's earlier runs: the manifest of one directory is of one matrix.
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
  const place = seenFrom(cwd, directory);
  throw before.length === 0
    ? usageError(
        `${place} holds a run without --set.`,
        `Choose another directory: ${outWords(directory, set, cwd)}.`,
        giving('--out', ownDirectory(directory, set, cwd)),
      )
    : usageError(
        `${place} holds a run with ${setWords(before)}.`,
        `Add ${setWords(before)} to continue it, or choose another directory with --out.`,
        set.length === 0
          ? adding(...before.flatMap(({ axis, value }) => ['--set', `${axis}=${value}`]))
          : undefined,
      );
}

/** Returns the `--set` values of the directory's earlier runs if this run has others; undefined if nothing has run. */
export async function otherSet(
  state: StateReader,
  { source }: Pick<Pipeline, 'source'>,
): Promise<readonly AxisSetting[] | undefined> {
  const facts = await readRunFacts(state);
  if (facts === undefined || isSameSet(facts.set ?? [], source.set ?? [])) return undefined;
  return facts.set ?? [];
}

function isSameSet(a: readonly AxisSetting[], b: readonly AxisSetting[]): boolean {
  return (
    a.length === b.length && a.every(({ axis, value }, at) => b[at]?.axis === axis && b[at].value === value)
  );
}

/** Returns a flag such as `--out runs/foxes-lynx`. */
const outWords = (directory: string, set: readonly AxisSetting[], cwd: string): string =>
  `--out ${quoted(ownDirectory(directory, set, cwd))}`;

/** Returns a directory such as `runs/foxes-lynx`. */
function ownDirectory(directory: string, set: readonly AxisSetting[], cwd: string): string {
  const values = set.map(({ value }) => value.match(/[\p{L}\p{N}]+/gu)?.join('-') ?? 'set');
  return `${seenFrom(cwd, directory)}-${values.join('-').slice(0, 40)}`;
}
