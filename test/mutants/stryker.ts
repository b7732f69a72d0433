import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface StrykerRun {
  /** Where Stryker is installed. */
  readonly cache: string;
  /** A folder outside of the repository, for the instrumented copy: Vite does not transform what lies below `node_modules`. */
  readonly temporary: string;
  /** Where Stryker writes its report, in the schema of `mutation-testing-report-schema`. */
  readonly reportFile: string;
  /** Files and folders below `src`. */
  readonly paths: readonly string[];
  /** Test files below `test`, the first to be run first. */
  readonly tests: readonly string[];
  readonly concurrency: number;
  readonly incremental: boolean;
}

/** Runs Stryker in a process of its own, and answers its exit code. */
export async function runStryker(run: StrykerRun): Promise<number> {
  const configFile = join(run.temporary, 'stryker.json');
  writeFileSync(configFile, JSON.stringify(settingsOf(run)));
  // A test that a mutant ends in its middle leaves its folders behind: they go with the temporary folder.
  const ownTemporary = join(run.temporary, 'tmp');
  mkdirSync(ownTemporary);
  const bin = join(run.cache, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const child = spawn(process.execPath, [bin, 'run', configFile], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TMPDIR: ownTemporary,
      MUTANTS_TESTS: JSON.stringify(run.tests.map((file) => `test/${file}`)),
    },
  });
  // Ctrl-C stops Stryker first: this process waits for it, and then removes the temporary folder.
  const stop = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', stop);
  process.off('SIGTERM', stop);
  return code ?? 1;
}

function settingsOf(run: StrykerRun): Record<string, unknown> {
  const plugins = [
    join(run.cache, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'),
    resolve('test/mutants/prose.mjs'),
  ];
  return {
    mutate: run.paths.map((path) => (path.endsWith('.ts') ? `src/${path}` : `src/${path}/**/*.ts`)),
    testRunner: 'vitest',
    // The list of tests is this project's own; that of Vitest would name every test that imports a file through others of src.
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    plugins,
    ignorers: ['prose'],
    coverageAnalysis: 'perTest',
    concurrency: run.concurrency,
    // A mutant that only loops is stopped by Stryker's count of its steps; these bounds are for one that waits.
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 30,
    reporters: ['json', process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    jsonReporter: { fileName: run.reportFile },
    ignorePatterns: ['dist', 'coverage', 'runs', '.ci', '.github'],
    tempDirName: join(run.temporary, 'copy'),
    cleanTempDir: 'always',
    // Stryker would read it with the installed TypeScript, whose API it does not know.
    tsconfigFile: 'none',
    allowEmpty: true,
    incremental: run.incremental,
    incrementalFile: join(run.cache, `${run.paths.join('+').replaceAll('/', '-')}.json`),
  };
}
