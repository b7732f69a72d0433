import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { inject } from 'vitest';
import { asked } from './postgres/asked.ts';
import { type PostgresServer, type PostgresSettings, startServer } from './postgres/server.ts';
import type { PostgresAnswer } from './postgres/setup.ts';

const offer = inject('postgres');

/** Whether there is a PostgreSQL for {@link testDatabase}: the npm package of this platform, or PROMPTPRESS_TEST_POSTGRES. */
export const hasPostgres = offer.shared;

/** Whether there is one for {@link ownServer}: the npm package of this platform. */
export const hasOwnPostgres = offer.own;

let answer: Promise<PostgresAnswer> | undefined;

/** The shared server; the first test of a run that asks has it started. */
function shared(): Promise<PostgresAnswer> {
  answer ??= new Promise((resolve, reject) => {
    get(offer.door, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as PostgresAnswer);
        else reject(new Error(text));
      });
    }).once('error', reject);
  });
  return answer;
}

/** A database of its own on the server that all tests share. It goes when it is disposed of. */
export interface TestDatabase extends AsyncDisposable {
  /** `postgres://user:password@127.0.0.1:port/name`, as its owner. */
  readonly url: string;
  /** Asks it once, over a connection that the code under test does not know of. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** @param template of this database a copy is made; default an empty one */
export async function testDatabase(template = 'template0'): Promise<TestDatabase> {
  const { url } = await shared();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const own = new URL(url);
  own.pathname = `/${name}`;
  await asked(url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    url: own.href,
    query: (text, values) => asked(own.href, text, values),
    [Symbol.asyncDispose]: async () => {
      await asked(url, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A server of a test's own, which it may crash, stop and start again; with PostgreSQL's settings as given. */
export async function ownServer(settings?: PostgresSettings): Promise<PostgresServer> {
  const { installation } = await shared();
  if (installation === undefined) throw new Error('no npm package of PostgreSQL for this platform');
  return startServer(installation, settings);
}
