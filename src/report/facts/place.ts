import { relative } from 'node:path';
import type { RunEnd } from '../../run/events.ts';
import { lockOwner } from '../../state/lock/lock.ts';
import type { JsonOutputs } from './json-outputs.generated.ts';

/** Stage of a run on an engine (schemas/status.schema.json). */
export type StageFacts = NonNullable<JsonOutputs['status']['stage']> & { readonly end?: RunEnd };

/** Location of a run, for commands that only read it. */
export interface RunPlace {
  /** Name for command lines in the current folder: the run directory, or `postgres://…#name`. */
  readonly name: string;
  /** Absolute run directory. Of a run on an engine it may be on another machine. */
  readonly directory: string;
  /** Address and run name of the engine, without a password; absent if the state lies in the directory. */
  readonly engine?: string;
  /** Reads the stage of a run on an engine; absent if the state lies in the directory. Resolves to undefined if the run does not exist. */
  stage?(): Promise<StageFacts | undefined>;
  /** Finds the process that runs it; undefined if there is none. `pid` is 0 if it cannot be read. */
  owner(wait?: {
    readonly waitMs?: number;
  }): Promise<{ readonly pid: number; readonly host: string } | undefined>;
}

/**
 * Returns a path relative to the current folder. `./` is put before a leading hyphen, which would look like a flag.
 *
 * @param cwd the current folder
 */
export function seenFrom(cwd: string, path: string): string {
  const seen = relative(cwd, path) || '.';
  return seen.startsWith('-') ? `./${seen}` : seen;
}

/** Returns the place of a run whose state lies in its directory. @param cwd the current folder */
export const placeOfDirectory = (directory: string, cwd: string): RunPlace => ({
  name: seenFrom(cwd, directory),
  directory,
  owner: (wait) => Promise.resolve(lockOwner(directory, wait)),
});
