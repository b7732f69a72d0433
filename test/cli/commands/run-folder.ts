import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { neutralNames } from '../../../src/sandbox/names.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type ManifestRow, readManifest } from '../../rig/manifest.ts';
import { promptpress, type Said } from '../test-io.ts';

/** Settings of a pipeline that is run in a few moments, and prices. */
export const quickHead = `poll: { min: 5ms, max: 20ms }
prices: { imagine: 0.5, "U*": 0.25, text-pro: { input: 1, output: 1 } }
`;

/** A run, and what it says as JSON. */
export interface Ran {
  readonly said: Said;
  readonly submits: number;
  readonly cost: number | undefined;
}

/** A folder of its own for each test, in which commands run against one sandbox. */
export interface RunFolder {
  /** Absolute path of the folder of this test. */
  readonly cwd: string;
  readonly env: { readonly PROMPTPRESS_BASE_URL: string; readonly PROMPTPRESS_API_KEY: string };
  /** Goes to another new folder. */
  readonly next: () => Promise<void>;
  readonly say: (...args: readonly string[]) => Promise<Said>;
  /** Runs a pipeline, which must exit with 0. */
  readonly run: (file: string, out: string, ...flags: readonly string[]) => Promise<Ran>;
  readonly rowsOf: (directory: string) => Promise<readonly ManifestRow[]>;
}

/** Starts a sandbox before the tests of a file, and makes a folder for each. */
export function useRunFolder(): RunFolder {
  const apiKey = 'key-of-the-test-0123456789';
  let sandbox: Sandbox;
  let root: string;
  let made = 0;
  beforeAll(async () => {
    sandbox = await startSandbox({ apiKey, names: neutralNames, settings: { pace: 0, pixels: 64 } });
    root = await mkdtemp(join(tmpdir(), 'promptpress-'));
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(root, { recursive: true, force: true });
  });
  const folder: RunFolder = {
    get cwd() {
      return join(root, String(made));
    },
    get env() {
      return { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey };
    },
    next: async () => {
      made += 1;
      await mkdir(folder.cwd);
    },
    say: (...args) => promptpress(args, { cwd: folder.cwd, env: folder.env }),
    run: async (file, out, ...flags) => {
      const said = await folder.say('run', file, '--out', out, '--no-progress', '--json', ...flags);
      expect(said.code, said.err).toBe(0);
      return { said, ...(JSON.parse(said.out) as Omit<Ran, 'said'>) };
    },
    rowsOf: async (directory) => await readManifest(join(folder.cwd, directory, 'manifest.csv')),
  };
  beforeEach(() => folder.next());
  return folder;
}
