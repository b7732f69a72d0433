/**
 * `npm run mutants -- PATH… [--tests PATH…] [--concurrency 2] [--incremental]`: changes the files of `src` that PATH names, one
 * small change at a time, and lists the changes that no test notices.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTree } from '../structure/source-tree.ts';
import { install } from './install.ts';
import { type MutationReport, summaryOf } from './report.ts';
import { selectTests } from './select-tests.ts';
import { runStryker } from './stryker.ts';

const usage = `npm run mutants -- PATH… [--tests PATH…] [--concurrency 2] [--incremental]

PATH           a file or folder of src: src/run/limits
--tests        these test files and folders, not those that mirror PATH or import what lies there
--concurrency  processes that run tests at the same time, 1 by default
--incremental  keeps the result for PATH below node_modules, and tries next time only mutants whose code or tests have changed`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true, default: [] },
    concurrency: { type: 'string', default: '1' },
    incremental: { type: 'boolean', default: false },
  },
});

/** Paths of the command line below one of the repository's folders; `undefined` for one that is not there. */
function below(folder: string, given: readonly string[], files: readonly string[]): readonly string[] {
  return given.map((path) => {
    const inside = path.replace(/\/+$/, '').replace(new RegExp(`^(?:\\./)?${folder}(?:/|$)`), '');
    const known = files.some((file) => inside === '' || file === inside || file.startsWith(`${inside}/`));
    if (!known) throw new RangeError(`${path} is no file or folder of ${folder}.`);
    return inside;
  });
}

async function main(): Promise<number> {
  const tree = readTree('test');
  const testFiles = tree.map(({ file }) => file);
  const paths = below(
    'src',
    positionals,
    readTree('src').map(({ file }) => file),
  );
  const named = below('test', values.tests, testFiles);
  const tests =
    named.length === 0
      ? selectTests(tree, paths)
      : testFiles.filter(
          (file) =>
            file.endsWith('.test.ts') && named.some((path) => file === path || file.startsWith(`${path}/`)),
        );
  if (tests.length === 0) throw new RangeError('No tests: name some with --tests.');
  const cache = await install();
  const temporary = mkdtempSync(join(tmpdir(), 'promptpress-mutants-'));
  try {
    const reportFile = join(temporary, 'report.json');
    const code = await runStryker({
      cache,
      temporary,
      reportFile,
      paths,
      tests,
      concurrency: Number(values.concurrency),
      incremental: values.incremental,
    });
    if (code !== 0) return code;
    console.log(summaryOf(JSON.parse(readFileSync(reportFile, 'utf8')) as MutationReport));
    return 0;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

if (positionals.length === 0) {
  console.error(usage);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}
