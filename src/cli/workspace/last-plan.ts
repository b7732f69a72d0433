import { dirname, relative } from 'node:path';
import type { FilePort } from '../../pipeline/files.ts';
import { parsePipeline } from '../../pipeline/parse.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { type RunFacts, readRunFacts } from '../../report/facts/run.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import { machineFiles } from '../adapters/files.ts';
import type { Context } from '../args/command.ts';
import { exitCodes, ReportedError, usageError } from '../errors/cli-error.ts';
import { imagesOfDirectory } from './images.ts';
import { printDiagnostics } from './read-pipeline.ts';
import { keptFiles } from './tables.ts';

/**
 * The plan of a directory's last run, from what the directory keeps: the pipeline's text in its state, its tables in
 * `inputs/`. The pipeline file itself is not read: it may have been edited since.
 *
 * @throws CliError (exit 2) when a table that was too large to keep is gone or has changed, Reported when the text is
 *   no longer valid
 */
export async function planOfDirectory(
  directory: string,
  state: StateReader,
  context: Context,
): Promise<{ readonly plan: Plan; readonly facts: RunFacts }> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || text === undefined || path === undefined) {
    throw usageError(
      `${relative(context.io.cwd, directory) || '.'} holds no run that reached its first job.`,
      'Run the pipeline first.',
    );
  }

  const files = keptFiles(facts.tables, directory, machineFiles(facts.filesRoot), state);
  const source = {
    file: relative(context.io.cwd, path),
    folder: dirname(path),
    text,
    ...(facts.set && { set: facts.set }),
  };
  const { pipeline, diagnostics } = await parsePipeline(source, asItWas(files, facts));
  if (pipeline === undefined) {
    await printDiagnostics(diagnostics, context);
    throw new ReportedError(exitCodes.usage);
  }
  const prepared = await preparePlan(pipeline, {
    files,
    serviceId: facts.serviceId,
    images: imagesOfDirectory(source.folder, files.root, state),
  });
  if (!prepared.ok) {
    await printDiagnostics(prepared.error, context);
    throw new ReportedError(exitCodes.usage);
  }
  refuseOtherTables(prepared.value, facts);
  return { plan: prepared.value, facts };
}

/** Images and masks were there when the pipeline ran; whether they still are is not asked. */
const asItWas = (files: FilePort, { tables }: RunFacts): FilePort => ({
  ...files,
  facts: async (path) =>
    tables.some(({ file }) => file === path)
      ? await files.facts(path)
      : { kind: 'file', realPath: files.root, bytes: 0 },
});

function refuseOtherTables(plan: Plan, { tables }: RunFacts): void {
  const now = new Map(plan.matrix.tables.map(({ file, sha256 }) => [file, sha256]));
  const other = tables.find(({ file, sha256 }) => now.has(file) && now.get(file) !== sha256);
  if (other === undefined) return;
  throw usageError(
    `The table ${other.file} has changed since the last run.`,
    'It was too large to be kept in the run directory. Run the pipeline again: that takes the new rows on.',
  );
}
