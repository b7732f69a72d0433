import { cpSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress } from '../test-io.ts';

/** A row of a manifest, or of what is written from one. */
export type Row = Readonly<Record<string, string>>;

/** Commands in a folder of each test's own, with the run directory `run` of `foxes.yaml`. */
export interface RunRig {
  readonly pp: (...args: readonly string[]) => ReturnType<typeof promptpress>;
  /** A path in the folder. */
  readonly at: (...names: readonly string[]) => string;
  /** Runs `foxes.yaml` in the sandbox. @returns what was said */
  readonly runIt: (...flags: readonly string[]) => Promise<string>;
  /** Rows of the manifest. */
  readonly rows: () => Promise<readonly Row[]>;
  /** Names of the images in the run directory, in order. */
  readonly imagesOf: () => Promise<readonly string[]>;
  /** What `status --json` says. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Has a folder made before each test, and removed after it.
 *
 * @param pipeline lies there as `foxes.yaml`, and has run: once, each test has a copy of what that left
 */
export function eachWithRun(pipeline?: string): RunRig {
  useQuickSandbox();
  const folder = async (): Promise<string> => await mkdtemp(join(tmpdir(), 'promptpress-'));
  let cwd: string;
  let first: string | undefined;
  beforeAll(async () => {
    if (pipeline === undefined) return;
    cwd = await folder();
    first = cwd;
    await writeFile(at('foxes.yaml'), pipeline);
    await runIt();
  });
  afterAll(async () => {
    if (first !== undefined) await rm(first, { recursive: true, force: true });
  });
  beforeEach(async () => {
    cwd = await folder();
    // In one go: the driver for Node 20 closes a database for good when its statements are collected.
    if (first !== undefined) cpSync(first, cwd, { recursive: true, preserveTimestamps: true });
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const pp: RunRig['pp'] = (...args) => promptpress(args, { cwd });
  const at: RunRig['at'] = (...names) => join(cwd, ...names);
  const runIt: RunRig['runIt'] = async (...flags) => {
    const rehearsal = ['--sandbox', '--pace', '0.01', '--out', 'run'];
    const { code, err, out } = await pp('run', 'foxes.yaml', ...rehearsal, ...flags);
    if (code !== 0) throw new Error(err);
    return `${out}${err}`;
  };
  return {
    pp,
    at,
    runIt,
    rows: async () => parse(await readFile(at('run/manifest.csv'), 'utf8'), { columns: true }),
    imagesOf: async () =>
      (await readdir(at('run/images'), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(at('run').length + 1))
        .sort(),
    status: async () => JSON.parse((await pp('status', 'run', '--json')).out),
  };
}
