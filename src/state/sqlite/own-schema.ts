import { StateError } from '../store.ts';
import { type Database, type OpenOptions, openDatabase } from './sqlite.ts';

/** All declarations of a database as SQLite keeps them: one text for each table, index, trigger and view. */
export type DeclaredSchema = ReadonlyMap<string, string>;

/** Returns the schema that statements make in an empty database: a database made by them must have it. */
export function schemaMadeBy(make: (database: Database) => void, options: OpenOptions = {}): DeclaredSchema {
  const database = openDatabase(':memory:', options);
  try {
    make(database);
    return readSchema(database);
  } finally {
    database.close();
  }
}

/** Most declarations that are read: our schemas have fewer, but a foreign file may have any number. */
const maxObjects = 1000;

function readSchema(database: Database): DeclaredSchema {
  const rows = database
    .prepare<{ type: string; name: string; place: string; sql: string | null }>(
      `SELECT type, name, tbl_name AS place, sql FROM sqlite_schema LIMIT ${maxObjects}`,
    )
    .all();
  // White space in a statement has no meaning.
  return new Map(
    rows.map(({ type, name, place, sql }) => [
      `${type} ${name}`,
      `${place} ${(sql ?? '').replaceAll(/\s+/g, ' ').trim()}`,
    ]),
  );
}

/**
 * Refuses a database with any foreign declaration. A foreign trigger or view would run when a job is recorded or read, and could change
 * facts of other jobs; a virtual table is code that a file chooses.
 *
 * @param partly whether missing declarations are made anyway
 * @throws StateError `state.schema`; an error of the driver
 */
export function refuseOtherSchema(database: Database, own: DeclaredSchema, { partly = false } = {}): void {
  const found = readSchema(database);
  for (const [object, statement] of found)
    if (own.get(object) !== statement) throw otherSchema(database.file, `holds the ${object}`);
  const missing = [...own.keys()].find((object) => !found.has(object));
  if (!partly && missing !== undefined) throw otherSchema(database.file, `lacks the ${missing}`);
}

const otherSchema = (file: string, difference: string): StateError =>
  new StateError('state.schema', `${file} is not as promptpress made it: it ${difference}.`, {
    hint:
      'Somebody has changed or made it. If it came with a repository or an archive, do not trust it: take another ' +
      'directory with --out. Otherwise undo the change with an SQLite tool, or restore a backup.',
  });
