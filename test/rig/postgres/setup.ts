import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type Installation, install, packagedPostgres } from './installation.ts';
import { startServer } from './server.ts';

/** What the processes of the tests are told of PostgreSQL. */
export interface PostgresOffer {
  /** Asked for an {@link PostgresAnswer}: nothing is started before. */
  readonly door: string;
  /** Whether there is a server that all tests share. */
  readonly shared: boolean;
  /** Whether tests can start servers of their own. */
  readonly own: boolean;
}

/** What the first test that asks starts, and all others get. */
export interface PostgresAnswer {
  /** The shared server, as a user who may create databases. */
  readonly url: string;
  readonly installation?: Installation;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresOffer;
  }
}

/** Runs in the main process of Vitest: one server for all tests of a run, started when the first one asks. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['PROMPTPRESS_TEST_POSTGRES'];
  const packaged = packagedPostgres();
  let keeping: AsyncDisposable | undefined;
  let answer: Promise<PostgresAnswer> | undefined;

  const start = async (): Promise<PostgresAnswer> => {
    if (packaged === undefined) return { url: given ?? '' };
    const installation = await install(packaged);
    keeping = installation;
    if (given !== undefined) return { url: given, installation };
    const server = await startServer(installation);
    return { url: server.url(), installation };
  };
  const door = createServer((_request, response) => {
    answer ??= start();
    answer.then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(0, '127.0.0.1', resolve);
  });
  door.unref();
  project.provide('postgres', {
    door: `http://127.0.0.1:${(door.address() as AddressInfo).port}/`,
    shared: given !== undefined || packaged !== undefined,
    own: packaged !== undefined,
  });
  return async () => {
    door.close();
    await answer?.catch(() => undefined);
    await keeping?.[Symbol.asyncDispose]();
  };
}
