import { Turns } from '../../../pipeline/turns.ts';
import { wordsOf } from '../../page/text/fold.ts';
import type { PageQuery } from '../../results/wire.ts';
import type { Places } from './places.ts';
import { type Figure, idOf, type Tables } from './tables.ts';

/** A query that may also select results by their jobs, for results marked on the page. */
export interface IndexQuery extends PageQuery {
  readonly jobs?: readonly string[];
}

/** Whether a query selects all results in plan order. */
export const asksForAll = ({ search = '', sort = 'plan', ...rest }: IndexQuery): boolean =>
  wordsOf(search).length === 0 &&
  sort === 'plan' &&
  rest.steps === undefined &&
  rest.statuses === undefined &&
  rest.errorCode === undefined &&
  rest.jobs === undefined &&
  Object.keys(rest.vars ?? {}).length === 0;

/** Part of an SQL condition, with the values of its placeholders. */
interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

const among = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

/** Builds the SQL condition of a query. Conditions on columns come before searches in texts. */
function conditionOf(query: IndexQuery, variables: readonly string[]): Condition {
  const { steps, statuses, errorCode, vars = {}, jobs, search = '' } = query;
  const parts: Condition[] = [
    ...(steps === undefined ? [] : [among('part.step', steps)]),
    ...(statuses === undefined ? [] : [among('part.status', statuses)]),
    ...(errorCode === undefined ? [] : [{ sql: 'part.code = ?', values: [errorCode] }]),
    ...(jobs === undefined ? [] : [among('part.job', jobs)]),
    ...Object.entries(vars).flatMap(([name, values]) => {
      const index = variables.indexOf(name);
      return index === -1 ? [] : [among(`(cells.vars ->> ${index})`, values)];
    }),
    ...wordsOf(search).map(
      (word): Condition => ({
        sql: '(instr(prompts.folded, ?) > 0 OR instr(said.folded, ?) > 0)',
        values: [word, word],
      }),
    ),
  ];
  return {
    sql: parts.length === 0 ? 'TRUE' : parts.map(({ sql }) => `coalesce(${sql}, FALSE)`).join(' AND '),
    values: parts.flatMap(({ values }) => values),
  };
}

/** Target time of a step, in ms. */
const stepMs = 6;
const smallestStep = 64;
const largestStep = 65_536;

/** Takes steps until one has no successor. A step is given its number of cells or rows, adapted to the time of the previous one. */
async function walkInSteps(check: () => void, step: (size: number) => boolean): Promise<void> {
  const turns = new Turns();
  for (let size = 1024; ; ) {
    check();
    const began = performance.now();
    if (!step(size)) return;
    const took = performance.now() - began;
    if (took > stepMs) size = Math.max(smallestStep, size >> 1);
    else if (took < stepMs / 3) size = Math.min(largestStep, size << 1);
    await turns.next();
  }
}

interface Walk {
  readonly tables: Tables;
  readonly places: Places;
  readonly variables: readonly string[];
  /** Called between two steps; an error that it throws ends the walk. */
  readonly check: () => void;
}

/**
 * Returns the ids of all matching results in the order of the query. It walks over the results in steps of some milliseconds, between
 * which other work can run.
 *
 * @throws what `check` throws
 */
export async function findIds(query: IndexQuery, walk: Walk): Promise<Float64Array> {
  const found = new Ids();
  const { sort = 'plan' } = query;
  if (sort !== 'plan') await walkFigure(query, sort, walk, found);
  await walkPlan(query, walk, found, sort === 'plan' ? 'TRUE' : `part.${sort} IS NULL`);
  return found.all();
}

const joins = (condition: string): string =>
  `${condition.includes('prompts.') ? 'LEFT JOIN prompts ON prompts.id = part.prompt LEFT JOIN said ON said.id = part.id' : ''}
   ${condition.includes('cells.') ? `JOIN cells ON cells.cell = part.id / ${idOf(1, 0)}` : ''}`;

async function walkPlan(query: IndexQuery, walk: Walk, found: Ids, also: string): Promise<void> {
  const { tables, places, variables } = walk;
  const { sql, values } = conditionOf(query, variables);
  const statement = tables.database.prepare<{ ids: string }>(
    `SELECT json_group_array(id) AS ids FROM (
       SELECT part.id FROM rows AS part ${joins(sql)}
       WHERE part.id >= ? AND part.id < ? AND ${also} AND ${sql} ORDER BY part.id)`,
  );
  let position = 0;
  await walkInSteps(walk.check, (size) => {
    if (position >= places.length) return false;
    const next = Math.min(places.length, position + size);
    const end = next === places.length ? idOf(places.cellAt(next - 1) + 1, 0) : idOf(places.cellAt(next), 0);
    found.add(statement.get(idOf(places.cellAt(position), 0), end, ...values)?.ids);
    position = next;
    return true;
  });
}

async function walkFigure(query: IndexQuery, figure: Figure, walk: Walk, found: Ids): Promise<void> {
  const { tables, variables } = walk;
  const { sql, values } = conditionOf(query, variables);
  const statement = tables.database.prepare<{
    ids: string;
    figure: number | null;
    last: number | null;
  }>(
    `WITH part AS MATERIALIZED (
       SELECT id, step, status, code, job, prompt, ${figure} AS figure FROM rows INDEXED BY rows_${figure}
       WHERE ${figure} IS NOT NULL AND (${figure}, id) > (?, ?) ORDER BY ${figure}, id LIMIT ?
     ), last AS (SELECT figure, id FROM part ORDER BY figure DESC, id DESC LIMIT 1)
     SELECT (SELECT json_group_array(id) FROM
         (SELECT part.id FROM part ${joins(sql)} WHERE ${sql} ORDER BY part.figure, part.id)) AS ids,
       (SELECT figure FROM last) AS figure, (SELECT id FROM last) AS last`,
  );
  let after: readonly [figure: number, id: number] = [-Number.MAX_VALUE, -1];
  await walkInSteps(walk.check, (size) => {
    const row = statement.get(...after, size, ...values);
    if (row === undefined || row.figure === null || row.last === null) return false;
    found.add(row.ids);
    after = [row.figure, row.last];
    return true;
  });
}

/** A growing list of ids, 8 bytes each. */
class Ids {
  #ids = new Float64Array(1024);
  #length = 0;

  add(json: string | undefined): void {
    if (json === undefined || json === '[]') return;
    const ids = JSON.parse(json) as readonly number[];
    if (this.#length + ids.length > this.#ids.length) {
      const before = this.#ids;
      this.#ids = new Float64Array(Math.max(before.length * 2, this.#length + ids.length));
      this.#ids.set(before.subarray(0, this.#length));
    }
    this.#ids.set(ids, this.#length);
    this.#length += ids.length;
  }

  all(): Float64Array {
    return this.#ids.slice(0, this.#length);
  }
}
