import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { promptpress, type Said, type TestIo, testIo } from '../../cli/test-io.ts';
import { type FakeService, type FakeServiceOptions, startFakeService } from '../../rig/fake-service.ts';
import { type TestDatabase, testDatabase } from '../../rig/postgres.ts';

/** An engine, a service and a folder for the commands of a test file. */
export interface EngineRig extends AsyncDisposable {
  readonly database: Pick<TestDatabase, 'url'>;
  readonly service: FakeService;
  /** Flags that name the engine. */
  readonly engine: readonly string[];
  /** The same, with a queue of its own: the fastest one. */
  readonly lease: readonly string[];
  /** The environment of every command. */
  readonly env: Readonly<Record<string, string>>;
  /** A path in the folder. */
  at(...names: readonly string[]): string;
  write(name: string, text: string): Promise<void>;
  /** Carries out a command line there. */
  pp(...args: readonly string[]): Promise<Said>;
  /** Begins one that can be interrupted. */
  start(
    args: readonly string[],
    options?: { readonly folder?: string; readonly env?: Readonly<Record<string, string>> },
  ): TestIo & { readonly done: Promise<number> };
  /** Rows of a manifest, without what differs between two runs of the same. */
  rows(directory: string): Promise<readonly Readonly<Record<string, string>>[]>;
}

/** What no two runs have in common. */
const volatile = [
  'task_id',
  'parent_task_id',
  'custom_id',
  'image_url',
  'request_id',
  'submitted_at',
  'finished_at',
  // The fake service draws by the number of the task, and sees that in its texts.
  'sha256',
  'bytes',
  'text',
];

/** An engine from before the first test of a block until after the last one. */
export function engineOfBlock(gateway?: FakeServiceOptions): EngineRig {
  let rig: EngineRig | undefined;
  beforeAll(async () => {
    rig = await startEngine(undefined, gateway);
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });
  return new Proxy({} as EngineRig, { get: (_, name) => rig?.[name as keyof EngineRig] });
}

/** @param given default: a database of its own on the server of all tests */
export async function startEngine(
  given?: Pick<TestDatabase, 'url'> & AsyncDisposable,
  gateway: FakeServiceOptions = {},
): Promise<EngineRig> {
  const database = given ?? (await testDatabase());
  const cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  const service = await startFakeService({ apiKey: 'the-key-of-the-workers', ...gateway });
  const env = {
    HOME: cwd,
    PROMPTPRESS_BASE_URL: service.url,
    PROMPTPRESS_API_KEY: 'the-key-of-the-workers',
  };
  const at = (...names: readonly string[]): string => join(cwd, ...names);
  const engine = ['--engine', database.url];
  return {
    database,
    service,
    engine,
    lease: [...engine, '--queue', 'lease'],
    env,
    at,
    write: (name, text) => writeFile(at(name), text),
    pp: (...args) => promptpress(args, { cwd, env }),
    start: (args, { folder, env: more } = {}) => {
      const test = testIo({ cwd: folder ?? cwd, env: { ...env, ...more } });
      return { ...test, done: program(args, test.io) };
    },
    rows: async (directory) => {
      const rows = parse<Record<string, string>>(await readFile(at(directory, 'manifest.csv'), 'utf8'), {
        columns: true,
      });
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !volatile.includes(name))),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await database[Symbol.asyncDispose]();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}
