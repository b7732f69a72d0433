import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach } from 'vitest';
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

/** Has a folder made before each test, and removed after it. */
export function eachWithRun(): RunRig {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const pp: RunRig['pp'] = (...args) => promptpress(args, { cwd });
  const at: RunRig['at'] = (...names) => join(cwd, ...names);
  return {
    pp,
    at,
    runIt: async (...flags) => {
      const { code, err, out } = await pp(
        'run',
        'foxes.yaml',
        '--sandbox',
        '--pace',
        '0.01',
        '--out',
        'run',
        ...flags,
      );
      if (code !== 0) throw new Error(err);
      return `${out}${err}`;
    },
    rows: async () => parse(await readFile(at('run/manifest.csv'), 'utf8'), { columns: true }),
    imagesOf: async () =>
      (await readdir(at('run/images'), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(at('run').length + 1))
        .sort(),
    status: async () => JSON.parse((await pp('status', 'run', '--json')).out),
  };
}
