import { aFlag, aMapping, aNumber, aText, aWord, listOf } from '../../pipeline/values/shape.ts';
import type { RunEnd } from '../../run/events.ts';
import type { ClosedKind, LeftWork, SharedClosings } from '../../run/ports.ts';
import { closedEnd, leftByAll } from '../../run/scheduler/closed-kinds.ts';
import { documentOf } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { writeFact } from '../state/facts.ts';

/** Largest number of closed kinds shared between workers: each worker finds the others for itself. */
const maxShared = 100;

/** Prefixes of fact names. The invocation follows, then the kind or the session of a worker. */
const facts = { closed: 'kind.closed', left: 'kinds.left' } as const;

const namesOf = (fact: keyof typeof facts, invocation: string): string =>
  `starts_with(f.name, '${facts[fact]} ' || ${invocation} || ' ')`;

/** SQL: the kinds that workers of a run `r` have closed in its invocation, as an array of texts. */
export const closedKindsOf = `ARRAY(SELECT f.value FROM promptpress.facts f
  WHERE f.run = r.run AND ${namesOf('closed', 'r.invocation')} ORDER BY f.name LIMIT ${maxShared})`;

/** SQL: deletes the closed kinds of all invocations of the run `$1`. */
export const forgetClosedKinds = `DELETE FROM promptpress.facts
  WHERE run = $1 AND split_part(name, ' ', 1) IN ('${facts.closed}', '${facts.left}')`;

/** The run whose workers share closed kinds. */
interface OfRun {
  readonly pool: EnginePool;
  readonly run: number;
  readonly invocation: number;
}

/**
 * The kinds of request that any worker of a run has closed, and no other worker requests any more. They are written and read with each poll
 * of the run. So is the work that each worker left for them, which the coordinator reports at the end.
 */
export class ClosedKinds implements SharedClosings {
  readonly #of: OfRun;
  readonly #closed = new Map<string, ClosedKind>();
  #session = 0;
  #left: () => LeftWork = () => nothing;
  /** The value written last. */
  #reported = '';
  #reporting: Promise<void> = Promise.resolve();
  #toReport = 0;
  /** Called when another worker has closed a kind. */
  onMore: () => void = () => undefined;

  constructor(of: OfRun) {
    this.#of = of;
  }

  get closed(): readonly ClosedKind[] {
    return [...this.#closed.values()];
  }

  report(left: () => LeftWork): void {
    this.#left = left;
  }

  /** Sets the session that writes from now on. */
  begin(session: number): void {
    this.#session = session;
    this.#left = () => nothing;
    this.#reported = '';
  }

  /** Applies a read of the run. @param closed as selected by {@link closedKindsOf} */
  onLook(closed: readonly string[]): void {
    const before = this.#closed.size;
    for (const text of closed) {
      const kind = readKind(text);
      if (kind !== undefined) this.#closed.set(idOf(kind), kind);
    }
    if (this.#closed.size > before) this.onMore();
    // A failed write is repeated with the next poll of the run.
    if (this.#toReport === 0) void this.reported().catch(() => undefined);
  }

  /** Resolves once this worker's closed kinds and left work are written: before a slice is reported as done. @throws EngineError */
  async reported(): Promise<void> {
    this.#toReport += 1;
    const reporting = this.#reporting.then(() => this.#tell());
    this.#reporting = reporting
      .catch(() => undefined)
      .finally(() => {
        this.#toReport -= 1;
      });
    await reporting;
  }

  async #tell(): Promise<void> {
    const { closed, cells, openSteps } = this.#left();
    if (closed.length === 0) return;
    const { pool, run, invocation } = this.#of;
    for (const { left: _, isOpen = false, ...kind } of closed) {
      const id = idOf(kind);
      if (isOpen || this.#closed.has(id) || this.#closed.size >= maxShared) continue;
      await writeFact(pool, run, `${facts.closed} ${invocation} ${id}`, JSON.stringify(kind));
      this.#closed.set(id, kind);
    }
    const reported = JSON.stringify({ closed: closed.slice(0, maxShared), cells, openSteps });
    if (reported === this.#reported) return;
    await writeFact(pool, run, `${facts.left} ${invocation} ${this.#session}`, reported);
    this.#reported = reported;
  }
}

const nothing: LeftWork = { closed: [], cells: 0, openSteps: [] };

const idOf = ({ route, name }: ClosedKind): string => `${route}/${name}`;

const kind = {
  route: aWord('submit', 'text'),
  name: aText,
  code: aText,
  message: aText,
  names: listOf(aText),
};
const isKind = aMapping(kind) as (value: unknown) => value is ClosedKind;
const isLeft = aMapping({
  closed: listOf(aMapping({ ...kind, left: aNumber }, { isOpen: aFlag })),
  cells: aNumber,
  openSteps: listOf(aText),
}) as (value: unknown) => value is LeftWork;

/** Undefined where this release did not write the text: each worker finds out for itself. */
function readKind(text: string): ClosedKind | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isKind(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the end of an invocation in which workers have closed or left kinds; undefined where none has. @throws EngineError */
export async function endByClosedKinds({ pool, run, invocation }: OfRun): Promise<RunEnd | undefined> {
  const { rows } = await pool.query<{ value: string }>(
    `SELECT f.value FROM promptpress.facts f WHERE f.run = $1 AND ${namesOf('left', '$2::text')} ORDER BY f.name`,
    [run, String(invocation)],
  );
  const left = leftByAll(
    rows.map(({ value }) => documentOf(value, isLeft, pool.shown, 'the work left by a worker')),
  );
  return left.closed.length === 0 ? undefined : closedEnd(left);
}
