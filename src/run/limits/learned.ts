import { StateError, type StateStore } from '../../state/store.ts';
import type { Clock } from '../clock.ts';

/** What a run learns about its service and keeps for the next run. Each is one document, kept as a fact of the state. */
export const learnedNames = ['poll', 'limits', 'service'] as const;
export type LearnedName = (typeof learnedNames)[number];

/** The kept documents, as JSON texts. */
export type LearnedTexts = Readonly<Partial<Record<LearnedName, string>>>;

/** Name of the fact that holds a document. */
export const learnedFact = (name: LearnedName): string => `learned.${name}`;

/** Maximum length of a document. A longer text is neither written nor read. */
const mostCharacters = 65_536;

/** Reads what earlier runs have learned. The texts come from a file that anybody may have changed. */
export function readLearned(store: Pick<StateStore, 'fact'>): LearnedTexts {
  const texts: Partial<Record<LearnedName, string>> = {};
  for (const name of learnedNames) {
    const text = store.fact(learnedFact(name));
    if (text !== undefined && text !== '') texts[name] = text;
  }
  return texts;
}

/** A place that keeps facts. A local store has kept a fact when it returns. */
interface FactStore {
  fact(name: string): string | undefined;
  setFact(name: string, value: string): void | Promise<void>;
}

/** The documents that differ from the kept ones, and can be read again. */
const changed = (store: Pick<FactStore, 'fact'>, texts: LearnedTexts): readonly [LearnedName, string][] =>
  learnedNames.flatMap((name): [LearnedName, string][] => {
    const text = texts[name];
    return text === undefined || text.length > mostCharacters || text === store.fact(learnedFact(name))
      ? []
      : [[name, text]];
  });

/** How often what a run learns is kept while it lasts, ms: a killed run has then not learned in vain. */
const keepEveryMs = 60_000;

/** Keeps what one run learns: with a commit of the run about once a minute, and at its end. */
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

  /** What the next commit keeps, by the names of its facts; undefined: it is not time yet. */
  due(): Readonly<Record<string, string>> | undefined {
    const now = this.#clock.now();
    if (now - this.#keptAt < keepEveryMs) return undefined;
    this.#keptAt = now;
    return Object.fromEntries(
      changed(this.#store, this.#texts()).map(([name, text]) => [learnedFact(name), text]),
    );
  }

  /** The run has ended, and all its commits are durable. */
  async onEnd(): Promise<void> {
    for (const [name, text] of changed(this.#store, this.#texts()))
      await keepFact(this.#store, learnedFact(name), text);
  }
}

/** Forgets what earlier runs have learned (`--relearn`). */
export async function forgetLearned(store: FactStore): Promise<void> {
  for (const name of learnedNames)
    if ((store.fact(learnedFact(name)) ?? '') !== '') await keepFact(store, learnedFact(name), '');
}

/** Keeps a fact on which no job depends: a disk that does not take it is no failure here, for a commit of a job meets it too. */
export async function keepFact(store: Pick<FactStore, 'setFact'>, name: string, text: string): Promise<void> {
  try {
    await store.setFact(name, text);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
  }
}

/** A document as it is kept: a release that changes what is in one raises its version, and forgets the older ones. */
export const learnedText = (version: number, content: unknown): string =>
  JSON.stringify({ version, content });

/**
 * The content of a kept document.
 *
 * @param read checks the content; undefined: it is not what this release writes
 * @returns undefined where there is none, and for a text that is too long, no JSON, or of another version
 */
export function learnedContent<T>(
  text: string | undefined,
  version: number,
  read: (content: unknown) => T | undefined,
): T | undefined {
  if (text === undefined || text.length > mostCharacters) return undefined;
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
