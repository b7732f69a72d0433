import { availableParallelism } from 'node:os';
import { chat } from './chat.ts';
import type { Bench } from './comparison.ts';
import { engineCommits } from './engine/commits.ts';
import { workersCost } from './engine/cost.ts';
import { fortyWorkers } from './engine/forty.ts';
import { engineLimits } from './engine/limits.ts';
import { engineSize } from './engine/size.ts';
import { takeovers } from './engine/takeover.ts';
import { flat } from './flat.ts';
import { http } from './http.ts';
import { idle } from './idle.ts';
import { images } from './images.ts';
import { knownLimits } from './known-limits.ts';
import { makespan, makespanOrder } from './makespan.ts';
import { matrix } from './matrix.ts';
import { memory } from './memory.ts';
import { outside } from './outside.ts';
import { pace } from './pace.ts';
import { paceReal } from './pace-real.ts';
import { page } from './page.ts';
import { plan } from './plan.ts';
import { makespans } from './poll/makespan.ts';
import { polls } from './poll/polls.ts';
import { rehearsal } from './rehearsal.ts';
import { reports } from './report.ts';
import { measureBench, type Row } from './rounds.ts';
import { scheduler } from './scheduler.ts';
import { type BenchArguments, readArguments, selectNames, usage } from './select.ts';
import { serveBench } from './serve.ts';
import { slots } from './slots.ts';
import { start } from './start.ts';
import { state } from './state.ts';
import { jsonTable, markdownTable, plainTable } from './table.ts';
import { templates } from './templates.ts';
import { texts } from './texts.ts';

/** Every bench by its name, in the order of the table. `outside-` stands for all `outside-…`, `pace` for all of `pace.ts`. */
const benches: Readonly<Record<string, Bench>> = {
  makespan,
  'makespan-order': makespanOrder,
  images,
  rehearsal,
  texts,
  chat,
  ...flat,
  memory,
  ...slots,
  ...knownLimits,
  ...pace,
  ...paceReal,
  state,
  plan,
  templates,
  matrix,
  scheduler,
  ...polls,
  ...makespans,
  http,
  ...idle,
  serve: serveBench,
  ...start,
  ...reports,
  ...outside,
  ...page,
  ...workersCost,
  'engine-commits': engineCommits,
  ...takeovers,
  ...engineLimits,
  ...engineSize,
  ...fortyWorkers,
};

const expanded = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => (name === 'pace' ? Object.keys(pace) : [name]));

const printed = (form: BenchArguments['form'], rows: readonly Row[]): string => {
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    at: new Date().toISOString(),
  };
  if (form === 'json') return jsonTable(machine, rows);
  if (form === 'markdown') return markdownTable(rows);
  return `Node.js ${machine.node} on ${machine.cores} cores; medians of alternating rounds\n${plainTable(rows)}`;
};

try {
  const { names, form, list, help, ...options } = readArguments(process.argv.slice(2));
  const chosen = help ? [] : selectNames(Object.keys(benches), expanded(names));
  if (help) process.stdout.write(usage);
  const rows: Row[] = [];
  for (const name of chosen) {
    const bench = benches[name] as Bench;
    if (list) {
      console.log(`${name}: ${bench.asks}`);
      continue;
    }
    console.error(`${name} …`);
    rows.push(await measureBench(name, bench, options));
  }
  if (!list && !help) console.log(printed(form, rows));
  if (rows.some((row) => 'failed' in row)) process.exitCode = 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
