import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Input } from './input.ts';

/** What a child says of an input it has read. */
export interface ReaderResult {
  /** CPU time in milliseconds, of all threads: what else the machine does is no finding. */
  readonly ms: number;
  /** Growth of the process at its peak. */
  readonly bytes: number;
  readonly codes: readonly string[];
  /** A promise that was not kept, or a crash. */
  readonly broken?: string;
}

/** What one input may take. */
export const budget = {
  ms: 2000,
  bytes: 150 * 1024 * 1024,
  /** Without an answer for so long, it hangs. Waiting takes no CPU time. */
  wallMs: 20_000,
  /** To make an input ready may take so long: some need a repository or a database. */
  readyMs: 120_000,
} as const;

const child = fileURLToPath(new URL('children/reader.ts', import.meta.url));

/** A process that reads inputs. One that hangs or dies is replaced, and the input is to blame. */
export class Reader implements AsyncDisposable {
  #process: ChildProcess | undefined;
  #errors = '';

  async read(input: Input): Promise<ReaderResult> {
    const process = (this.#process ??= await this.#start());
    const silence = new AbortController();
    let late = setTimeout(() => silence.abort(), budget.readyMs);
    let onMessage: ((message: 'ready' | ReaderResult) => void) | undefined;
    try {
      const answered = new Promise<ReaderResult>((resolve) => {
        onMessage = (message) => {
          if (message !== 'ready') return resolve(message);
          clearTimeout(late);
          late = setTimeout(() => silence.abort(), budget.wallMs);
        };
        process.on('message', onMessage);
      });
      const ended = once(process, 'exit', { signal: silence.signal }).then(() => undefined);
      process.send(input);
      const result = await Promise.race([answered, ended]);
      if (result !== undefined) return result;
      const broken = `The process died: ${this.#errors.slice(-2000)}`;
      this.#process = undefined;
      return { ms: 0, bytes: 0, codes: [], broken };
    } catch (error) {
      if (!silence.signal.aborted) throw error;
      await this.#stop();
      return {
        ms: budget.wallMs,
        bytes: 0,
        codes: [],
        broken: `No answer within ${budget.wallMs / 1000} s.`,
      };
    } finally {
      clearTimeout(late);
      silence.abort();
      if (onMessage !== undefined) process.off('message', onMessage);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** A machine that is busy may start it slowly: that is no part of what an input takes. */
  async #start(): Promise<ChildProcess> {
    this.#errors = '';
    const started = fork(child, {
      execArgv: ['--import', 'tsx', '--expose-gc', '--max-old-space-size=1024'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-10_000);
    });
    const ended = once(started, 'exit').then(() => {
      throw new Error(`The reader did not start: ${this.#errors}`);
    });
    await Promise.race([once(started, 'message'), ended]);
    ended.catch(() => {});
    return started;
  }

  async #stop(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    // A child that reads can say goodbye, and remove its folder; one that hangs cannot.
    if (process.connected) process.disconnect();
    const hung = setTimeout(() => process.kill('SIGKILL'), 500);
    await ended;
    clearTimeout(hung);
  }
}
