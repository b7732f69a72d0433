import { join } from 'node:path';
import { settledStatuses } from '../../src/plan/job.ts';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import { midjourneyProxyNames, neutralNames } from '../../src/sandbox/names.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { openStateForReading } from '../../src/state/state.ts';
import { promptpress, type Said } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { byStatus, comparable, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { write } from './pipelines.ts';
import type { Quirk } from './quirk-list.ts';

const pipelineOf = (cells: number, { names, auth, pipeline = '' }: Quirk): string => `name: quirks
service: { id: proof, names: ${names ?? 'neutral'}, auth: ${auth ?? 'bearer'}, speed: relax }
limits: { tasks: 12, requests: 24 }
retry: { attempts: 6, base: 5ms, cap: 60ms, resubmits: 2, ambiguous: hold, patience: 1m }
timeouts: { request: 20s, task: 60s }
poll: { min: 5ms, max: 60ms${pipeline === '' ? '' : `, ${pipeline}`} }
${everyKindOfStep(cells)}`;

/**
 * One of every kind of step, two modals and a remix among them; films, which are slow to draw, in the first twenty cells. `caption` adds
 * fields to the call of the native endpoint.
 */
export const everyKindOfStep = (cells: number, caption = ''): string => `matrix:
  animal: [${['fox', 'owl', 'lynx', 'hare'].slice(0, cells).join(', ')}]
  seed: { from: 1, to: ${Math.ceil(cells / 4)} }
steps:
  grid:
    imagine: { prompt: "{{ animal }} at dusk --seed {{ seed }} --v 6.1", accountFilter: { modes: [FAST] } }
    path: U1,U2
  repaint:
    from: grid/U1
    click: Vary (Region)
    prompt: "a red scarf {{ seed }}"
    mask: { shapes: [{ ellipse: [0.2, 0.2, 0.5, 0.5] }] }
  wide:
    from: grid/U2
    click: Custom Zoom
    prompt: "{{ animal }} at dusk --zoom 1.5 --ar 1:1"
  other:
    from: grid
    click: V2
    remix: true
    prompt: "{{ animal }} in the rain --seed {{ seed }} --v 6.1"
  mix:
    gather: grid/*
    blend: { dimensions: square }
  words:
    from: grid/U1
    describe: { image: parent }
  drawn:
    imagine: "{{ steps.words.prompts[1] }} {{ animal }} {{ seed }}"
  film:
    when: seed <= 5
    from: grid/U2
    video: { image: parent, motion: high, prompt: "it runs {{ seed }}", batchSize: 1 }
    path: U1
  patched:
    from: grid/U1
    edit: { image: parent, prompt: "a blue hat {{ seed }}", mask: { shapes: [{ rectangle: [0, 0, 0.5, 0.5] }] } }
  caption:
    from: grid/U1
    generate: { model: text-pro, prompt: "Caption the {{ animal }}.", images: [parent], stream: true${caption} }
  title:
    chat: { model: chat-mini, prompt: "A title for the {{ animal }} {{ seed }}." }
`;

/** Rows of a cell: 12 of image work, 2 of texts. */
export const rowsOfCell = 14;

/** What it takes to be masked everywhere. */
const key = 'a-key-for-the-proof';

/** What became of a run, and of the runs after it that were told to retry all that was left. */
export interface QuirkRun {
  readonly first: Said;
  readonly statuses: Readonly<Record<string, number>>;
  /** Codes of failures and doubts after the first run. */
  readonly codes: Readonly<Record<string, number>>;
  /** Image submissions that the records count, and tasks that the service made; a modal may make one of its own. */
  readonly attempts: number;
  readonly tasks: number;
  /** Tasks made of a request that had made one, and those that a failed task explains. */
  readonly repeated: number;
  readonly resubmits: number;
  readonly modals: { readonly answered: number; readonly repeated: number };
  readonly requests: number;
  /** Slots that are not accounted for: pending without anything in doubt that they wait for, and without a stop of the run. */
  readonly unaccounted: readonly ManifestRow[];
  /** After the runs that retried. */
  readonly rows: readonly ManifestRow[];
  readonly retries: number;
  readonly last: Said;
}

/** Carries a pipeline with every kind of step out in a sandbox, then retries what is left in one without faults. */
export async function quirkRun(
  quirk: Quirk,
  cells: number,
  faults: readonly string[] = [],
): Promise<QuirkRun> {
  await using folder = await temporaryFolder();
  const { path } = folder;
  await write(path, { 'quirks.yaml': pipelineOf(cells, quirk) });
  const parsed = faults.map((text) => {
    const fault = parseFault(text);
    if (!fault.ok) throw new Error(fault.error);
    return fault.value;
  });
  const start = (settings: Partial<SandboxSettings>) =>
    startSandbox({
      apiKey: key,
      state: join(path, 'sandbox'),
      names: quirk.names === undefined ? neutralNames : midjourneyProxyNames,
      settings: {
        pace: 0.02,
        pixels: 64,
        anyModel: true,
        textLatency: 0,
        tokenLatency: 0,
        requestLog: 0,
        ...quirk.settings,
        ...settings,
      },
    });
  const run = (url: string, ...flags: string[]): Promise<Said> =>
    promptpress(['run', 'quirks.yaml', ...flags], {
      cwd: path,
      env: { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: key },
    });
  const directory = join(path, 'runs/quirks');
  const manifest = (): Promise<readonly ManifestRow[]> => readManifest(join(directory, 'manifest.csv'));

  const sandbox = await start({ faults: parsed });
  const first = await run(sandbox.url);
  const counters = sandbox.counters();
  await sandbox.close();
  const rows = await manifest();
  const { attempts, resubmits } = await countedIn(directory);

  const calm = await start({});
  let last = first;
  let retries = 0;
  for (; !isOver(quirk, last, await manifest()) && retries < 5; retries += 1)
    last = await run(calm.url, '--in-doubt', 'retry', '--retry-failed');
  await calm.close();
  return {
    first,
    statuses: byStatus(rows),
    codes: tally(rows.flatMap(({ error_code = '' }) => (error_code === '' ? [] : [error_code]))),
    attempts,
    tasks: counters.tasks.made,
    repeated: counters.repeated.tasks,
    resubmits,
    modals: counters.modals,
    requests: Object.values(counters.requests)
      .flatMap((byStatuses) => Object.values(byStatuses))
      .reduce((sum, count) => sum + count, 0),
    unaccounted: unaccountedIn(rows, isStoppedByClick(quirk, first)),
    rows: comparable(await manifest()),
    retries,
    last,
  };
}

/** Whether nothing is left to be retried but what the gateway refuses for good. After twenty such refusals the run leaves them. */
const isOver = (quirk: Quirk, said: Said, rows: readonly ManifestRow[]): boolean => {
  const { refuses = {} } = quirk;
  const isStopped = isStoppedByClick(quirk, said);
  return (
    said.code === 0 ||
    ((said.code === 1 || isStopped) &&
      rows.every((row) => {
        const { status, error_code: code } = row;
        if (status === 'failed') return refuses[slotOf(row)] === code;
        return (
          status === 'done' ||
          status === 'skipped' ||
          (isStopped && status === 'pending' && slotOf(row) in refuses)
        );
      }))
  );
};

const slotOf = ({ step, branch }: ManifestRow): string => `${step}/${branch}`;

async function countedIn(directory: string): Promise<{ attempts: number; resubmits: number }> {
  const state = openStateForReading(directory);
  if (state === undefined) throw new Error(`There is no state in ${directory}`);
  let attempts = 0;
  let resubmits = 0;
  for (const status of settledStatuses)
    for await (const record of state.withStatus(status)) {
      if (record.kind === 'generate' || record.kind === 'chat') continue;
      attempts += record.attempts;
      resubmits += record.resubmits;
    }
  await state.close();
  return { attempts, resubmits };
}

/** Promises that such a run has broken: none. @param calm the rows of a run without quirks and faults */
export function brokenBy(
  quirk: Quirk,
  cells: number,
  run: QuirkRun,
  calm: readonly ManifestRow[],
): readonly string[] {
  const { attempts, tasks, repeated, resubmits, modals, unaccounted, rows, last } = run;
  // An answered modal makes a task of its own, or does not; and it is answered again after a failed task was submitted again.
  const { settings: { modalTask = 'new' } = {}, refuses = {} } = quirk;
  const isNew = modalTask === 'new';
  const paid = tasks - (isNew ? modals.answered : 0);
  const explained = resubmits * (isNew ? 2 : 1);
  const differences = rows.flatMap((row, at) => differenceOf(row, expected(calm[at] ?? {}, row, refuses)));
  const laws: readonly (readonly [boolean, string])[] = [
    [paid <= attempts, `${paid} tasks were made, and ${attempts} attempts are counted`],
    [repeated <= explained, `${repeated} tasks were made again, ${explained} for a task that failed`],
    [modals.repeated === 0, `${modals.repeated} modals were answered twice`],
    [unaccounted.length === 0, `${unaccounted.length} slots are not accounted for`],
    [isOver(quirk, last, rows), `it ends with ${last.code} after all retries:\n${last.err}`],
    [rows.length === cells * rowsOfCell, `there are ${rows.length} rows for ${cells} cells`],
    [
      differences.length === 0,
      `${differences.length} rows are not those of a run without quirks: ${differences[0]}`,
    ],
  ];
  return laws.flatMap(([holds, broken]) => (holds ? [] : [broken]));
}

/** What a row has to be: as in the calm run, or refused where its slot is. */
function expected(calm: ManifestRow, row: ManifestRow, refuses: NonNullable<Quirk['refuses']>): ManifestRow {
  const code = refuses[slotOf(calm)];
  if (code === undefined || calm['status'] !== 'done') return calm;
  const { cell = '', step = '', branch = '' } = calm;
  const left = row['status'] === 'pending' ? { status: 'pending' } : { status: 'failed', error_code: code };
  return { ...row, cell, step, branch, ...left, file_name: '' };
}

/** Tokens of answers that broke off are counted too. */
const spent = /_tokens$/;

function differenceOf(row: ManifestRow, calm: ManifestRow): readonly string[] {
  const columns = Object.keys(row).filter((name) => !spent.test(name) && row[name] !== calm[name]);
  if (columns.length === 0) return [];
  const place = `${row['cell']} ${slotOf(row)}`;
  return [columns.map((name) => `${place} ${name}: ${row[name]}, not ${calm[name]}`).join('; ')];
}

/** True where a click that the gateway refuses for good has ended the run, or closed its kind, as it does from its twentieth refusal on. */
const isStoppedByClick = ({ refuses }: Quirk, { code, err }: Said): boolean =>
  refuses !== undefined && code === 3 && /click\.never-works|route\.refused/.test(err);

/**
 * Done, skipped, failed with a code, in doubt, blocked in a cell with a failure, or waiting in a cell with a doubt, or anywhere in a
 * run that a click has ended.
 */
function unaccountedIn(rows: readonly ManifestRow[], isStopped: boolean): readonly ManifestRow[] {
  const having = (wanted: string): Set<string | undefined> =>
    new Set(rows.filter(({ status }) => status === wanted).map(({ cell }) => cell));
  const [failed, inDoubt] = [having('failed'), having('in-doubt')];
  return rows.filter(({ cell, status, error_code }) => {
    switch (status) {
      case 'done':
      case 'skipped':
        return false;
      case 'failed':
      case 'in-doubt':
        return error_code === '';
      case 'blocked':
        return !failed.has(cell);
      default:
        return !isStopped && !inDoubt.has(cell);
    }
  });
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
