import { relative } from 'node:path';
import type { RunEnd } from '../../run/events.ts';
import { lockOwner } from '../../state/lock/lock.ts';
import type { JsonOutputs } from './json-outputs.generated.ts';

/** Where a run on an engine stands (schemas/status.schema.json). */
export type StageFacts = NonNullable<JsonOutputs['status']['stage']> & { readonly end?: RunEnd };

/** Where a run lies, as those see it who only look at it. */
export interface RunPlace {
  /** As a command line names it from the current folder: the run directory, or `postgres://…#name`. */
  readonly name: string;
  /** The run directory; absolute. Of a run on an engine it may be another machine's. */
  readonly directory: string;
  /** The address of its engine with its name there, without a password; absent: the state lies in the directory. */
  readonly engine?: string;
  /** Where a run on an engine stands; absent: the state lies in the directory. Undefined: nothing of it has begun. */
  stage?(): Promise<StageFacts | undefined>;
  /** Who carries the run out; undefined: nobody does. `pid` 0: it cannot be read. */
  owner(wait?: {
    readonly waitMs?: number;
  }): Promise<{ readonly pid: number; readonly host: string } | undefined>;
}

/**
 * A path as a command line names it from the current folder: one that begins with a hyphen would be read as a flag, `--out=x`.
 *
 * @param cwd the current folder
 */
export function seenFrom(cwd: string, path: string): string {
  const seen = relative(cwd, path) || '.';
  return seen.startsWith('-') ? `./${seen}` : seen;
}

/** A run directory whose state lies in it. @param cwd the current folder */
export const placeOfDirectory = (directory: string, cwd: string): RunPlace => ({
  name: seenFrom(cwd, directory),
  directory,
  owner: (wait) => Promise.resolve(lockOwner(directory, wait)),
});
