import type { FilePort } from '../pipeline/files.ts';
import type { MatrixSpec } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';
import type { Cell, Selection } from './cell.ts';
import type { Matrix, TableFacts } from './matrix.ts';
import type { PreparedAxis } from './matrix-axis.ts';
import { wantedOf } from './matrix-filter.ts';
import { chosenLeaves, type Leaf, type LeafChoice, repeatsIn } from './matrix-leaf.ts';
import { rangeValue } from './matrix-range.ts';
import { RowReader } from './matrix-rows.ts';
import type { MatrixSpace } from './matrix-space.ts';
import type { MatrixTable } from './matrix-table.ts';
import { drawSample } from './sample.ts';
import { filtersOf, shardCount, shardTakes } from './select.ts';
import { nextTurn } from './turn.ts';

/** A prepared matrix: turns chosen combinations of indices into cells with values. */
export class MatrixCells implements Matrix {
  readonly cellCount: number;
  readonly variables: readonly string[];
  readonly tables: readonly TableFacts[];
  readonly #space: MatrixSpace;
  readonly #sample: MatrixSpec['sample'];
  readonly #repeat: number;
  readonly #files: FilePort;
  /** Drawn once, when first needed; 8 bytes a cell from then on. */
  #drawn: { readonly cells: Float64Array | undefined } | undefined;

  constructor(space: MatrixSpace, spec: MatrixSpec, tables: readonly MatrixTable[], files: FilePort) {
    this.#space = space;
    this.#sample = spec.sample;
    this.#repeat = spec.repeat;
    this.#files = files;
    this.variables = spec.variables;
    this.tables = tables.map(({ file, declared, sha256, rows }) => ({ file, declared, sha256, rows }));
    const combinations = space.kept + space.added.length;
    this.cellCount = Math.min(combinations, spec.sample?.count ?? combinations) * spec.repeat;
  }

  async *cells(selection: Selection = {}, signal?: AbortSignal): AsyncGenerator<Cell, void, undefined> {
    const limit = selection.limit ?? Number.POSITIVE_INFINITY;
    if (limit <= 0) return;
    const choice = await this.#choice(selection, signal);
    const readers = this.#space.axes.map(({ source }) =>
      source.kind === 'rows' ? new RowReader(source.table, this.#files) : undefined,
    );
    const windows = readers.flatMap((reader) => reader?.window ?? []);
    // Where a large table is read, cells are looked ahead at, so that it is read in order.
    const room = windows.length === 0 ? 1 : Math.min(limit, ...windows);
    const leaves = chosenLeaves(this.#space, await this.#draw(signal), choice);
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
            if (!shardTakes(choice.shard, number)) continue;
            yield { number, vars, repeat };
            if (++given >= limit) return;
          }
        }
      }
    } finally {
      for (const reader of readers) await reader?.close();
    }
  }

  async chosen(selection: Selection = {}, signal?: AbortSignal): Promise<number> {
    const limit = selection.limit ?? Number.POSITIVE_INFINITY;
    if ((selection.filters ?? []).length === 0) {
      return Math.min(limit, shardCount(selection.shard, this.cellCount));
    }
    const choice = await this.#choice(selection, signal);
    let count = 0;
    for (const leaf of chosenLeaves(this.#space, await this.#draw(signal), choice)) {
      if (leaf === undefined) await nextTurn(signal);
      else count += repeatsIn(choice.shard, this.#repeat, leaf.position);
      if (count >= limit) return limit;
    }
    return count;
  }

  /** The values of a combination; undefined when a row has to be read first. */
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
    return { filters, wanted, shard: selection.shard, repeat: this.#repeat };
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
