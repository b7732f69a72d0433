import { relative } from 'node:path';
import { lockOwner } from '../../state/lock/lock.ts';

/** Where a run lies, as those see it who only look at it. */
export interface RunPlace {
  /** As a command line names it from the current folder: the run directory, or `postgres://…#name`. */
  readonly name: string;
  /** The run directory; absolute. Of a run on an engine it may be another machine's. */
  readonly directory: string;
  /** The address of its engine with its name there, without a password; absent: the state lies in the directory. */
  readonly engine?: string;
  /** Who carries the run out; undefined: nobody does. `pid` 0: it cannot be read. */
  owner(wait?: {
    readonly waitMs?: number;
  }): Promise<{ readonly pid: number; readonly host: string } | undefined>;
}

/** A run directory whose state lies in it. @param cwd the current folder */
export const placeOfDirectory = (directory: string, cwd: string): RunPlace => ({
  name: relative(cwd, directory) || '.',
  directory,
  owner: (wait) => Promise.resolve(lockOwner(directory, wait)),
});
