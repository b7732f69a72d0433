import type { Clock } from '../../run/clock.ts';

/** The access of a command to its process. `main.ts` passes the real one; tests pass their own and run every command in process. */
export interface Io {
  readonly cwd: string;
  readonly env: Environment;
  /** Writes text to standard output, secrets masked; resolves when more may follow. Does nothing once the reader has gone. */
  out(text: string): Promise<void>;
  /** Like {@link Io.out}, for lines of JSON: only credentials are masked; a secret that may be an ordinary word (`service.id`) stays. */
  data(text: string): Promise<void>;
  /** Aborted when the reader of standard output is gone (`promptpress plan … | head`). */
  readonly outClosed: AbortSignal;
  /** Writes to standard error: progress, warnings, failures. */
  err(text: string): void;
  /** The terminal of standard error; absent when it is not a terminal, or on a build server. */
  readonly terminal?: Terminal;
  /**
   * Shows a question and waits for a line; undefined when the input ends. Absent where no user can answer: standard input or standard error
   * is not a terminal, or belongs to a build server.
   */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Whether standard error shows colours. */
  readonly colors: boolean;
  /** Unix ms: the machine's time when the process began plus the time since. Setting the clock changes no duration. */
  now(): number;
  readonly machine: Machine;
  /** Returns how many bytes this process may still write in a folder; undefined where the system does not report it. */
  freeBytes(folder: string): number | undefined;
  /** Calls a function about every `ms` until the returned function is called; does not keep the process alive. */
  every(ms: number, call: () => void): () => void;
  /**
   * Takes over the handling of signals: the command receives them, and they no longer end the process.
   * @param late only from `listen` on; until then signals end the process at once, however busy it is
   */
  interrupts(late?: 'late'): Interrupts;
  /** Keeps the heap of this process close to its live data from now on. Not for a process that is shared with others. */
  boundHeapGrowth(): void;
  /** Limits the CPU time of the optimizing compiler of this process from now on. Not for a shared process either. */
  boundCompiler(): void;
}

/** The process and the machine that it runs on. */
export interface Machine {
  /** Clock for waits and records; not affected when the machine's clock is set. */
  readonly clock: Clock;
  /** Unix ms by the machine's clock now, to compare with signatures and times of files. */
  timeOfDay(): number;
  readonly pid: number;
  /** Memory use in bytes, as Node.js measures it. */
  memory(): Readonly<Record<'rss' | 'heapUsed' | 'external' | 'arrayBuffers', number>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  /** Width of the terminal; changes with the window. */
  columns(): number;
  rows(): number;
  /** Whether the terminal can show block characters. */
  readonly unicode: boolean;
  /** Writes to standard error unchanged, cursor movements too: the caller must escape every character from outside. */
  draw(frame: string): void;
}

export const interruptNames = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The name of a signal that ends a run cleanly: Ctrl-C, a process manager, a closed terminal. */
export type InterruptName = (typeof interruptNames)[number];

/** The signals that end a run. */
export interface Interrupts {
  /** Aborted by the first signal: start nothing new, settle what is in flight. */
  readonly drain: AbortSignal;
  /** Aborted by the second signal: leave at once. */
  readonly leave: AbortSignal;
  /** Returns the signal that came first. */
  first(): InterruptName | undefined;
  /** With `late`: from now on, signals no longer end the process. Otherwise: does nothing. */
  listen(): void;
  /** Restores the default: signals end the process again. */
  stop(): void;
}
