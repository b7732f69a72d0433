/**
 * `npx tsx test/e2e/quirks.ts --cells 200 [--alone 20]`: a pipeline with every kind of step in the sandbox, with each quirk
 * of real gateways by itself on so many cells, and with all of them and a tenth of all requests struck by faults on the
 * others; and what came of it.
 */
import { parseArgs } from 'node:util';
import { allQuirks, failedImagines, mixedFaults, type Quirk, quirks } from './quirk-list.ts';
import { brokenBy, quirkRun } from './quirk-run.ts';

const { values } = parseArgs({
  options: {
    cells: { type: 'string', default: '200' },
    alone: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
let problems = 0;

async function show(
  name: string,
  quirk: Quirk,
  cells: number,
  calm: Awaited<ReturnType<typeof quirkRun>>['rows'],
  faults: readonly string[] = [],
): Promise<void> {
  const startedAt = performance.now();
  const run = await quirkRun(quirk, cells, faults);
  const broken = brokenBy(quirk, cells, run, calm);
  problems += broken.length;
  const { statuses, codes, attempts, tasks, repeated, resubmits, modals, requests, retries } = run;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const counts = JSON.stringify({ statuses, codes });
  console.log(
    `${name}: ${cells} cells, ${requests} requests, ${attempts} attempts, ${tasks} tasks, ${repeated} made again for ` +
      `${resubmits} that failed, ${modals.answered} modals answered, ${modals.repeated} twice; ${counts}; ` +
      `done after ${retries} retries, ${seconds} s${broken.length === 0 ? '' : `\n  BROKEN: ${broken.join('\n  ')}`}`,
  );
}

const alone = Number(values.alone);
if (alone > 0) {
  const { rows } = await quirkRun({}, alone);
  for (const [name, quirk] of Object.entries(quirks))
    if (values.only === undefined || name.includes(values.only)) await show(name, quirk, alone, rows);
}
const cells = Number(values.cells);
if (cells > 0) {
  const { rows } = await quirkRun({}, cells);
  await show('all quirks and a tenth of all requests struck', allQuirks, cells, rows, mixedFaults);
  await show('all quirks', allQuirks, cells, rows);
  await show('a tenth of all requests struck', {}, cells, rows, [...mixedFaults, failedImagines]);
}
console.log(`${problems} promises broken`);
if (problems > 0) process.exitCode = 1;
