import type { Clock } from '../../run/clock.ts';

/**
 * Everything a command asks of the process it runs in. `main.ts` gives the real one; a test gives its own and can
 * run every command in process.
 */
export interface Io {
  readonly cwd: string;
  readonly env: Environment;
  /** Writes a result in words to standard output, without any secret; resolves when more may follow. Silent when the reader has gone. */
  out(text: string): Promise<void>;
  /** Like {@link Io.out}, for lines of JSON: without credentials, while a secret that may be an ordinary word (a variable in `service.id`) stays. */
  data(text: string): Promise<void>;
  /** Aborted when the reader of standard output is gone (`promptpress plan … | head`). */
  readonly outClosed: AbortSignal;
  /** Writes to standard error: progress, warnings, failures. */
  err(text: string): void;
  /** What standard error is shown on; absent when it is no terminal, or on a build server. */
  readonly terminal?: Terminal;
  /**
   * Shows a question and waits for a line; undefined when the input ends. Absent where no user can answer: standard input
   * or standard error is no terminal, or belongs to a build server.
   */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Colours on standard error. */
  readonly colors: boolean;
  /** Unix milliseconds as the machine's clock said when the process began, and what has passed since: a clock that is set changes no duration. */
  now(): number;
  readonly machine: Machine;
  /** Bytes that this process may still write in a folder; undefined where the system does not report it. */
  freeBytes(folder: string): number | undefined;
  /** Calls back about every `ms` until the result is called; does not keep the process alive. */
  every(ms: number, call: () => void): () => void;
  /**
   * From now on a signal no longer ends the process; the command receives it instead.
   * @param late it does so only from `listen` on: until then nothing is lost by the default action, which comes at once whatever the process is
   *   busy with
   */
  interrupts(late?: 'late'): Interrupts;
  /** What runs long keeps the heap of its process near what lives in it, from now on. Not for a process that is shared with others. */
  boundHeapGrowth(): void;
  /** What runs long keeps the optimizing compiler of its process from taking most of it, from now on. Not for a shared process either. */
  boundCompiler(): void;
}

/** The process and the machine that it runs on. */
export interface Machine {
  /** Of waits and records: a clock of the machine that is set makes none of them wrong. */
  readonly clock: Clock;
  /** Unix milliseconds as the clock of the machine says now: signatures and the times of files are compared with it. */
  timeOfDay(): number;
  readonly pid: number;
  /** Bytes, as Node.js measures them. */
  memory(): Readonly<Record<'rss' | 'heapUsed' | 'external' | 'arrayBuffers', number>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  /** Changes when the window does. */
  columns(): number;
  rows(): number;
  /** Block characters can be shown. */
  readonly unicode: boolean;
  /** Writes to standard error unchanged, cursor movements too: the caller must escape every character from outside. */
  draw(frame: string): void;
}

export const interruptNames = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What ends a run in good order: Ctrl-C, a manager of processes, a terminal that is closed. */
export type InterruptName = (typeof interruptNames)[number];

/** How a run hears that it is to end. */
export interface Interrupts {
  /** First signal: open nothing new, settle what is in flight. */
  readonly drain: AbortSignal;
  /** Second signal: leave at once. */
  readonly leave: AbortSignal;
  /** Which signal came first. */
  first(): InterruptName | undefined;
  /** Signals no longer end the process; of those that were not late, they never have. */
  listen(): void;
  /** Signals end the process again. */
  stop(): void;
}
