import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { StateReader } from './reader.ts';
import { type FactKeeper, StateError } from './store.ts';

/** The pipeline that a run directory belongs to. */
export interface PipelineIdentity {
  /** Absolute path of the pipeline's file. */
  readonly file: string;
  readonly text: string;
}

/** Names of the facts that `bindDirectory` writes. */
export const pipelineFacts = {
  /** Path of the pipeline's file relative to the run directory, with `/`. */
  file: 'pipeline.file',
  /** Absolute path of the pipeline's file. */
  path: 'pipeline.path',
  /** Text of the pipeline at its last run: a manifest is written from it if only the directory is at hand. */
  text: 'pipeline.text',
} as const;

/**
 * Refuses a directory whose state belongs to another pipeline file (two files of one name share the default directory). It is the same
 * pipeline if its path relative to the directory is the same (the whole checkout moved), if its absolute path is (the directory moved),
 * or if its text is (it was renamed, or checked out elsewhere).
 * @throws StateError `state.foreign`
 */
export async function checkDirectory(
  state: StateReader,
  directory: string,
  pipeline: PipelineIdentity,
): Promise<void> {
  const place = await state.fact(pipelineFacts.file);
  if (place === undefined) return;
  const identity = identify(directory, pipeline);
  const path = await state.fact(pipelineFacts.path);
  if (place === identity.file || path === identity.path) return;
  if ((await state.fact(pipelineFacts.text)) === pipeline.text) return;
  const other = path ?? place;
  throw new StateError('state.foreign', `${directory} belongs to another pipeline: ${other}.`, {
    hint:
      'Choose another directory with --out; if --out named this one, leave it out. If both pipelines have the same name, give ' +
      'this one another. If it is the same pipeline, moved and edited since, run it once as it was before the edit.',
  });
}

/** Binds a directory to a pipeline at the start of a run, and keeps its text. @throws as {@link checkDirectory} */
export async function bindDirectory(
  state: FactKeeper,
  directory: string,
  pipeline: PipelineIdentity,
): Promise<void> {
  await checkDirectory(state.reader, directory, pipeline);
  const identity = identify(directory, pipeline);
  const facts: readonly (readonly [string, string])[] = [
    [pipelineFacts.file, identity.file],
    [pipelineFacts.path, identity.path],
    [pipelineFacts.text, pipeline.text],
  ];
  for (const [name, value] of facts) {
    if (state.fact(name) !== value) await state.setFact(name, value);
  }
}

function identify(directory: string, pipeline: PipelineIdentity): { file: string; path: string } {
  const path = realPath(pipeline.file);
  return { file: relative(realPath(directory), path).split(sep).join('/'), path };
}

/** Resolves links, so that two paths to one folder are one identity; returns a missing path unchanged. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A state can be read for a pipeline whose file is gone.
    return path;
  }
}
