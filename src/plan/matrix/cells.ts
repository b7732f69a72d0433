import type { FilePort } from '../../pipeline/files.ts';
import type { MatrixSpec, Reduction } from '../../pipeline/pipeline.ts';
import { nextTurn, Turns } from '../../pipeline/turns.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { Cell, Selection } from '../cell.ts';
import type { PreparedAxis } from './axis.ts';
import { CellGroups, reductionId } from './groups.ts';
import { drawSample } from './sample.ts';
import {
  type Filter,
  FilterWatch,
  filtersOf,
  filterTakes,
  rangeIndex,
  rangeValue,
  shardCount,
  shardTakes,
  type UnmatchedFilter,
} from './selection.ts';
import type { MatrixSpace } from './space.ts';
import { type MatrixTable, type RowValues, rowsOf } from './table.ts';
import { RowReader } from './table-rows.ts';
import type { Matrix, TableFacts } from './types.ts';
import { chosenLeaves, type Leaf, type LeafChoice, repeatsIn, type Wanted } from './walk.ts';

/** A prepared matrix, which makes cells from chosen combinations of indexes. */
export class MatrixCells implements Matrix {
  readonly cellCount: number;
  readonly variables: readonly string[];
  readonly tables: readonly TableFacts[];
  readonly groups = new Map<string, CellGroups>();
  /** What shards deal, where it is not single cells: groups of all reductions together. */
  #dealt: CellGroups | undefined;
  readonly #space: MatrixSpace;
  readonly #sample: MatrixSpec['sample'];
  readonly #repeat: number;
  readonly #files: FilePort;
  readonly #included: MatrixSpec['include'];
  /** The sample, drawn on first use; 8 bytes per cell from then on. */
  #drawn: { readonly cells: Float64Array | undefined } | undefined;

  constructor(space: MatrixSpace, spec: MatrixSpec, tables: readonly MatrixTable[], files: FilePort) {
    this.#space = space;
    this.#sample = spec.sample;
    this.#repeat = spec.repeat;
    this.#files = files;
    this.#included = spec.include;
    this.variables = spec.variables;
    this.tables = tables.map(({ file, declared, sha256, rows }) => ({ file, declared, sha256, rows }));
    const combinations = space.kept + space.added.length;
    this.cellCount = Math.min(combinations, spec.sample?.count ?? combinations) * spec.repeat;
  }

  /** Prepares {@link groups}. @throws TooManyToGroup */
  async group(reductions: readonly Reduction[], signal?: AbortSignal): Promise<void> {
    if (reductions.length === 0) return;
    const drawn = await this.#draw(signal);
    const groupsOf = async (axes: readonly string[]): Promise<CellGroups> =>
      this.groups.get(reductionId({ axes })) ??
      (await CellGroups.of(this.#space, drawn, this.#repeat, axes, this.#files, signal));
    for (const { axes } of reductions) this.groups.set(reductionId({ axes }), await groupsOf(axes));
    this.#dealt = await groupsOf([...new Set(reductions.flatMap(({ axes }) => axes))].toSorted());
  }

  async *cells(selection: Selection = {}, signal?: AbortSignal): AsyncGenerator<Cell, void, undefined> {
    const limit = selection.limit ?? Number.POSITIVE_INFINITY;
    if (limit <= 0) return;
    const choice = await this.#choice(selection, signal);
    const readers = this.#space.axes.map(({ source }) =>
      source.kind === 'rows' ? new RowReader(source.table, this.#files) : undefined,
    );
    const windows = readers.flatMap((reader) => reader?.window ?? []);
    // For a large table, cells are fetched in advance, so that the table is read in order.
    const room = windows.length === 0 ? 1 : Math.min(limit, ...windows);
    const leaves = chosenLeaves(this.#space, await this.#draw(signal), choice);
    const turns = new Turns();
    let given = 0;
    try {
      for (let more = true; more; ) {
        const window: Leaf[] = [];
        while (more && window.length < room) {
          const next = leaves.next();
          if (next.done === true) more = false;
          else if (next.value === undefined) await nextTurn(signal);
          else window.push(next.value);
        }
        if (windows.length > 0) await prepareWindow(window, readers, signal);
        for (const leaf of window) {
          const vars = this.#vars(leaf, readers) ?? (await this.#readVars(leaf, readers));
          for (let repeat = 1; repeat <= this.#repeat; repeat++) {
            const number = leaf.position * this.#repeat + repeat;
            if (!this.#isDealt(selection.shard, number)) continue;
            // A consumer may take long over each cell without ever waiting itself.
            if (turns.isOver) await turns.next(signal);
            yield { number, vars, repeat };
            if (++given >= limit) return;
          }
        }
      }
    } finally {
      for (const reader of readers) await reader?.close();
    }
  }

  async chosen(selection: Selection = {}, signal?: AbortSignal, lastOf?: CellGroups): Promise<number> {
    const limit = selection.limit ?? Number.POSITIVE_INFINITY;
    const { shard } = selection;
    if ((selection.filters ?? []).length === 0) {
      if (lastOf === undefined && (shard === undefined || this.#dealt === undefined))
        return Math.min(limit, shardCount(shard, this.cellCount));
      if (lastOf !== undefined && shard === undefined && limit >= this.cellCount) return lastOf.count;
    }
    const choice = await this.#choice(selection, signal);
    const turns = new Turns();
    let count = 0;
    let lasts = 0;
    for (const leaf of chosenLeaves(this.#space, await this.#draw(signal), choice)) {
      if (turns.isOver) await turns.next(signal);
      if (leaf === undefined) continue;
      if (lastOf === undefined && this.#dealt === undefined)
        count += repeatsIn(choice.shard, this.#repeat, leaf.position);
      else
        for (let repeat = 1; repeat <= this.#repeat && count < limit; repeat++) {
          const number = leaf.position * this.#repeat + repeat;
          if (!this.#isDealt(shard, number)) continue;
          count += 1;
          if (lastOf?.isLast(number) === true) lasts += 1;
        }
      if (count >= limit) break;
    }
    return lastOf === undefined ? Math.min(limit, count) : lasts;
  }

  #isDealt(shard: Selection['shard'], number: number): boolean {
    return shardTakes(shard, this.#dealt?.groupOf(number) ?? number);
  }

  async unmatched(selection: Selection, signal?: AbortSignal): Promise<readonly UnmatchedFilter[]> {
    const watches = filtersOf(this.variables, selection).map((filter) => new FilterWatch(filter));
    for (const { values } of this.#included)
      for (const watch of watches)
        if (Object.hasOwn(values, watch.filter.variable)) watch.note(values[watch.filter.variable]);
    for (const axis of this.#space.axes) {
      const own = watches.filter(({ filter }) => axis.variables.includes(filter.variable));
      if (own.length > 0) await noteAxis(axis, own, this.#files, signal);
    }
    return watches.flatMap((watch) => watch.unmatched());
  }

  /** Returns the values of a combination; undefined if a row must be read first. */
  #vars(leaf: Leaf, readers: readonly (RowReader | undefined)[]): Cell['vars'] | undefined {
    if ('added' in leaf) return leaf.added;
    const vars: Record<string, Value> = {};
    const { axes } = this.#space;
    for (let axis = 0; axis < axes.length; axis++) {
      const { source } = axes[axis] as PreparedAxis;
      const index = leaf.indices[axis] as number;
      if (source.kind === 'values') vars[source.name] = source.values[index] as Value;
      else if (source.kind === 'range') vars[source.name] = rangeValue(source.range, index);
      else {
        const row = (readers[axis] as RowReader).peek(index);
        if (row === undefined) return undefined;
        for (const column of source.table.columns) vars[column] = row[column] as Value;
      }
    }
    for (const name in leaf.extras) vars[name] = leaf.extras[name] as Value;
    return vars;
  }

  async #readVars(leaf: Leaf, readers: readonly (RowReader | undefined)[]): Promise<Cell['vars']> {
    if ('indices' in leaf) {
      for (const [axis, reader] of readers.entries()) await reader?.read(leaf.indices[axis] as number);
    }
    const vars = this.#vars(leaf, readers);
    if (vars === undefined) throw new Error('Internal error: a row that was read is not at hand');
    return vars;
  }

  async #choice(selection: Selection, signal: AbortSignal | undefined): Promise<LeafChoice> {
    const filters = filtersOf(this.variables, selection);
    const wanted: LeafChoice['wanted'][number][] = [];
    for (const axis of this.#space.axes) wanted.push(await wantedOf(axis, filters, this.#files, signal));
    const shard = this.#dealt === undefined ? selection.shard : undefined;
    return { filters, wanted, shard, repeat: this.#repeat };
  }

  async #draw(signal: AbortSignal | undefined): Promise<Float64Array | undefined> {
    if (this.#sample === undefined) return undefined;
    this.#drawn ??= { cells: await drawSample(this.#space, this.#sample, signal) };
    return this.#drawn.cells;
  }
}

async function prepareWindow(
  window: readonly Leaf[],
  readers: readonly (RowReader | undefined)[],
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  for (const [axis, reader] of readers.entries()) {
    if (reader === undefined) continue;
    const wanted: number[] = [];
    for (const leaf of window) if ('indices' in leaf) wanted.push(leaf.indices[axis] as number);
    await reader.prepare(wanted);
  }
}

/**
 * Returns which values of an axis the filters accept, decided once per value: a million rows are a million bits. Undefined if no filter
 * concerns the axis.
 *
 * @throws TableError
 */
export async function wantedOf(
  axis: PreparedAxis,
  filters: readonly Filter[],
  files: FilePort,
  signal?: AbortSignal,
): Promise<Wanted | undefined> {
  const own = filters.filter(({ variable }) => axis.variables.includes(variable));
  if (own.length === 0) return undefined;
  const { source } = axis;
  switch (source.kind) {
    case 'values': {
      const wanted = source.values.map((value) => own.every((filter) => filterTakes(filter, value)));
      return (index) => wanted[index] === true;
    }
    case 'range': {
      const sets = own.map(
        ({ path, texts }) =>
          new Set(path.length > 0 ? [] : [...texts].map((text) => rangeIndex(source.range, text))),
      );
      return (index) => sets.every((set) => set.has(index));
    }
    case 'rows':
      return await wantedRows(source.table, own, files, signal);
  }
}

/** Passes the values of an axis to the filters that still miss one. @throws TableError */
async function noteAxis(
  { source }: PreparedAxis,
  watches: readonly FilterWatch[],
  files: FilePort,
  signal: AbortSignal | undefined,
): Promise<void> {
  switch (source.kind) {
    case 'values':
      for (const value of source.values) for (const watch of watches) watch.note(value);
      return;
    case 'range':
      for (const watch of watches) watch.noteRange(source.range);
      return;
    case 'rows':
      for await (const rows of rowsOf(source.table, files)) {
        signal?.throwIfAborted();
        for (const values of rows) for (const watch of watches) watch.note(values[watch.filter.variable]);
        if (watches.every(({ isMet }) => isMet)) return;
      }
  }
}

async function wantedRows(
  table: MatrixTable,
  filters: readonly Filter[],
  files: FilePort,
  signal: AbortSignal | undefined,
): Promise<Wanted> {
  const bits = new Uint8Array(Math.ceil(table.rows / 8));
  let index = 0;
  const judge = (values: RowValues): void => {
    if (filters.every((filter) => filterTakes(filter, values[filter.variable]))) {
      bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
    }
    index++;
  };
  for await (const rows of rowsOf(table, files)) {
    signal?.throwIfAborted();
    rows.forEach(judge);
  }
  return (at) => ((bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
}
