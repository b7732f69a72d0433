/** Kinds of calls on the disk, in the words of mishap-preload.mjs. */
export type Moment =
  | 'state commit'
  | `${'image' | 'video' | 'manifest' | 'record'} ${'open' | 'write' | 'sync' | 'rename'}`
  | `reply ${'open' | 'write' | 'sync'}`
  | 'owner rename'
  | 'count write'
  | 'reserve write'
  | 'wal sync'
  | `log ${'open' | 'write'}`;

/** What befalls the built command line at one moment of its work. */
export interface Mishap {
  readonly moment: Moment;
  /** The n-th such call of the process, from 1. */
  readonly n: number;
  /** Of a kill: before the call is made, or once it has been carried out. */
  readonly when: 'before' | 'after';
  /** Kills the process; or every such call from the n-th on fails as on a full, a read-only or a broken disk. */
  readonly does: 'SIGKILL' | 'ENOSPC' | 'EROFS' | 'EIO';
}

const preload = new URL('mishap-preload.mjs', import.meta.url).href;

/** Environment of a child that meets a mishap. */
export const mishapEnv = (mishap: Mishap): Record<string, string> => ({
  NODE_OPTIONS: `--import ${preload}`,
  MISHAP: JSON.stringify(mishap),
});

export const aimedKill = (moment: Moment, n: number, when: Mishap['when']): Mishap => ({
  moment,
  n,
  when,
  does: 'SIGKILL',
});

/** Whether standard error says that the mishap happened. */
export const hasHappened = (stderr: string): boolean => /^mishap: [A-Z]/m.test(stderr);
