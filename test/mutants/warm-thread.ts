import { type PoolOptions, type TestProject, ThreadsPoolWorker, type WorkerRequest } from 'vitest/node';

/** After so many mutants a thread has kept enough of them to be slower than a fresh one. */
const mutantsOfAThread = 50;

interface Warm {
  readonly worker: ThreadsPoolWorker;
  mutants: number;
}

let idle: Warm | undefined;

/**
 * A thread that stays when a run of Vitest ends, so that the next mutant finds every module loaded. Most of a mutant's time would
 * go into loading them. The first run, which notes what each test reaches, and mutants of what runs when a module is loaded
 * get a thread of their own.
 */
export class WarmThread {
  readonly name = 'warm-thread';
  readonly #options: PoolOptions;
  readonly #listeners: (readonly [string, (message: unknown) => void])[] = [];
  #warm: Warm | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#warm = mayShare(this.#options.project) ? idle : undefined;
    if (this.#warm === undefined) {
      this.#warm = { worker: new ThreadsPoolWorker(this.#options), mutants: 0 };
      await this.#warm.worker.start();
    } else {
      idle = undefined;
    }
    this.#warm.mutants += 1;
  }

  on(event: string, listener: (message: unknown) => void): void {
    this.#listeners.push([event, listener]);
    this.#worker.on(event, listener);
  }

  off(event: string, listener: (message: unknown) => void): void {
    this.#worker.off(event, listener);
  }

  send(message: WorkerRequest): void {
    if (message.type !== 'stop') {
      this.#worker.send(message);
      return;
    }
    // The thread would stop to listen; the pool only waits for this reply.
    for (const [event, listener] of this.#listeners)
      if (event === 'message') listener({ type: 'stopped', __vitest_worker_response__: true });
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  async stop(): Promise<void> {
    const warm = this.#warm;
    if (warm === undefined) return;
    for (const [event, listener] of this.#listeners) warm.worker.off(event, listener);
    if (mayShare(this.#options.project) && warm.mutants < mutantsOfAThread && idle === undefined) idle = warm;
    else await warm.worker.stop();
    this.#warm = undefined;
  }

  get #worker(): ThreadsPoolWorker {
    if (this.#warm === undefined) throw new Error('Internal error: a thread is used before it has started.');
    return this.#warm.worker;
  }
}

/** Whether the mutant that Stryker's runner has announced only acts while tests run. */
function mayShare(project: TestProject): boolean {
  const context = project.getProvidedContext() as { mode?: string; mutantActivation?: string };
  return context.mode === 'mutant' && context.mutantActivation === 'runtime';
}
