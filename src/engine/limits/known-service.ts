import { forgetLearned, keepFact } from '../../run/limits/learned.ts';
import type { ServiceAddress, SharedLimits } from '../../run/ports.ts';
import type { FactKeeper } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { writeFact } from '../state/facts.ts';

/** Names of the facts, and what each says of the address that is its value. */
const factNames = {
  answered: 'service.answered',
  buttons: 'service.buttons',
  submit: 'service.served.submit',
  text: 'service.served.text',
} as const;

type Seen = keyof typeof factNames;
const all = Object.keys(factNames) as Seen[];

/** SQL: what is known of the service of a run `r`, as an array of `fact name, space, value`. */
export const knownOfService = `ARRAY(SELECT f.name || ' ' || f.value FROM promptpress.facts f
  WHERE f.run = r.run AND f.name IN (${Object.values(factNames)
    .map((name) => `'${name}'`)
    .join(', ')}))`;

/**
 * What all workers of a run have seen of its service, in this invocation or before: that its address answers and shows buttons, and that
 * submissions and text calls were served. It is told and heard with each look at the run.
 */
export class KnownService {
  readonly #run: { readonly pool: EnginePool; readonly run: number };
  readonly #address: ServiceAddress;
  readonly #known = new Set<Seen>();
  /** Seen here; to be told. */
  readonly #own = new Set<Seen>();
  #telling: Promise<void> | undefined;
  /** Called when more is known. */
  onMore: () => void = () => undefined;

  constructor(run: { readonly pool: EnginePool; readonly run: number }, address: ServiceAddress) {
    this.#run = run;
    this.#address = address;
  }

  /** Routes that have served a request of any worker. */
  readonly served: NonNullable<SharedLimits['served']> = {
    has: (route) =>
      (route === 'submit' || route === 'text') && (this.#own.has(route) || this.#known.has(route)),
    add: (route) => {
      if (route === 'submit' || route === 'text') this.#own.add(route);
    },
  };

  /** @param seen as {@link knownOfService} selects it */
  onLook(seen: readonly string[]): void {
    let isMore = false;
    for (const what of all) {
      if (this.#known.has(what) || !seen.includes(`${factNames[what]} ${this.#address.id}`)) continue;
      this.#known.add(what);
      const { endpoints } = this.#address;
      if (what === 'answered') endpoints.onAnsweredElsewhere();
      if (what === 'buttons') endpoints.showsButtons = true;
      isMore = true;
    }
    if (isMore) this.onMore();
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Tells the rest of what was seen here. */
  async stop(): Promise<void> {
    await this.#telling;
    await this.#tell();
  }

  /** Nothing depends on it but the speed of the others: what the engine does not take is told with the next look. */
  async #tell(): Promise<void> {
    const { hasAnswered, showsButtons } = this.#address.endpoints;
    if (hasAnswered) this.#own.add('answered');
    if (showsButtons) this.#own.add('buttons');
    for (const what of all) {
      if (!this.#own.has(what) || this.#known.has(what)) continue;
      const { pool, run } = this.#run;
      const isTold = await writeFact(pool, run, factNames[what], this.#address.id).then(
        () => true,
        () => false,
      );
      if (isTold) this.#known.add(what);
    }
  }
}

/** What earlier invocations have seen does not count any more, nor what they learned (`--relearn`). */
export async function forgetService(facts: Omit<FactKeeper, 'reader'>): Promise<void> {
  await forgetLearned(facts);
  for (const what of all)
    if ((facts.fact(factNames[what]) ?? '') !== '') await keepFact(facts, factNames[what], '');
}
