import type { Clock } from '../../run/clock.ts';
import type { StateError } from '../../state/store.ts';
import { EngineError, lostEngine } from './engine-error.ts';

/** What a user is told of an engine that is in trouble. */
export type EngineTrouble =
  /** It has failed for a few seconds, and is waited for. Said once. */
  | { readonly kind: 'waits'; readonly error: EngineError }
  /** It is back. Said only where it was said that it was not. */
  | { readonly kind: 'back'; readonly afterMs: number }
  /** What is wrong does not pass: whoever works there ends. */
  | { readonly kind: 'lost'; readonly error: StateError };

/** What is over sooner is not worth a word, ms. */
const saidAfterMs = 3000;

/**
 * Whether an engine works, as the questions of a process show. Of two questions one may fail and one not: where the engine only reads, a
 * question that failed has to succeed before it counts as back.
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

  /** Why nothing can be done on the engine any more; undefined: something can. */
  get lost(): StateError | undefined {
    return this.#lost;
  }

  /** @returns what removes the listener */
  onTrouble(listener: (trouble: EngineTrouble) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes how a question ended. */
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

  /** Something is wrong that does not pass: whatever this process does on the engine ends. */
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
    // Questions are repeated all the time: a later one says it.
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

/** A trouble in one line for the user. @param shown the engine's address without its secrets */
export function troubleLine(trouble: EngineTrouble, shown: string): string {
  switch (trouble.kind) {
    case 'waits': {
      const todo = (trouble.error.hint ?? '').replace(/, then give the same command again.*/, '.');
      return `${trouble.error.message} Nothing is lost: it is waited for, and nothing new is sent meanwhile. ${todo}`;
    }
    case 'back':
      return `The engine ${shown} is back after ${Math.round(trouble.afterMs / 1000)} s: the work goes on.`;
    case 'lost':
      return trouble.error.message;
  }
}
