import type { Clock } from '../../run/clock.ts';
import type { StateError } from '../../state/store.ts';
import { EngineError, lostEngine } from './engine-error.ts';

/** A change of an engine's availability, for the user. */
export type EngineTrouble =
  /** The engine has failed for a few seconds, and promptpress waits for it. Emitted once. */
  | { readonly kind: 'waits'; readonly error: EngineError }
  /** The engine is available again. Emitted only after `waits`. */
  | { readonly kind: 'back'; readonly afterMs: number }
  /** The failure does not pass: all work on the engine ends. */
  | { readonly kind: 'lost'; readonly error: StateError };

/** Shorter failures are not reported, ms. */
const saidAfterMs = 3000;

/**
 * Tracks whether an engine works, from the queries of a process. With a read-only engine some queries succeed and others fail, so a failed
 * query must succeed before the engine counts as available.
 */
export class EngineTroubles {
  readonly #clock: Clock;
  readonly #listeners = new Set<(trouble: EngineTrouble) => void>();
  #trouble: { readonly since: number; readonly asked: string; error: EngineError } | undefined;
  #isSaid = false;
  #lost: StateError | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why the engine is unusable for good; undefined where it is not. */
  get lost(): StateError | undefined {
    return this.#lost;
  }

  /** Registers a listener. @returns a function that removes the listener */
  onTrouble(listener: (trouble: EngineTrouble) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs a query, and notes whether it succeeded. */
  async watch<T>(asked: string, question: () => Promise<T>): Promise<T> {
    const at = this.#clock.now();
    try {
      const answer = await question();
      this.#onAnswer(asked);
      return answer;
    } catch (error) {
      if (error instanceof EngineError) this.#onFailure(asked, at, error);
      throw error;
    }
  }

  /** Reports a failure that does not pass: all work of this process on the engine ends. */
  fail(error: StateError): void {
    if (this.#lost !== undefined) return;
    this.#lost = error instanceof EngineError ? lostEngine(error) : error;
    this.#tell({ kind: 'lost', error: this.#lost });
  }

  #onFailure(asked: string, at: number, error: EngineError): void {
    if (!error.mayPass) return this.fail(error);
    if (this.#lost !== undefined) return;
    this.#trouble ??= { since: at, asked, error };
    this.#trouble.error = error;
    // Queries are repeated all the time: a later one reports the failure.
    if (this.#isSaid || this.#clock.now() - this.#trouble.since < saidAfterMs) return;
    this.#isSaid = true;
    this.#tell({ kind: 'waits', error });
  }

  #onAnswer(asked: string): void {
    if (this.#trouble === undefined || this.#lost !== undefined) return;
    const { since, error } = this.#trouble;
    const isWritten = error.code === 'engine.full' || error.code === 'engine.readonly';
    if (isWritten && asked !== this.#trouble.asked) return;
    this.#trouble = undefined;
    if (this.#isSaid) this.#tell({ kind: 'back', afterMs: this.#clock.now() - since });
    this.#isSaid = false;
  }

  #tell(trouble: EngineTrouble): void {
    for (const listener of this.#listeners) listener(trouble);
  }
}

/** Describes a change in one line for the user. @param shown the engine's address without its secrets */
export function troubleLine(trouble: EngineTrouble, shown: string): string {
  switch (trouble.kind) {
    case 'waits': {
      const todo = (trouble.error.hint ?? '').replace(/, then give the same command again.*/, '.');
      return `${trouble.error.message} Nothing is lost: this process waits for it, and sends nothing new meanwhile. ${todo}`;
    }
    case 'back':
      return `The engine ${shown} is back after ${Math.round(trouble.afterMs / 1000)} s: the work continues.`;
    case 'lost':
      return trouble.error.message;
  }
}
