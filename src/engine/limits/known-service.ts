import { forgetLearned, keepFact } from '../../run/limits/learned.ts';
import type { ServiceAddress, SharedLimits } from '../../run/ports.ts';
import type { FactKeeper } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { writeFact } from '../state/facts.ts';

/** Names of the facts, each with what it says about the address in its value. */
const factNames = {
  answered: 'service.answered',
  buttons: 'service.buttons',
  submit: 'service.served.submit',
  text: 'service.served.text',
} as const;

/** Returns the name of the fact for a kind of request that was served, by the kind's id. */
const kindName = (id: string): string => `service.kind ${id}`;
const ofKinds = `starts_with(f.name, '${kindName('')}')`;

/** Largest number of kinds that are shared. */
const maxKinds = 200;

/** SQL: what is known of the service of a run `r`, as an array of `fact name, space, value`. */
export const knownOfService = `ARRAY((SELECT f.name || ' ' || f.value FROM promptpress.facts f
    WHERE f.run = r.run AND f.name IN (${Object.values(factNames)
      .map((name) => `'${name}'`)
      .join(', ')}))
  UNION ALL (SELECT f.name || ' ' || f.value FROM promptpress.facts f
    WHERE f.run = r.run AND ${ofKinds} ORDER BY f.name LIMIT ${maxKinds}))`;

/**
 * Shares what all workers of a run know about its service, in this invocation or before: that its address answers and shows buttons, that
 * submissions and text calls were served, and which kinds of them. It is written and read with each poll of the run.
 */
export class KnownService {
  readonly #run: { readonly pool: EnginePool; readonly run: number };
  readonly #address: ServiceAddress;
  /** Names of the facts that all workers know. */
  readonly #known = new Set<string>();
  /** Names of the facts seen by this worker and not written yet. */
  readonly #own = new Set<string>();
  #kinds = 0;
  #telling: Promise<void> | undefined;
  /** Called when more is known. */
  onMore: () => void = () => undefined;

  constructor(run: { readonly pool: EnginePool; readonly run: number }, address: ServiceAddress) {
    this.#run = run;
    this.#address = address;
  }

  /** Routes that have served a request of any worker. */
  readonly served: NonNullable<SharedLimits['served']> = {
    has: (route) => (route === 'submit' || route === 'text') && this.#has(factNames[route]),
    add: (route) => {
      if (route === 'submit' || route === 'text') this.#own.add(factNames[route]);
    },
  };

  /** Ids of the kinds of request that were served to any worker. */
  readonly kinds: NonNullable<SharedLimits['kinds']> = {
    has: (id) => this.#has(kindName(id)),
    add: (id) => {
      if (id.length <= longestId) this.#own.add(kindName(id));
    },
  };

  /** Applies a read of the run. @param seen as selected by {@link knownOfService} */
  onLook(seen: readonly string[]): void {
    const before = this.#known.size;
    const { id, endpoints } = this.#address;
    const end = ` ${id}`;
    for (const text of seen) {
      const name = text.slice(0, -end.length);
      if (!text.endsWith(end) || this.#known.has(name)) continue;
      this.#learn(name);
      if (name === factNames.answered) endpoints.onAnsweredElsewhere();
      if (name === factNames.buttons) endpoints.showsButtons = true;
    }
    if (this.#known.size > before) this.onMore();
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Writes the facts that are left. */
  async stop(): Promise<void> {
    await this.#telling;
    await this.#tell();
  }

  #has(name: string): boolean {
    return this.#own.has(name) || this.#known.has(name);
  }

  #learn(name: string): void {
    this.#known.add(name);
    if (name.startsWith(kindName(''))) this.#kinds += 1;
  }

  /** Only the speed of other workers depends on it: a failed write is repeated with the next poll of the run. */
  async #tell(): Promise<void> {
    const { hasAnswered, showsButtons } = this.#address.endpoints;
    if (hasAnswered) this.#own.add(factNames.answered);
    if (showsButtons) this.#own.add(factNames.buttons);
    for (const name of this.#own) {
      const isTooMuch = this.#kinds >= maxKinds && name.startsWith(kindName(''));
      if (isTooMuch || this.#known.has(name)) continue;
      const { pool, run } = this.#run;
      const isTold = await writeFact(pool, run, name, this.#address.id).then(
        () => true,
        () => false,
      );
      if (isTold) this.#learn(name);
    }
  }
}

/** Longest id of a kind that is shared. */
const longestId = 200;

/** Forgets what earlier invocations have seen and learned (`--relearn`). @throws EngineError */
export async function forgetService(
  facts: Omit<FactKeeper, 'reader'>,
  { pool, run }: { readonly pool: EnginePool; readonly run: number },
): Promise<void> {
  await forgetLearned(facts);
  for (const name of Object.values(factNames))
    if ((facts.fact(name) ?? '') !== '') await keepFact(facts, name, '');
  await pool.query(`DELETE FROM promptpress.facts f WHERE f.run = $1 AND ${ofKinds}`, [run]);
}
