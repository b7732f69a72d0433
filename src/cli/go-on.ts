import { relative } from 'node:path';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { pipelineFacts } from '../state/binding.ts';
import type { StateReader } from '../state/store.ts';
import { quoted, runAgain } from './again.ts';
import { readRunFacts } from './run-facts.ts';
import { runDirectory } from './run-files.ts';
import { sandboxId } from './service-settings.ts';

/** Commandlines to copy, about one run directory and its jobs. */
export interface Commands {
  /** The last run once more: the same pipeline, place and part of the plan. Undefined where nothing has run. */
  readonly run: string | undefined;
  /** The same with `--in-doubt find`. Undefined where its submissions carried no tag (`service.tag`). */
  readonly find: string | undefined;
  readonly status: string;
  show(key: string): string;
  /** Followed by `--task ID`, `--drop` or `--retry`. */
  resolve(key: string): string;
}

/** The commands that name a job of a directory; the directory as seen from the current folder. */
export const jobCommands = (directory: string): Pick<Commands, 'status' | 'show' | 'resolve'> => ({
  status: `promptpress status ${quoted(directory)}`,
  show: (key) => `promptpress show ${key} ${quoted(directory)}`,
  resolve: (key) => `promptpress resolve ${key} ${quoted(directory)}`,
});

/**
 * The commands for a directory, from what its last run left in it.
 *
 * @param pipeline its name tells whether the directory is the one that a run would choose; absent: it is named, and its
 *   submissions are taken to be tagged
 */
export function commandsOf(
  directory: string,
  state: StateReader,
  pipeline: Pick<Pipeline, 'name' | 'source' | 'service'> | undefined,
  cwd: string,
): Commands {
  const place = relative(cwd, directory) || '.';
  const run = lastRun(directory, place, state, pipeline, cwd);
  const isTagged = pipeline?.service.tag !== false;
  const find = run !== undefined && isTagged ? `${run} --in-doubt find` : undefined;
  return { ...jobCommands(place), run, find };
}

function lastRun(
  directory: string,
  place: string,
  state: StateReader,
  pipeline: Pick<Pipeline, 'name' | 'source'> | undefined,
  cwd: string,
): string | undefined {
  const facts = readRunFacts(state);
  const path = state.fact(pipelineFacts.path);
  if (facts === undefined || path === undefined) return undefined;
  const { limit, filters, shard, only } = facts.selection;
  const sandbox = facts.serviceId === sandboxId;
  const isDefault =
    pipeline !== undefined && runDirectory(pipeline, { out: undefined, sandbox }, cwd) === directory;
  return runAgain(relative(cwd, path), {
    sandbox,
    out: isDefault ? undefined : place,
    // Whoever trusts the directory says so each time.
    'trust-directory': false,
    'base-url': undefined,
    'files-root': undefined,
    speed: undefined,
    limit,
    filter: filters ?? [],
    shard,
    only: only ?? [],
  });
}
