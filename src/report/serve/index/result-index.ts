import { isNarrowed } from '../../../manifest/cells.ts';
import { KeySet } from '../../../manifest/key-set.ts';
import { ManifestPicks } from '../../../manifest/picks.ts';
import type { ManifestRow } from '../../../manifest/row.ts';
import { manifestRows, rowsByCell, rowsOfCells } from '../../../manifest/rows.ts';
import { Turns } from '../../../pipeline/turns.ts';
import type { Selection } from '../../../plan/cell.ts';
import type { Plan } from '../../../plan/plan.ts';
import type { StateReader } from '../../../state/reader.ts';
import { pickNames } from '../../page/text/names.ts';
import type { Advisor } from '../../results/advice.ts';
import { type CellResult, cellResults } from '../../results/cell-results.ts';
import { SummaryCounter, type SummaryFacts } from '../../results/summary.ts';
import type { OtherCells, PageDetail, PageStatus, PageSummary } from '../../results/wire.ts';
import { asksForAll, findIds, type IndexQuery } from './find.ts';
import { FoundLists } from './found-lists.ts';
import { Places } from './places.ts';
import { cellOf, type IndexedResult, idOf, indexOf, Tables } from './tables.ts';

export interface IndexOptions {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly reader: StateReader;
  readonly advisor: Omit<Advisor, 'running'>;
  /** Clock for measuring durations, ms; default: the system's. */
  readonly elapsed?: () => number;
}

export interface PlacedResult extends IndexedResult {
  readonly at: number;
}

/** Thrown when the index is closed during a query or an update. */
export class IndexClosed extends Error {}

/**
 * A searchable index of all results of a run, in bounded memory for a million results. It is filled from the plan and the state and then
 * updated cell by cell. Long work yields every few milliseconds.
 */
export class ResultIndex {
  readonly #options: IndexOptions;
  readonly #tables = new Tables();
  readonly #places = new Places();
  readonly #lists: FoundLists;
  readonly #statuses = new Map<PageStatus, number>();
  /** Numbers of the cells of which something is picked. */
  readonly #picked = new Set<number>();
  #version = 0;
  #isFilled = false;
  #isClosed = false;

  constructor(options: IndexOptions) {
    this.#options = options;
    this.#lists = new FoundLists(options.elapsed ?? (() => performance.now()));
  }

  /** Version of the index, which grows with every change of a result. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#places.total;
  }

  /** Estimated number of results after filling, from the cells indexed so far. */
  get expected(): number {
    const { total, length } = this.#places;
    const { plan, selection } = this.#options;
    if (this.#isFilled || length === 0 || isNarrowed(selection)) return total;
    return Math.max(total, Math.round((total / length) * plan.matrix.cellCount));
  }

  get isFilled(): boolean {
    return this.#isFilled;
  }

  get statuses(): Readonly<Partial<Record<PageStatus, number>>> {
    return Object.fromEntries([...this.#statuses].filter(([, results]) => results > 0));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lists.clear();
    this.#tables.close();
  }

  /** Fills the index with all results. @throws IndexClosed; what the state throws */
  async fill(): Promise<void> {
    const { plan, selection, reader } = this.#options;
    const turns = new Turns();
    for await (const rows of rowsByCell(manifestRows(plan, selection, reader))) {
      this.#check();
      const cell = rows[0]?.cell;
      if (cell === undefined) continue;
      const results = this.#resultsOf(rows, this.#places.total);
      this.#tables.add({ cell, isChosen: rows.some(({ chosen }) => chosen) }, results);
      this.#places.append(cell.number, results.length);
      for (const { result } of results) this.#count(result.status, 1);
      this.#version += 1;
      await turns.next();
    }
    this.#check();
    this.#isFilled = true;
  }

  /**
   * Reads the results of jobs and cells again from the state. Cells outside of the index are skipped.
   *
   * @param cells more cells, by number
   */
  async refresh(jobs: Iterable<string>, cells: Iterable<number>): Promise<void> {
    const turns = new Turns();
    const waiting = new Set(cells);
    for (const job of jobs) {
      for (const cell of this.#tables.cellsOf(job)) waiting.add(cell);
      await turns.next();
      this.#check();
    }
    const { plan, reader } = this.#options;
    const picks = new ManifestPicks(plan, true);
    if (plan.pipeline.bests.length > 0) {
      // A result may decide what is picked of another cell.
      const changed = [...waiting].flatMap((number) => this.#tables.cell(number)?.cell ?? []);
      await picks.load(changed, (keys) => reader.many(keys));
      this.#check();
      for (const number of picks.picked(changed, this.#picked)) waiting.add(number);
    }
    // A slot of a group is blocked or skipped by jobs of other cells.
    for (const groups of plan.matrix.groups.values())
      for (const number of waiting) waiting.add(groups.last(number));
    // A shared job shows its cost only in its first cell, so later cells with the job may change too.
    const queue = [...waiting].sort((a, b) => a - b);
    for (let at = 0; at < queue.length; at += 1) {
      const cell = queue[at] as number;
      const later = await this.#refreshCell(cell, picks);
      this.#check();
      const added = later.filter((other) => other > cell && !waiting.has(other));
      if (added.length > 0) {
        for (const other of added) waiting.add(other);
        queue.push(...added);
        queue.splice(at + 1, queue.length, ...queue.slice(at + 1).sort((a, b) => a - b));
      }
      await turns.next();
      this.#check();
    }
  }

  /** Updates a cell. @returns other cells with jobs that this cell got or lost */
  async #refreshCell(number: number, picks: ManifestPicks): Promise<readonly number[]> {
    const known = this.#tables.cell(number);
    const rows = await this.#rowsOf(number, picks);
    const first = this.#places.firstOf(number);
    if (known === undefined || rows === undefined || first === undefined) return [];
    const before = this.#tables.jobsOf(number);
    const statuses = this.#tables.statusesOf(number);
    const results = this.#resultsOf(rows, first);
    this.#tables.put(known, results);
    this.#places.change(number, results.length - statuses.length);
    for (const status of statuses) this.#count(status, -1);
    for (const { result } of results) this.#count(result.status, 1);
    this.#version += 1;
    const after = this.#tables.jobsOf(number);
    const changed = [...before]
      .filter((job) => !after.has(job))
      .concat([...after].filter((job) => !before.has(job)));
    return [...new Set(changed.flatMap((job) => [...this.#tables.cellsOf(job)]))];
  }

  /** Reads the rows of a cell from the state; undefined if the cell is not in the index. */
  async #rowsOf(number: number, picks?: ManifestPicks): Promise<readonly ManifestRow[] | undefined> {
    const { plan, selection, reader } = this.#options;
    const known = this.#tables.cell(number);
    if (known === undefined) return undefined;
    const here = new KeySet();
    const isListedBefore = (job: string): boolean => {
      for (const cell of this.#tables.cellsOf(job)) if (cell < number) return true;
      return false;
    };
    const listedJobs = { add: (job: string): boolean => here.add(job) && !isListedBefore(job) };
    const rows: ManifestRow[] = [];
    for await (const row of rowsOfCells(plan, [known.cell], reader, listedJobs, {
      ...(selection.only === undefined ? {} : { only: selection.only }),
      isChosen: () => known.isChosen,
      ...(picks && { picks }),
    }))
      rows.push(row);
    this.#check();
    return rows;
  }

  #resultsOf(rows: readonly ManifestRow[], first: number): readonly CellResult[] {
    const number = rows[0]?.cell.number ?? 0;
    if (rows.some(({ picked }) => picked !== undefined)) this.#picked.add(number);
    else this.#picked.delete(number);
    const { plan, advisor } = this.#options;
    const context = { ...advisor, plan, running: false, variables: plan.matrix.variables };
    return cellResults(rows, first, context);
  }

  #count(status: PageStatus, by: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + by);
  }

  /**
   * Searches results; `again` is the one of `PageFound`. @param signal aborts the search
   * @throws Abandoned | IndexClosed
   */
  async find(
    query: IndexQuery,
    { offset, limit }: { readonly offset: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly total: number; readonly results: readonly PlacedResult[]; readonly again?: number }> {
    this.#check();
    if (asksForAll(query)) {
      const { total } = this.#places;
      const first = this.#places.find(offset);
      if (first === undefined) return { total, results: [] };
      const results = this.#tables.from(idOf(first.cell, first.index), limit);
      return { total, results: this.#placed(results) };
    }
    const { variables } = this.#options.plan.matrix;
    const name = JSON.stringify(query);
    const search = async (check: () => void): Promise<Float64Array> =>
      await findIds(query, {
        tables: this.#tables,
        places: this.#places,
        variables,
        check: () => {
          this.#check();
          check();
        },
      });
    const { ids, ...again } = await this.#lists.of(name, () => this.#version, search, signal);
    this.#check();
    const wanted = [...ids.subarray(offset, offset + limit)];
    return { total: ids.length, results: this.#placed(this.#tables.many(wanted)), ...again };
  }

  result(id: number): PlacedResult | undefined {
    this.#check();
    return this.#placed(this.#tables.many([id]))[0];
  }

  ofJob(job: string): readonly PlacedResult[] {
    this.#check();
    return this.#placed(this.#tables.ofJob(job));
  }

  /** See {@link OtherCells}. */
  otherCells(at: number): OtherCells {
    this.#check();
    const place = this.#places.find(at);
    const result = place && this.result(idOf(place.cell, place.index))?.result;
    const [, job] = result?.madeFrom?.split(' ') ?? [];
    const above = this.ofJob(job ?? '').find((other) =>
      pickNames(other.result).includes(result?.madeFrom ?? ''),
    );
    const below = this.#tables.madeFrom(pickNames(result ?? {})).map(this.#placeOf);
    return { above: above?.at ?? null, below };
  }

  #placed(results: readonly IndexedResult[]): readonly PlacedResult[] {
    return results.map((each) => ({ ...each, at: this.#placeOf(each.id) }));
  }

  #placeOf = (id: number): number => (this.#places.firstOf(cellOf(id)) ?? 0) + indexOf(id);

  /** Reads the details of the result at an index from the state. @param running whether a run is active */
  async detail(at: number, running: boolean): Promise<PageDetail | undefined> {
    this.#check();
    const place = this.#places.find(at);
    if (place === undefined) return undefined;
    const rows = (await this.#rowsOf(place.cell)) ?? [];
    const { plan, advisor } = this.#options;
    const context = { ...advisor, plan, running, variables: plan.matrix.variables };
    const first = this.#places.firstOf(place.cell) ?? at - place.index;
    return cellResults(rows, first, context)[place.index]?.detail;
  }

  /** Computes the summary of the indexed results, in one walk over them. @throws IndexClosed; what the state throws */
  async summary(facts: SummaryFacts): Promise<PageSummary> {
    const { plan, advisor, reader } = this.#options;
    const counter = new SummaryCounter(plan, { ...advisor, running: facts.live });
    const turns = new Turns();
    this.#check();
    for (const page of this.#tables.counted(this.#placeOf)) {
      for (const each of page) counter.add(each);
      await turns.next();
      this.#check();
    }
    return await counter.summary(reader, facts);
  }

  #check(): void {
    if (this.#isClosed) throw new IndexClosed('The index is closed.');
  }
}
