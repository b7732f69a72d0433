import { readFile } from 'node:fs/promises';
import type { ReplyPlace } from '../../src/plan/job-request.ts';

/**
 * A call of the built command line that changes the disk or makes a change durable. Of two calls at the same time the steps tell
 * which was over before the other began.
 */
export interface DiskCall {
  readonly call: 'create' | 'mkdir' | 'write' | 'sync' | 'rename' | 'commit';
  /** Of a rename: the name before. Of a commit: the database. */
  readonly path: string;
  /** Of a rename: the name after. */
  readonly to?: string;
  /** Steps count up over the process, from 1. */
  readonly began: number;
  readonly ended: number;
  /** Of a commit: the jobs in it, with their artifacts as paths relative to the run directory. */
  readonly jobs?: readonly {
    readonly key: string;
    readonly status: string;
    readonly files: readonly string[];
    /** Where the whole reply of its last call lies. */
    readonly reply?: ReplyPlace;
  }[];
  /** Of a write of replies: how far into the file it wrote. */
  readonly end?: number;
  /** Of a commit: `PRAGMA synchronous` of its connection, 2 for FULL. */
  readonly synchronous?: number;
}

const preload = new URL('mishap-preload.mjs', import.meta.url).href;

/** Environment of a child that records its calls in a file. */
export const recordingEnv = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${preload}`,
  DISK_CALLS: file,
});

/** What a child has recorded, in the order in which the calls ended. */
export async function readCalls(file: string): Promise<readonly DiskCall[]> {
  const text = await readFile(file, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DiskCall);
}
