import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exactJson, parseExact } from '../../../pipeline/values/exact-json.ts';
import type { Cell } from '../../../plan/cell.ts';
import type { Slot } from '../../../plan/slot.ts';
import { type Database, openDatabase } from '../../../state/sqlite/sqlite.ts';
import { fold } from '../../page/text/fold.ts';
import { pickOf } from '../../page/text/names.ts';
import type { CellResult } from '../../results/cell-results.ts';
import type { CountedResult } from '../../results/summary.ts';
import type { PageResult, PageStatus } from '../../results/wire.ts';

/** Number of ids reserved for each cell. It exceeds the results of any cell, and all ids are safe integers. */
const perCell = 2 ** 20;

/** Returns the id of a result. The id is constant, while the result's index grows with the results before it. */
export const idOf = (cell: number, index: number): number => cell * perCell + index;
export const cellOf = (id: number): number => Math.floor(id / perCell);
export const indexOf = (id: number): number => id % perCell;

export interface IndexedResult {
  readonly id: number;
  /** The result without its index. */
  readonly result: Omit<PageResult, 'at'>;
  readonly mime?: string;
  readonly sha256?: string;
}

export interface IndexedCell {
  readonly cell: Cell;
  readonly isChosen: boolean;
}

/** Columns by which results are sorted, largest first. They are stored negated, so that equal ones are in plan order. */
export const figures = ['newest', 'cost', 'duration'] as const;
export type Figure = (typeof figures)[number];

const schema = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA cache_size = -65536;
  CREATE TABLE cells (cell INTEGER PRIMARY KEY, chosen INTEGER NOT NULL, known TEXT NOT NULL, vars TEXT NOT NULL) STRICT;
  CREATE TABLE rows (
    id INTEGER PRIMARY KEY, step TEXT NOT NULL, status TEXT NOT NULL, code TEXT, job TEXT,
    newest REAL, cost REAL, duration REAL, prompt INTEGER, made_from TEXT
  ) STRICT;
  CREATE INDEX rows_made_from ON rows (made_from) WHERE made_from IS NOT NULL;
  CREATE INDEX rows_job ON rows (job) WHERE job IS NOT NULL;
  ${figures.map((name) => `CREATE INDEX rows_${name} ON rows (${name}) WHERE ${name} IS NOT NULL;`).join('\n')}
  CREATE TABLE docs (id INTEGER PRIMARY KEY, doc TEXT NOT NULL, mime TEXT, sha256 TEXT, fact TEXT NOT NULL) STRICT;
  CREATE TABLE prompts (id INTEGER PRIMARY KEY, shown TEXT NOT NULL, folded TEXT NOT NULL) STRICT;
  CREATE TABLE said (id INTEGER PRIMARY KEY, folded TEXT NOT NULL) STRICT;
  BEGIN;`;

interface DocRow {
  readonly id: number;
  readonly doc: string;
  readonly mime: string | null;
  readonly sha256: string | null;
  readonly shown: string | null;
  readonly vars: string;
}

const docs = `SELECT docs.id, docs.doc, docs.mime, docs.sha256, prompts.shown, cells.vars
  FROM %s JOIN docs ON docs.id = %i JOIN rows ON rows.id = docs.id
  LEFT JOIN prompts ON prompts.id = rows.prompt JOIN cells ON cells.cell = docs.id / ${perCell}`;

/**
 * The tables of an index, in a temporary database. If the system allows it, its file is unlinked at once, so that it is removed even
 * after a crash.
 */
export class Tables {
  readonly #folder: string;
  readonly database: Database;
  readonly #statements: ReturnType<typeof prepared>;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'promptpress-serve-'));
    this.database = openDatabase(join(this.#folder, 'index.db'));
    this.database.exec(schema);
    this.#statements = prepared(this.database);
    // Windows cannot remove an open file; there it is removed at the end.
    this.#remove();
  }

  close(): void {
    this.database.close();
    this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // The file is in use.
    }
  }

  put(cell: IndexedCell, results: readonly CellResult[]): void {
    for (const statement of this.#statements.clear)
      statement.run(idOf(cell.cell.number, 0), idOf(cell.cell.number + 1, 0));
    this.add(cell, results);
  }

  add({ cell, isChosen }: IndexedCell, results: readonly CellResult[]): void {
    const { number, repeat, vars } = cell;
    const state = this.#statements;
    const shown = JSON.stringify(results[0]?.result.vars ?? []);
    state.cell.run(number, isChosen ? 1 : 0, exactJson({ repeat, vars }), shown);
    const prompts = new Map<string, number>();
    for (const [index, each] of results.entries()) {
      const { result, detail } = each;
      const { at: _at, vars: _vars, prompt, ...doc } = result;
      const id = idOf(number, index);
      const whole = detail.prompt ?? prompt;
      let place = whole === undefined ? undefined : prompts.get(whole);
      if (whole !== undefined && place === undefined) {
        place = id;
        prompts.set(whole, place);
        state.prompt.run(place, prompt ?? '', fold(whole));
      }
      state.row.run(
        id,
        result.step,
        result.status,
        result.errorCode ?? null,
        result.job ?? null,
        negative(result.finishedAt),
        negative(result.cost),
        negative(result.seconds),
        place ?? null,
        result.madeFrom ?? null,
      );
      state.doc.run(
        id,
        JSON.stringify(doc),
        detail.mime ?? null,
        detail.sha256 ?? null,
        JSON.stringify(countedFact(each)),
      );
      const said = [detail.text ?? result.text, result.errorCode, result.errorMessage, pickOf(result)].filter(
        Boolean,
      );
      if (said.length > 0) state.say.run(id, fold(said.join('\n')));
    }
  }

  cell(number: number): IndexedCell | undefined {
    const row = this.#statements.getCell.get(number);
    if (row === undefined) return undefined;
    const { repeat, vars } = parseExact(row.known) as Omit<Cell, 'number'>;
    return { cell: { number, repeat, vars }, isChosen: row.chosen === 1 };
  }

  statusesOf(cell: number): readonly PageStatus[] {
    return this.#statements.statuses.all(idOf(cell, 0), idOf(cell + 1, 0)).map(({ status }) => status);
  }

  jobsOf(cell: number): ReadonlySet<string> {
    return new Set(this.#statements.jobs.all(idOf(cell, 0), idOf(cell + 1, 0)).map(({ job }) => job));
  }

  cellsOf(job: string): ReadonlySet<number> {
    return new Set(this.#statements.ofJob.all(job).map(({ id }) => cellOf(id)));
  }

  /** Returns the ids of what was made from picks in other cells. */
  madeFrom(picks: readonly string[]): readonly number[] {
    return this.#statements.madeFrom.all(JSON.stringify(picks)).map(({ id }) => id);
  }

  ofJob(job: string): readonly IndexedResult[] {
    return this.#statements.docsOfJob.all(job).map(indexed);
  }

  /** Returns results by their ids, in the given order; unknown ids are left out. */
  many(ids: readonly number[]): readonly IndexedResult[] {
    return this.#statements.many.all(JSON.stringify(ids)).map(indexed);
  }

  /** Returns results in plan order, beginning with an id. */
  from(id: number, limit: number): readonly IndexedResult[] {
    return this.#statements.from.all(id, limit).map(indexed);
  }

  /** Yields the counted facts of results in plan order, in groups. */
  *counted(placeOf: (id: number) => number): Generator<readonly CountedResult[]> {
    for (let after = -1; ; ) {
      const rows = this.#statements.facts.all(after);
      yield rows.map(({ id, fact, vars }): CountedResult => {
        const { row, result, detail } = JSON.parse(fact) as CountedResult;
        return {
          row,
          detail,
          result: { ...result, at: placeOf(id), vars: JSON.parse(vars) as readonly string[] },
        };
      });
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }
}

const negative = (figure: number | undefined): number | null => (figure === undefined ? null : -figure);

const between = 'id >= ? AND id < ?';

function prepared(database: Database) {
  const listed = docs.replace('%s', 'json_each(?) AS wanted').replace('%i', 'wanted.value');
  return {
    clear: ['rows', 'docs', 'prompts', 'said'].map((table) =>
      database.prepare(`DELETE FROM ${table} WHERE ${between}`),
    ),
    cell: database.prepare('INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)'),
    row: database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    doc: database.prepare('INSERT INTO docs VALUES (?, ?, ?, ?, ?)'),
    prompt: database.prepare('INSERT INTO prompts VALUES (?, ?, ?)'),
    say: database.prepare('INSERT INTO said VALUES (?, ?)'),
    getCell: database.prepare<{ chosen: number; known: string }>(
      'SELECT chosen, known FROM cells WHERE cell = ?',
    ),
    statuses: database.prepare<{ status: PageStatus }>(
      `SELECT status FROM rows WHERE ${between} ORDER BY id`,
    ),
    jobs: database.prepare<{ job: string }>(`SELECT job FROM rows WHERE ${between} AND job IS NOT NULL`),
    ofJob: database.prepare<{ id: number }>('SELECT id FROM rows WHERE job = ? ORDER BY id'),
    madeFrom: database.prepare<{ id: number }>(
      'SELECT id FROM rows WHERE made_from IN (SELECT value FROM json_each(?)) ORDER BY id',
    ),
    docsOfJob: database.prepare<DocRow>(
      `${docs.replace('%s', '(SELECT id FROM rows WHERE job = ?) AS own').replace('%i', 'own.id')} ORDER BY docs.id`,
    ),
    many: database.prepare<DocRow>(`${listed} ORDER BY wanted.key`),
    from: database.prepare<DocRow>(
      `${docs
        .replace('%s', '(SELECT id FROM docs WHERE id >= ? ORDER BY id LIMIT ?) AS own')
        .replace('%i', 'own.id')} ORDER BY docs.id`,
    ),
    facts: database.prepare<{ id: number; fact: string; vars: string }>(
      `SELECT docs.id, docs.fact, cells.vars FROM docs JOIN cells ON cells.cell = docs.id / ${perCell}
       WHERE docs.id > ? ORDER BY docs.id LIMIT 256`,
    ),
  };
}

function indexed({ id, doc, mime, sha256, shown, vars }: DocRow): IndexedResult {
  const result = JSON.parse(doc) as Omit<PageResult, 'at' | 'vars' | 'prompt'>;
  return {
    id,
    result: {
      ...result,
      ...(shown === null ? {} : { prompt: shown }),
      vars: JSON.parse(vars) as readonly string[],
    },
    ...(mime === null ? {} : { mime }),
    ...(sha256 === null ? {} : { sha256 }),
  };
}

/** Returns only the facts that counters use, because they are stored for each result. */
function countedFact({ row, result, detail }: CellResult): unknown {
  const { slot, firstOfSlot } = row;
  const { step, status, kind, place, error, accepted, job, record } = slot;
  const shared = { step: result.step, status: result.status, branch: result.branch };
  if (!firstOfSlot) return { row: { firstOfSlot, slot: { place } }, result: shared, detail: {} };
  const counted = {
    step,
    status,
    kind,
    place,
    error,
    accepted,
    job: job && { key: job.key },
    record: record && countedRecord(record),
  };
  return { row: { firstOfSlot, slot: counted }, result: shared, detail: { model: detail.model } };
}

function countedRecord({ artifacts, frames, ...record }: NonNullable<Slot['record']>): unknown {
  const { key, kind, attempts, submittedAt, finishedAt, usage, speed, cost, partlyPriced } = record;
  const times = { submittedAt, finishedAt };
  const sums = { attempts, usage, cost, partlyPriced };
  const files = artifacts.map(({ bytes, sha256, file }) => ({ bytes, sha256, file }));
  const sizes = frames && { files: frames.files.map(({ bytes }) => ({ bytes })) };
  return { key, kind, speed, ...times, ...sums, artifacts: files, frames: sizes };
}
