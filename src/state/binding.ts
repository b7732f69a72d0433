import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { StateReader } from './reader.ts';
import { type FactKeeper, StateError } from './store.ts';

/** The pipeline that a run directory is for. */
export interface PipelineIdentity {
  /** Absolute path of the pipeline's file. */
  readonly file: string;
  readonly text: string;
}

/** Names of the facts that `bindDirectory` writes. */
export const pipelineFacts = {
  /** The pipeline's file as seen from the run directory, with `/`. */
  file: 'pipeline.file',
  /** The pipeline's file, absolute. */
  path: 'pipeline.path',
  /** The pipeline's text when it last ran: what a manifest is written from when only the directory is at hand. */
  text: 'pipeline.text',
} as const;

/**
 * Refuses a directory whose state another pipeline file made (two files of one name share the default directory).
 * It is the same pipeline when its place as seen from the directory is the same (the whole checkout moved), when its
 * absolute path is (the directory moved), or when its text is (it was renamed, or checked out elsewhere).
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
      'Choose another directory with --out; where --out named this one, leave it out. Where both pipelines have one name, give ' +
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

/** With links resolved, so that two paths to one folder are one identity; unchanged where the path does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A state can be read for a pipeline whose file is gone.
    return path;
  }
}
