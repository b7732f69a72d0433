import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import type { FilePort } from '../../pipeline/files.ts';
import { type PipelineSource, parsePipeline } from '../../pipeline/parse.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { type IsOptional, missingCode, neverOptional, optionalIn } from '../../plan/graph/optional.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { type RunFacts, readRunFacts } from '../../report/facts/run.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import { machineFiles } from '../adapters/files.ts';
import type { Io } from '../output/io.ts';
import { filesRoot } from './read-pipeline.ts';
import { keptFiles } from './tables.ts';

/** The text of a directory's last run, and what it may read on this machine. */
export interface KeptSource {
  readonly facts: RunFacts;
  readonly source: PipelineSource;
  readonly files: FilePort;
}

/**
 * What a run directory or an engine keeps of its last run: the pipeline's text, and its tables as they were. What it says of places counts for
 * names alone: beside the copies only files below a folder of this machine are read, whoever wrote the state.
 *
 * @param file the pipeline that the user named, absolute; absent: he named the run. Its files are those that it might read itself, else those
 *   in the git work tree of the current folder
 * @returns undefined where no run got as far
 */
export async function keptSource(
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
  file?: string,
): Promise<KeptSource | undefined> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || text === undefined || path === undefined) return undefined;
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

/** All files of a machine, or of a user, are no project: of them a state reads nothing but what the run directory keeps. */
async function rootHere(directory: string, { cwd, env }: Pick<Io, 'cwd' | 'env'>): Promise<string> {
  const root = await filesRoot(undefined, cwd, cwd);
  const isProject = root !== parse(root).root && root !== env['HOME'] && root !== homedir();
  return isProject ? root : join(directory, runFiles.inputs);
}

/** Images and masks were there when the pipeline ran; whether they still are is not asked. */
const asItWas = (files: FilePort, { tables }: RunFacts): FilePort => ({
  ...files,
  facts: async (path) =>
    tables.some(({ file, copied }) => file === path && !copied)
      ? await files.facts(path)
      : { kind: 'file', realPath: files.root, bytes: tables.find(({ file }) => file === path)?.bytes ?? 0 },
});

/**
 * The pipeline of a directory's last run, from the text that its state keeps. Undefined where nothing got as far, and
 * where this release or this machine no longer finds it valid: for commands that can do without.
 */
export async function keptPipeline(
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<Pipeline | undefined> {
  const kept = await keptSource(directory, state, io);
  return kept && (await parsePipeline(kept.source, kept.files)).pipeline;
}

/** Finds the optional buttons of a pipeline; without a pipeline none is known. */
export function optionalOf(pipeline: Pipeline | undefined): IsOptional {
  const graph = pipeline && buildGraph(pipeline.steps, pipeline.models);
  return graph === undefined || 'tooMany' in graph ? neverOptional : optionalIn(graph);
}

/** The same of a directory's last run. The pipeline is read only where it matters: where a button was not there. */
export const keptOptional = async (
  directory: string,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<IsOptional> =>
  ((await state.totals()).codes[missingCode] ?? 0) === 0
    ? neverOptional
    : optionalOf(await keptPipeline(directory, state, io));
