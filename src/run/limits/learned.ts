import { StateError, type StateStore } from '../../state/store.ts';
import type { Clock } from '../clock.ts';

/** Names of the documents that a run learns about its service and saves for the next run. Each is stored as a fact of the state. */
export const learnedNames = ['poll', 'limits', 'service'] as const;
export type LearnedName = (typeof learnedNames)[number];

/** Saved documents of what was learned, as JSON texts. */
export type LearnedTexts = Readonly<Partial<Record<LearnedName, string>>>;

/** Returns the name of the fact that stores a document. */
export const learnedFact = (name: LearnedName): string => `learned.${name}`;

/** Maximum length of a document in characters. A longer text is neither written nor read. */
const maxCharacters = 65_536;

/** Reads the documents saved by earlier runs. Anybody may have changed the file that they come from. */
export function readLearned(store: Pick<StateStore, 'fact'>): LearnedTexts {
  const texts: Partial<Record<LearnedName, string>> = {};
  for (const name of learnedNames) {
    const text = store.fact(learnedFact(name));
    if (text !== undefined && text !== '') texts[name] = text;
  }
  return texts;
}

/** A store of facts. In a local store a fact is durable when the call returns. */
interface FactStore {
  fact(name: string): string | undefined;
  setFact(name: string, value: string): void | Promise<void>;
}

/** The documents that differ from the saved ones and are short enough to be read again. */
const changed = (store: Pick<FactStore, 'fact'>, texts: LearnedTexts): readonly [LearnedName, string][] =>
  learnedNames.flatMap((name): [LearnedName, string][] => {
    const text = texts[name];
    return text === undefined || text.length > maxCharacters || text === store.fact(learnedFact(name))
      ? []
      : [[name, text]];
  });

/** Interval at which learned documents are saved during a run, ms, so that a killed run keeps most of them. */
const keepEveryMs = 60_000;

/** Saves what a run learns: about once a minute with a commit, and at the end of the run. */
export class LearnedKeeper {
  readonly #store: FactStore;
  readonly #texts: () => LearnedTexts;
  readonly #clock: Pick<Clock, 'now'>;
  #keptAt: number;

  constructor(store: FactStore, texts: () => LearnedTexts, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#texts = texts;
    this.#clock = clock;
    this.#keptAt = clock.now();
  }

  /** Returns the facts to save with the next commit, by name; undefined where none are due. */
  due(): Readonly<Record<string, string>> | undefined {
    const now = this.#clock.now();
    if (now - this.#keptAt < keepEveryMs) return undefined;
    this.#keptAt = now;
    return Object.fromEntries(
      changed(this.#store, this.#texts()).map(([name, text]) => [learnedFact(name), text]),
    );
  }

  /** Saves the documents once the run has ended and all its commits are durable. */
  async onEnd(): Promise<void> {
    for (const [name, text] of changed(this.#store, this.#texts()))
      await keepFact(this.#store, learnedFact(name), text);
  }
}

/** Deletes what earlier runs have learned (`--relearn`). */
export async function forgetLearned(store: FactStore): Promise<void> {
  for (const name of learnedNames)
    if ((store.fact(learnedFact(name)) ?? '') !== '') await keepFact(store, learnedFact(name), '');
}

/** Saves a fact that no job depends on. Ignores a disk failure, because the commit of a job reports it too. */
export async function keepFact(store: Pick<FactStore, 'setFact'>, name: string, text: string): Promise<void> {
  try {
    await store.setFact(name, text);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
  }
}

/** Serializes a document with its version. A release that changes the content raises the version, which discards older documents. */
export const learnedText = (version: number, content: unknown): string =>
  JSON.stringify({ version, content });

/**
 * Reads the content of a saved document.
 *
 * @param read checks the content; returns undefined where this release would not write it
 * @returns undefined where there is no document, or it is too long, invalid, or of another version
 */
export function learnedContent<T>(
  text: string | undefined,
  version: number,
  read: (content: unknown) => T | undefined,
): T | undefined {
  if (text === undefined || text.length > maxCharacters) return undefined;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof document !== 'object' || document === null || !('version' in document)) return undefined;
  if (document.version !== version || !('content' in document)) return undefined;
  return read(document.content);
}
