import { type InputTable, readRunFacts } from '../../report/facts/run.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import { usageError } from '../errors/cli-error.ts';

/**
 * Checks for `--frozen` that the directory's last run had the same pipeline text, tables and service, so that a run only continues or
 * repeats it.
 *
 * @throws CliError (exit 2) that names the first difference
 */
export async function checkFrozen(
  state: StateReader,
  now: { readonly text: string; readonly tables: readonly InputTable[]; readonly serviceId: string },
): Promise<void> {
  const last = await readRunFacts(state);
  if (last === undefined) {
    throw usageError('--frozen: nothing has run in this directory yet, so there is nothing to compare with.');
  }
  const hint = 'Run without --frozen to accept the change; promptpress plan says what it would submit.';
  if ((await state.fact(pipelineFacts.text)) !== now.text) {
    throw usageError('--frozen: the pipeline file has changed since the last run.', hint);
  }
  const before = new Map(last.tables.map(({ file, sha256 }) => [file, sha256]));
  const changed = now.tables.find(({ file, sha256 }) => before.get(file) !== sha256);
  if (changed !== undefined) {
    throw usageError(`--frozen: the table ${changed.file} has changed since the last run.`, hint);
  }
  if (last.serviceId !== now.serviceId) {
    throw usageError(
      `--frozen: the last run used the service ${last.serviceId}, this one would use ${now.serviceId}.`,
      'Another service means other jobs: no job of the last run would be found.',
    );
  }
}
