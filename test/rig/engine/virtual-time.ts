import { Client } from 'pg';
import type { Connection, Rows } from '../../../src/engine/postgres/pool.ts';
import type { Clock } from '../../../src/run/clock.ts';

/** The time of everybody in a test, which passes only when all that can happen at a moment has happened. */
export class VirtualTime {
  now: number;
  #timers: { readonly at: number; readonly number: number; readonly call: () => void }[] = [];
  #number = 0;
  #pending = 0;
  #settled: (() => void) | undefined;

  constructor(startAt = 1_700_000_000_000) {
    this.now = startAt;
  }

  /** A clock that is off by so much. */
  clock(offMs = 0): Clock {
    return {
      now: () => this.now + offMs,
      at: (atMs, call) => this.at(atMs - offMs, call),
    };
  }

  at(at: number, call: () => void): () => void {
    this.#number += 1;
    const timer = { at: Math.max(this.now, at), number: this.#number, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Time stands still until this has settled. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await work();
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#settled?.();
    }
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await this.#settle();
      let next = this.#timers[0];
      for (const timer of this.#timers)
        if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.number < next.number))
          next = timer;
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = next.at;
      next.call();
    }
    this.now = until;
  }

  async #settle(): Promise<void> {
    // What a settled promise causes needs some turns of the loop of promises.
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    while (this.#pending > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve;
      });
      for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    }
  }
}

/** Functions of a database that read the time of a test: they stand before those of PostgreSQL. */
const virtualClock = `
  CREATE SCHEMA IF NOT EXISTS virtual;
  CREATE OR REPLACE FUNCTION virtual.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT to_timestamp(current_setting('virtual.ms')::double precision / 1000) $$;
  SET search_path = virtual, pg_catalog, promptpress;
  SET synchronous_commit = off;
`;

/** A database whose clock is the time of a test. */
export interface VirtualDatabase extends AsyncDisposable {
  /** Asks it at once. */
  send(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>;
  /** Questions that were asked. */
  readonly asked: () => number;
  /** A way to it with this round trip, ms; with `isAway` it gives no answer. */
  reach(roundTripMs: number, isAway?: () => boolean): Connection;
}

/** @param serverOffMs how far the clock of the server is off */
export async function virtualDatabase(
  url: string,
  time: VirtualTime,
  serverOffMs = 0,
): Promise<VirtualDatabase> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(virtualClock);
  let asked = 0;
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      time.at(time.now + ms, resolve);
    });
  let last: Promise<unknown> = Promise.resolve();
  const send = async (text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }> => {
    const before = last;
    const asking = (async () => {
      await before.catch(() => undefined);
      await client.query(`SET virtual.ms = '${time.now + serverOffMs}'`);
      return client.query(text, values);
    })();
    last = asking;
    return asking;
  };
  return {
    send,
    asked: () => asked,
    reach: (roundTripMs, isAway = () => false) => ({
      query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Rows<Row>> => {
        await sleep(roundTripMs / 2);
        if (isAway()) throw new Error('the database is away');
        asked += 1;
        const result = await time.hold(() => send(text, [...values]));
        await sleep(roundTripMs / 2);
        return result as Rows<Row>;
      },
    }),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
