import { type FilePort, isWithin } from '../../pipeline/files.ts';
import { parsePipeline } from '../../pipeline/parse.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { seenFrom } from '../../report/facts/place.ts';
import type { RunFacts } from '../../report/facts/run.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { imagesOfDirectory } from './images.ts';
import { keptSource } from './last-pipeline.ts';
import { reported } from './read-pipeline.ts';

/**
 * Returns the plan of a directory's last run, from the pipeline's text in its state and its tables in `inputs/`. The pipeline file itself
 * is not read: it may have been edited since.
 *
 * @param file absolute path of the pipeline that the user named; absent: the user named the run
 * @param known the same pipeline, if it was parsed before
 * @throws CliError (exit 2) if a table that was too large to keep is gone or has changed, Reported if the text is no longer valid
 */
export async function planOfDirectory(
  directory: string,
  state: StateReader,
  context: Context,
  file?: string,
  signal?: AbortSignal,
  known?: Pipeline,
): Promise<{ readonly plan: Plan; readonly facts: RunFacts }> {
  const kept = await keptSource(directory, state, context.io, file);
  if (kept === undefined) {
    throw usageError(
      `${seenFrom(context.io.cwd, directory)} holds no run that reached its first job.`,
      'Run the pipeline first.',
    );
  }
  const { facts, source, files } = kept;
  await refuseOutside(facts, files);
  const { pipeline = known, diagnostics } =
    known === undefined ? await parsePipeline(source, files) : { diagnostics: [] };
  if (pipeline === undefined) throw await reported(diagnostics, context);
  const prepared = await preparePlan(pipeline, {
    files,
    serviceId: facts.serviceId,
    images: imagesOfDirectory(source.folder, files.root, state),
    ...(signal && { signal }),
  });
  if (!prepared.ok) throw await reported(prepared.error, context);
  refuseOtherTables(prepared.value, facts);
  return { plan: prepared.value, facts };
}

/** @throws CliError (exit 2) for a table without a copy that is outside of the readable folder */
async function refuseOutside({ tables }: RunFacts, files: FilePort): Promise<void> {
  for (const { file, copied } of tables) {
    const found = copied ? undefined : await files.facts(file);
    if (found === undefined || isWithin(files.root, found.realPath)) continue;
    throw usageError(
      `The table ${file} was too large to be kept in the run directory, and it is outside of ${files.root}, the only folder that this command may read.`,
      'Name the pipeline file in place of the run, or start the command in the folder of the project.',
    );
  }
}

function refuseOtherTables(plan: Plan, { tables }: RunFacts): void {
  const now = new Map(plan.matrix.tables.map(({ file, sha256 }) => [file, sha256]));
  const other = tables.find(({ file, sha256 }) => now.has(file) && now.get(file) !== sha256);
  if (other === undefined) return;
  throw usageError(
    `The table ${other.file} has changed since the last run.`,
    'It was too large to be kept in the run directory. Run the pipeline again: that uses the new rows.',
  );
}
