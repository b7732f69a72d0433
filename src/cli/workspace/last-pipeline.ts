import { dirname, relative } from 'node:path';
import { parsePipeline } from '../../pipeline/parse.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { type IsOptional, missingCode, neverOptional, optionalIn } from '../../plan/graph/optional.ts';
import { readRunFacts } from '../../report/facts/run.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import { machineFiles } from '../adapters/files.ts';
import { keptFiles } from './tables.ts';

/**
 * The pipeline of a directory's last run, from the text that its state keeps. Undefined where nothing got as far, and
 * where this release or this machine no longer finds it valid: for commands that can do without.
 */
export async function keptPipeline(
  directory: string,
  state: StateReader,
  cwd: string,
): Promise<Pipeline | undefined> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || text === undefined || path === undefined) return undefined;
  const files = keptFiles(facts.tables, directory, machineFiles(facts.filesRoot), state);
  const source = {
    file: relative(cwd, path),
    folder: dirname(path),
    text,
    ...(facts.set && { set: facts.set }),
  };
  return (await parsePipeline(source, files)).pipeline;
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
  cwd: string,
): Promise<IsOptional> =>
  ((await state.totals()).codes[missingCode] ?? 0) === 0
    ? neverOptional
    : optionalOf(await keptPipeline(directory, state, cwd));
