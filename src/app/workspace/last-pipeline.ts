import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import type { FilePort } from '../../pipeline/files.ts';
import { type PipelineSource, parsePipeline } from '../../pipeline/parse.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { type FailureRules, noFailureRules, optionalIn } from '../../plan/graph/optional.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { lastRun, type RunFacts } from '../../report/facts/run.ts';
import type { StateReader } from '../../state/reader.ts';
import { machineFiles } from '../adapters/files.ts';
import type { Io } from '../output/io.ts';
import { filesRoot } from './read-pipeline.ts';
import { keptFiles } from './tables.ts';

/** The pipeline text of a directory's last run, and the files on this machine that it may read. */
export interface KeptSource {
  readonly facts: RunFacts;
  readonly source: PipelineSource;
  readonly files: FilePort;
}

/**
 * Reads what a run directory or an engine keeps of its last run: the pipeline's text, and its tables as they were. Paths in the state are
 * only names: beside the kept copies, only files below a folder of this machine are read, whoever wrote the state.
 *
 * @param file absolute path of the pipeline that the user named, which allows the same files as the pipeline itself; absent: the user named
 *   the run, and files in the git work tree of the current folder are allowed
 * @returns undefined if no run got as far
 */
export async function keptSource(
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
  file?: string,
): Promise<KeptSource | undefined> {
  const last = await lastRun(state);
  if (last === undefined) return undefined;
  const { facts, text, path } = last;
  const root =
    file === undefined ? await rootHere(directory, io) : await filesRoot(undefined, dirname(file), io.cwd);
  return {
    facts,
    source: {
      file: seenFrom(io.cwd, path),
      folder: dirname(path),
      text,
      ...(facts.set && { set: facts.set }),
    },
    files: asItWas(keptFiles(facts.tables, directory, machineFiles(root), state), facts),
  };
}

/** Returns the folder of readable files. If it would be a root or a home folder, only the run directory may be read. */
async function rootHere(directory: string, { cwd, env }: Pick<Io, 'cwd' | 'env'>): Promise<string> {
  const root = await filesRoot(undefined, cwd, cwd);
  const isProject = root !== parse(root).root && root !== env['HOME'] && root !== homedir();
  return isProject ? root : join(directory, runFiles.inputs);
}

/** Returns file access that reports every image and mask as present, as they were when the pipeline ran. */
const asItWas = (files: FilePort, { tables }: RunFacts): FilePort => ({
  ...files,
  facts: async (path) =>
    tables.some(({ file, copied }) => file === path && !copied)
      ? await files.facts(path)
      : { kind: 'file', realPath: files.root, bytes: tables.find(({ file }) => file === path)?.bytes ?? 0 },
});

/**
 * Reads the pipeline of a directory's last run from the text in its state. Undefined if there is none, or if it is no longer valid in this
 * release or on this machine: for commands that can continue without it.
 */
export async function keptPipeline(
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<Pipeline | undefined> {
  const kept = await keptSource(directory, state, io);
  return kept && (await parsePipeline(kept.source, kept.files)).pipeline;
}

/** Returns how a pipeline judges failures; without a pipeline, no failure is expected. */
export function failureRulesOf(pipeline: Pipeline | undefined): FailureRules {
  if (pipeline === undefined) return noFailureRules;
  const graph = buildGraph(pipeline.steps, pipeline.models, pipeline.bests);
  return {
    ...('tooMany' in graph ? noFailureRules : { isOptional: optionalIn(graph) }),
    accepted: new Set(pipeline.acceptedFailures),
  };
}

/** Returns the same for a directory's last run. The pipeline is only read if some job has failed. */
export const keptFailureRules = async (
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<FailureRules> =>
  (await state.totals()).jobs.failed === 0
    ? noFailureRules
    : failureRulesOf(await keptPipeline(directory, state, io));
