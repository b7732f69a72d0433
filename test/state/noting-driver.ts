import type { Driver } from '../../src/state/sqlite/driver.ts';

/** What is done around a connection of a driver. */
export interface Around {
  /** Before statements without results are run; what it returns is run in their place. */
  readonly exec?: (sql: string, location: string) => string | undefined;
  /** After they were run. */
  readonly executed?: (sql: string, location: string) => void;
  /** Before a statement is run that may have values. */
  readonly run?: (sql: string) => void;
  /** Before a statement is asked for one row. */
  readonly get?: (sql: string) => void;
  readonly prepare?: (sql: string, location: string) => void;
  readonly open?: (location: string, readOnly: boolean) => void;
  readonly close?: (location: string, readOnly: boolean) => void;
}

/** A driver whose work can be watched, changed and made to fail. */
export const around = (driver: Driver, watch: Around): Driver => ({
  ...driver,
  open: (location, options) => {
    watch.open?.(location, options.readOnly);
    const raw = driver.open(location, options);
    return {
      exec: (sql) => {
        raw.exec(watch.exec?.(sql, location) ?? sql);
        watch.executed?.(sql, location);
      },
      prepare: (sql) => {
        watch.prepare?.(sql, location);
        const statement = raw.prepare(sql);
        return {
          get: (...values) => {
            watch.get?.(sql);
            return statement.get(...values);
          },
          all: (...values) => statement.all(...values),
          iterate: (...values) => statement.iterate(...values),
          run: (...values) => {
            watch.run?.(sql);
            return statement.run(...values);
          },
        };
      },
      close: () => {
        watch.close?.(location, options.readOnly);
        raw.close();
      },
    };
  },
});

/** An error as a driver throws it. @param errcode a result code of SQLite */
export const sqliteError = (errcode: number, message = 'SQLite failed'): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
