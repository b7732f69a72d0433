import type { Cell } from '../../plan/cell.ts';
import type { Clock } from '../../run/clock.ts';
import { StateError } from '../../state/store.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import type { SliceQueue } from '../queue/queue.ts';
import { packCells } from './cells.ts';
import { areNested, type DealtSlice, dealSlices, type Grouping } from './deal.ts';

/** Largest number of waiting slices, in addition to two for each task slot. */
const maxBeside = 1000;

/** Number of slices added by one statement. */
const maxAtOnce = 32;

/** Delay while enough slices wait, and while the engine is unavailable, ms. */
const pauseMs = 500;

export interface FeederSettings {
  readonly run: number;
  readonly invocation: number;
  /** Epoch of the coordinator: once another one leads the run, nothing more is fed here. */
  readonly epoch: number;
  /** Largest number of cells in a slice: few where cells wait for images, for cheap takeovers (64); more where all are texts (256). */
  readonly size: number;
  /** How the steps of the plan group its cells; absent: they do not. */
  readonly groupings?: readonly Grouping[];
  /** Number of tasks that all workers together may have in flight. */
  readonly slots: number;
}

/** A slice with the last cell that other slices may wait for. */
interface FedSlice extends DealtSlice {
  readonly lastCell?: number | undefined;
}

interface Fed {
  readonly upto: number;
  readonly fed: boolean;
}

/**
 * Feeds the cells of a plan as slices, in order, only as many as are soon taken. The engine knows what was fed, so a restarted feeder
 * continues there.
 *
 * @param cells the selected cells, by ascending number: the same for every feeder of an invocation
 * @returns once all are fed, the signal is aborted, or the invocation has ended
 * @throws any error of reading the cells
 */
export async function feed(
  cells: AsyncIterable<Cell>,
  { pool, queue, clock }: { readonly pool: EnginePool; readonly queue: SliceQueue; readonly clock: Clock },
  settings: FeederSettings,
  signal: AbortSignal,
): Promise<void> {
  const { run, invocation, epoch, size, groupings = [], slots } = settings;
  const isNested = areNested(groupings);
  const most = 2 * slots + maxBeside;
  const patiently = <T>(work: () => Promise<T>): Promise<T | undefined> => untilDone(work, clock, signal);
  const known = async (): Promise<Fed | undefined> =>
    (
      await pool.query<Fed>(
        `SELECT fed_upto::float8 AS upto, fed FROM promptpress.runs WHERE run = $1 AND invocation = $2`,
        [run, invocation],
      )
    ).rows[0];

  let fed = await patiently(known);
  if (fed === undefined || fed.fed) return;
  const add = async (slices: readonly FedSlice[], isLast: boolean): Promise<boolean> => {
    const upto = slices.findLast(({ since }) => since === undefined)?.cells.at(-1)?.number ?? fed?.upto ?? 0;
    const added = await patiently(async () => {
      const { rows } = await pool.query<{ n: number; waits: boolean }>(
        `WITH mine AS (
           UPDATE promptpress.runs SET fed_upto = $4, fed = $5, next_slice = next_slice + cardinality($6::text[])
           WHERE run = $1 AND invocation = $2 AND fed_upto = $3 AND NOT fed AND lead_epoch = $7 RETURNING next_slice - cardinality($6::text[]) AS base
         ), given AS (
           SELECT mine.base + s.place - 1 AS n, s.* FROM mine,
             unnest($6::text[], $8::bigint[], $9::bigint[]) WITH ORDINALITY AS s(cells, last_cell, since, place)
         )
         INSERT INTO promptpress.slices (run, n, cells, last_cell, waits_from)
         SELECT $1, g.n, g.cells, g.last_cell, CASE WHEN g.since IS NOT NULL THEN least(
           (SELECT o.n FROM promptpress.slices o WHERE o.run = $1 AND o.last_cell >= g.since ORDER BY o.last_cell, o.n LIMIT 1),
           (SELECT min(o.n) FROM given o WHERE o.last_cell >= g.since)) END
         FROM given g RETURNING n, waits_from IS NOT NULL AS waits`,
        [
          run,
          invocation,
          fed?.upto ?? 0,
          upto,
          isLast,
          slices.map(({ cells: own }) => packCells(own)),
          epoch,
          slices.map(({ lastCell = null }) => lastCell),
          slices.map(({ since = null }) => since),
        ],
      );
      // Where nothing was added, an earlier answer was lost or another process feeds.
      return rows;
    });
    if (added === undefined) return false;
    if (added.length < slices.length && (await patiently(known))?.upto !== upto) return false;
    fed = { upto, fed: isLast };
    // The engine has the slices: any that the queue does not take now are fed again later.
    const free = added.flatMap(({ n, waits }) => (waits ? [] : [n]));
    await queue.feed(run, free).catch(() => undefined);
    return true;
  };
  /** Waits until more slices may wait. @returns how many */
  const room = async (): Promise<number> => {
    for (;;) {
      const waiting = await patiently(async () => {
        const { rows } = await pool.query<{ waiting: number }>(
          'SELECT count(*)::int AS waiting FROM promptpress.slices WHERE run = $1 AND NOT done',
          [run],
        );
        return rows[0]?.waiting ?? 0;
      });
      if (waiting === undefined) return 0;
      if (waiting < most) return Math.min(maxAtOnce, most - waiting);
      await pause(clock, pauseMs, signal);
    }
  };

  let slices: FedSlice[] = [];
  let places = await room();
  // Dealt from the first cell on, so that a restarted feeder cuts in the same places.
  for await (const [own, ...groups] of dealSlices(cells, groupings, size)) {
    if (signal.aborted) return;
    const last = own.cells.at(-1)?.number ?? 0;
    if (last <= fed.upto) continue;
    slices.push({ ...own, ...(groupings.length > 0 && { lastCell: last }) });
    for (const slice of groups) slices.push({ ...slice, ...(isNested && { lastCell: last }) });
    if (slices.length < places) continue;
    if (!(await add(slices, false))) return;
    slices = [];
    places = await room();
  }
  if (signal.aborted) return;
  await add(slices, true);
}

/** Repeats work while the engine is unavailable. @returns undefined where it was aborted, or the failure of the engine does not pass */
export async function untilDone<T>(
  work: () => Promise<T>,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      if (error instanceof EngineError && !error.mayPass) return undefined;
    }
    await pause(clock, pauseMs, signal);
  }
  return undefined;
}

/** Resolves after a delay, or when the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.at(clock.now() + ms, end);
    signal.addEventListener('abort', end);
  });
}
