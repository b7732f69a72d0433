import { resolve } from 'node:path';
import { closingAfter } from '../../app/adapters/disposables.ts';
import type { Context } from '../../app/context.ts';
import { exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { shownErrorOf } from '../../app/errors/render.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import { isEngineWord } from '../../app/service/engine/connect.ts';
import { checkRunDirectory } from '../../app/workspace/checks/directory.ts';
import { keptFailureRules } from '../../app/workspace/last-pipeline.ts';
import { findRunDirectories } from '../../app/workspace/run-directories.ts';
import type { JsonOutputs, ListedRun } from '../../report/facts/json-outputs.generated.ts';
import { readListedRun } from '../../report/facts/listed-run.ts';
import { placeOfDirectory, seenFrom } from '../../report/facts/place.ts';
import { count, counted, money, possibleCostWords, span } from '../../report/text/amounts.ts';
import { stageAdvice } from '../../report/text/next-commands.ts';
import { shownLine } from '../../report/text/printable.ts';
import { tableLines } from '../../report/text/table.ts';
import { openStateForReading } from '../../state/state.ts';
import { command } from '../args/command.ts';
import { toggle } from '../args/flags.ts';
import { placeFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';

/** A run directory in the list: the facts of its state, or why the state cannot be read. */
type Entry = JsonOutputs['ls']['runs'][number];

/** `promptpress ls [DIR]` */
export const ls = command(
  {
    name: 'ls',
    summary: summaries.ls,
    operands: '[DIR|ENGINE]',
    about: `Lists the run directories in a folder and below it, by default the current one, with facts from their states. It works during runs. A state that is damaged, or that git tracks, is listed with the reason. Links, folders that begin with a dot and node_modules are not searched; after 1,000 runs or 20,000 folders the search ends with a message. For an engine (postgres://…) it lists the runs there. The exit code is 0, even without any run.`,
    examples: [
      { command: 'promptpress ls', does: 'below the current folder' },
      { command: 'promptpress ls sets --json', does: 'for a script' },
      { command: 'promptpress ls postgres://press@db.example/press', does: 'the runs on an engine' },
    ],
    flags: {
      'trust-directory': placeFlags['trust-directory'],
      json: toggle('print one JSON object (schemas/ls.schema.json)'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given = '.'], context) => {
    const { io } = context;
    const { entries, truncated } = isEngineWord(given)
      ? await onEngine(given, context)
      : await below(given, flags['trust-directory'], context);
    if (flags.json) await io.data(jsonLine({ runs: entries, truncated }));
    else await io.out(tableText(entries, given));
    if (truncated) {
      io.err(
        `promptpress: There may be more: the search ended early. ${isEngineWord(given) ? 'Name one of them: promptpress ls postgres://…#NAME' : 'Name a folder further down: promptpress ls DIR'}\n`,
      );
    }
    return exitCodes.ok;
  },
);

interface Found {
  readonly entries: readonly Entry[];
  readonly truncated: boolean;
}

async function below(given: string, trusted: boolean, context: Context): Promise<Found> {
  const { directories, truncated } = await found(resolve(context.io.cwd, given), given);
  const entries: Entry[] = [];
  for (const directory of directories) {
    const entry = await entryOf(directory, trusted, context);
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, truncated };
}

const onEngine = (given: string, context: Context): Promise<Found> =>
  closingAfter(async (disposables) => {
    const { listEngineRuns } = await import('../../app/service/engine/run.ts');
    const { runs, truncated } = await listEngineRuns(given, disposables, context);
    const { io } = context;
    const entries: Entry[] = [];
    for (const { place, state } of runs)
      entries.push(await readListedRun(place, state, await keptFailureRules(place.directory, state, io), io));
    return { entries, truncated };
  });

async function found(folder: string, given: string): ReturnType<typeof findRunDirectories> {
  try {
    return await findRunDirectories(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw usageError(`There is no folder ${given}.`);
    if (code === 'ENOTDIR') throw usageError(`${given} is a file; promptpress ls takes a folder.`);
    if (code === 'EACCES' || code === 'EPERM') throw usageError(`The folder ${given} cannot be read.`);
    throw error;
  }
}

/** Reads the entry of a directory; undefined for an empty state. An unreadable state becomes an entry with its error. */
async function entryOf(directory: string, trusted: boolean, { io }: Context): Promise<Entry | undefined> {
  const place = seenFrom(io.cwd, directory);
  try {
    await checkRunDirectory(directory, { trusted }, io.env);
    const state = openStateForReading(directory);
    if (state === undefined) return undefined;
    try {
      const rules = await keptFailureRules(directory, state, io);
      return await readListedRun(placeOfDirectory(directory, io.cwd), state, rules, io);
    } finally {
      await state.close();
    }
  } catch (error) {
    const { exitCode, text } = shownErrorOf(error);
    if (exitCode === exitCodes.internal || text === undefined) throw error;
    const [first = ''] = text.split('\n');
    return { directory: place, problem: first.replace(/^promptpress: /, '') };
  }
}

/** Formats the number of slots left (of jobs without a known plan), the finished share of the plan and the time left. */
function toDo(open: number, planned: ListedRun['planned']): string {
  const left = planned === undefined ? open : Math.max(open, planned.total - planned.settled);
  if (left === 0) return '';
  const share = planned === undefined ? '' : ` (${planned.percent} % done)`;
  return `${planned?.atMost ? 'at most ' : ''}${count(left)}${share}${planned?.leftMs === undefined ? '' : `, ${span(planned.leftMs)}`}`;
}

const head = [
  'directory',
  'pipeline',
  'state',
  'done',
  'failed',
  'in doubt',
  'to do',
  'cost',
  'last run (UTC)',
];

function tableText(entries: readonly Entry[], given: string): string {
  if (entries.length === 0)
    return isEngineWord(given)
      ? 'There is no run on this engine.\n'
      : `There is no run in ${shownLine(given)} or below it.\n`;
  const runs = entries.flatMap((entry) => ('problem' in entry ? [] : [entry]));
  const rows = runs.map(({ directory, name = '', state, workers, jobs, planned, cost, startedAt = '' }) => [
    shownLine(directory),
    shownLine(name),
    workers === undefined ? state : `${state} (${counted(workers, 'worker')})`,
    count(jobs.done),
    jobs.failed === 0 ? '' : count(jobs.failed),
    jobs.inDoubt === 0 ? '' : count(jobs.inDoubt),
    toDo(jobs.open, planned),
    cost === undefined ? '' : money(cost),
    startedAt.replace(/^(.{10})T(.{5}).*$/, '$1 $2'),
  ]);
  const cost = runs.reduce((sum, run) => sum + (run.cost ?? 0), 0);
  const possible = runs.reduce((sum, run) => sum + (run.possibleCost ?? 0), 0);
  const costs = [
    ...(cost === 0 ? [] : [`cost ${money(cost)}`]),
    ...(possible === 0 ? [] : [possibleCostWords(possible, cost === 0 ? undefined : cost)]),
  ];
  return [
    ...tableLines(rows, { head, isNumber: (column) => column >= 3 && column <= 7 }),
    ...entries.flatMap((entry) =>
      'problem' in entry ? [`${shownLine(entry.directory)}: ${shownLine(entry.problem)}`] : [],
    ),
    ...runs.flatMap(({ directory, state }) => {
      const advice = isEngineWord(directory) ? stageAdvice(state, directory) : undefined;
      return advice === undefined ? [] : [`${shownLine(directory)}: ${advice}`];
    }),
    [counted(entries.length, 'run'), ...costs].join(', '),
    '',
  ].join('\n');
}
