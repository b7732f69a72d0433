import { cpSync, existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { localRunner } from '../../src/app/local.ts';
import { Redactor } from '../../src/app/output/redact.ts';
import { safeIo } from '../../src/app/output/safe-io.ts';
import { type Progress, ProgressModel } from '../../src/app/progress/model.ts';
import { openRun, runOpened } from '../../src/app/run.ts';
import { readArguments } from '../../src/cli/args/flags.ts';
import { runFlags } from '../../src/cli/args/run-flags.ts';
import { isTextKind } from '../../src/pipeline/kinds.ts';
import type { PlanReport } from '../../src/plan/estimate/report.ts';
import { type JobRecord, jobStatuses, knownCost } from '../../src/plan/job.ts';
import type { ListedRun } from '../../src/report/facts/json-outputs.generated.ts';
import type { PageSummary } from '../../src/report/results/wire.ts';
import type { RunStatus } from '../../src/report/text/status/status.ts';
import type { RunSummary } from '../../src/report/text/summary.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { openStateForReading } from '../../src/state/state.ts';
import { promptpress, testIo } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type ParsedMetric, parseExposition, valueOf } from '../rig/exposition.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { readReport } from '../rig/report.ts';
import { Served } from '../rig/served.ts';
import { seededRandom } from '../rig/virtual-run.ts';

/** `LEDGER_SEEDS=5,6` plays others. */
const seeds = (process.env['LEDGER_SEEDS'] ?? '1,2,4,26').split(',').map(Number);
const rounds = 3;
const directory = 'runs/ledger';

let service: FakeService;
beforeAll(async () => {
  service = await startFakeService({ apiKey: 'sk-ledger', log: false });
});
afterAll(() => service.close());

type Random = () => number;
const chance = (random: Random, share: number): boolean => random() < share;
const oneOf = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** What an edit changes. */
interface Draft {
  animals: number;
  grid: number;
  say: number;
  path: string;
}

/** A grid with clicks, an optional one among them; an image that all cells share; a text, and one that needs it. */
const textOf = ({ animals, grid, say, path }: Draft): string => `name: ledger
service: { id: ledger }
limits: { tasks: 3, requests: 3 }
retry: { attempts: 1, base: 1ms, cap: 2ms, resubmits: 0, patience: 200ms }
poll: { min: 1ms, max: 4ms }
prices: { imagine: 1, click: 0.5, text-pro: { input: 1000, output: 2000 } }
matrix: { animal: [${['fox', 'owl', 'hare', 'newt'].slice(0, animals).join(', ')}] }
steps:
  grid: { imagine: "{{ animal }} ${grid}", path: "${path}" }
  same: { imagine: a lake }
  say: { generate: { model: text-pro, prompt: "{{ animal }} ${say}" } }
  tell: { generate: { model: text-pro, prompt: "Of {{ steps.say.text }}" } }
`;

const newDraft = (random: Random): Draft => ({
  animals: 2 + Math.floor(random() * 3),
  grid: 1,
  say: 1,
  path: oneOf(random, ['U1', 'U1,U2', 'Nope?, U1', 'U1 → Upscale (Subtle)']),
});

function edited(draft: Draft, random: Random): Draft {
  const kind = random();
  if (kind < 0.25) return { ...draft, grid: draft.grid + 1 };
  if (kind < 0.5) return { ...draft, say: draft.say + 1 };
  if (kind < 0.75) return { ...draft, animals: 2 + Math.floor(random() * 3) };
  return { ...draft, path: oneOf(random, ['U1', 'U2,U3', 'Nope?, U1']) };
}

/** What goes wrong while a run is on. */
function trouble(random: Random): () => void {
  const at = () => ({ skip: Math.floor(random() * 4), times: 1 + Math.floor(random() * 2) });
  const faults = [
    () => service.fault('submit', { reset: 'after' }, at()),
    () => service.fault('submit', { status: 400, body: { error: 'no' } }, at()),
    () => service.fault('submit', { code: 24, description: 'banned' }, at()),
    () => service.fault('generate', { status: 400, body: { error: { message: 'no' } } }, at()),
    () => service.fault('generate', { reset: 'after' }, at()),
    () => service.fault('image', { status: 404 }, at()),
  ].filter(() => chance(random, 0.3));
  const set = faults.map((fault) => fault());
  return () => {
    for (const fault of set) fault.remove();
  };
}

/** Selects, and what the last run left is tried again. */
function drawFlags(random: Random, jobs: readonly JobRecord[]): readonly string[] {
  const job = jobs.length === 0 ? undefined : oneOf(random, jobs).key;
  const failed = jobs.find(({ status }) => status === 'failed');
  const flags = [
    ['--retry-failed'],
    ...(failed?.error === undefined ? [] : [['--retry-failed', '--code', failed.error.code]]),
    ['--in-doubt', 'retry'],
    ['--max-submits', String(1 + Math.floor(random() * 4))],
    ['--fail-fast'],
    ['--filter', 'animal=fox'],
    ['--limit', '1'],
    ['--only', 'say'],
    ...(job === undefined ? [] : [['--redo', job]]),
  ];
  const first = oneOf(random, flags);
  const second = oneOf(random, flags);
  if (chance(random, 0.3)) return [];
  return first[0] === second[0] || chance(random, 0.5) ? first : [...first, ...second];
}

const selecting = ['--filter', '--limit', '--only'];
const selectionIn = (flags: readonly string[]): readonly string[] =>
  flags.flatMap((flag, index) => (selecting.includes(flag) ? [flag, flags[index + 1] ?? ''] : []));

/** Whether flags choose a row, told anew here. @param limit the cell that `--limit 1` leaves; undefined: it is not looked at */
const isChosen = (
  row: Readonly<Record<string, string>>,
  flags: readonly string[],
  limit: number | undefined,
): boolean =>
  (!flags.includes('--filter') || row['var.animal'] === 'fox') &&
  (!flags.includes('--only') || row['step'] === 'say') &&
  (!flags.includes('--limit') || limit === undefined || Number(row['cell']) === limit);

interface Ran {
  readonly summary: RunSummary | undefined;
  readonly progress: Progress | undefined;
  readonly metrics: ReadonlyMap<string, ParsedMetric> | undefined;
}

/** One run, which may be stopped or killed at one of its events. */
async function run(
  cwd: string,
  flags: readonly string[],
  end: { readonly how: 'stop' | 'kill'; readonly after: number } | undefined,
): Promise<Ran> {
  const test = testIo({ cwd, env: env() });
  let model: ProgressModel | undefined;
  let left = end?.after ?? Number.POSITIVE_INFINITY;
  const at = join(cwd, directory);
  const listener = (event: RunEvent): void => {
    model?.take(event, Date.now());
    left -= 1;
    if (left !== 0) return;
    if (end?.how === 'kill') {
      const kept = (path: string) => !/^(?:lock|lock\.json|state\.lock|state\.db-shm)$/.test(basename(path));
      cpSync(at, `${at}-killed`, { recursive: true, preserveTimestamps: true, filter: kept });
      test.interrupt();
    }
    test.interrupt();
  };
  const redactor = new Redactor();
  const context = {
    io: safeIo(test.io, redactor),
    redactor,
    showProgress: (_: unknown, start: ConstructorParameters<typeof ProgressModel>[0]) => {
      model = new ProgressModel(start, Date.now());
      return { listener, say: () => {}, end: () => {} };
    },
  };
  const args = ['ledger.yaml', '--no-progress', '--metrics-file', 'm.prom', ...flags];
  const values = readArguments(runFlags, args).flags as Parameters<typeof runOpened>[1];
  const opened = await openRun('ledger.yaml', values, context);
  const output = { onWork: () => {}, warn: () => {}, tell: () => {} };
  const summary = await runOpened(opened, values, context, output, localRunner);
  if (existsSync(`${at}-killed`)) {
    await rm(at, { recursive: true });
    await rename(`${at}-killed`, at);
    return { summary: undefined, progress: undefined, metrics: undefined };
  }
  const metrics = parseExposition(await readFile(join(cwd, 'm.prom'), 'utf8'));
  return { summary, progress: model?.progress(Date.now()), metrics };
}

const env = () => ({ PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'sk-ledger' });

async function json<T>(cwd: string, ...args: readonly string[]): Promise<T> {
  const { out, err } = await promptpress([...args, '--json'], { cwd, env: env() });
  if (out === '') throw new Error(err);
  return JSON.parse(out) as T;
}

async function recordsIn(cwd: string): Promise<readonly JobRecord[]> {
  const state = openStateForReading(join(cwd, directory));
  const records: JobRecord[] = [];
  for (const status of jobStatuses)
    for await (const record of state?.withStatus(status) ?? []) records.push(record);
  await state?.close();
  return records;
}

const sum = <T>(all: readonly T[], of: (one: T) => number | undefined): number =>
  Number(all.reduce((total, one) => total + (of(one) ?? 0), 0).toFixed(6));
const count = <T>(all: readonly T[], holds: (one: T) => boolean): number => all.filter(holds).length;

/** What the records of the state add up to, reckoned here by itself. */
function sumsOf(records: readonly JobRecord[], hasOptional = false) {
  const isLost = ({ status, modal }: JobRecord): boolean => status === 'submitting' && modal === undefined;
  const left = count(records, (record) => isLost(record) && !isTextKind(record.kind));
  const isSkipped = ({ error }: JobRecord): boolean => hasOptional && error?.code === 'button.missing';
  const jobs = Object.fromEntries(
    jobStatuses.map((status) => [status, count(records, (r) => r.status === status)]),
  );
  const skipped = count(records, isSkipped);
  return {
    done: jobs['done'] ?? 0,
    failed: (jobs['failed'] ?? 0) - skipped,
    inDoubt: (jobs['in-doubt'] ?? 0) + left,
    skipped,
    submits: sum(records, ({ attempts }) => attempts),
    cost: sum(records, knownCost),
    possibleCost: sum(
      records,
      (r) => (r.doubtful?.cost ?? 0) + (r.assumed?.cost ?? 0) + (isLost(r) ? (r.reserve?.cost ?? 0) : 0),
    ),
    tokens: sum(records, ({ usage }) => usage?.total),
    assumedTokens: sum(
      records,
      (r) =>
        (r.doubtful?.tokens ?? 0) + (r.assumed?.tokens ?? 0) + (isLost(r) ? (r.reserve?.tokens ?? 0) : 0),
    ),
    unanswered: sum(records, (r) => (r.doubtful?.count ?? 0) + (isLost(r) ? 1 : 0)),
    open: count(records, (r) => !['done', 'failed', 'in-doubt'].includes(r.status)) - left,
  };
}
type Sums = ReturnType<typeof sumsOf>;

const byStatus = (statuses: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const withoutZeros = (counts: object): object =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0));

/** What a command says of the directory, and what its records say, under the same names. */
const pick = (of: Sums, ...names: readonly (keyof Sums)[]) =>
  Object.fromEntries(names.map((name) => [name, of[name]]));

/** Every figure that is said of the directory after a run, with what it has to be. */
async function figures(
  cwd: string,
  before: Sums,
  { summary, progress, metrics }: Ran,
  flags: readonly string[],
  hasOptional: boolean,
): Promise<readonly (readonly [what: string, said: unknown, due: unknown])[]> {
  const records = await recordsIn(cwd);
  const now = sumsOf(records, hasOptional);
  const status = await json<RunStatus>(cwd, 'status', 'ledger.yaml');
  const [listed] = (await json<{ runs: readonly ListedRun[] }>(cwd, 'ls', 'runs')).runs;
  const plan = await json<PlanReport>(cwd, 'plan', 'ledger.yaml', ...selectionIn(flags));
  const reported = await promptpress(['report', 'ledger.yaml', '--to', 'page'], { cwd, env: env() });
  expect(reported.code, reported.err).toBe(0);
  const page = readReport(join(cwd, 'page'));
  const served = await Served.open(cwd, 'ledger.yaml');
  const isCounted = ({ results, indexed, steps }: PageSummary): boolean =>
    results > 0 && indexed === results && sum(steps, (step) => step.results) === results;
  const live = await served.until(isCounted);
  await served.end();
  if (summary === undefined) await promptpress(['manifest', 'ledger.yaml'], { cwd, env: env() });
  const rows = await readManifest(join(cwd, directory, 'manifest.csv'));
  const optional = ({ cost = 0, possibleCost = 0, assumedTokens = 0, unanswered = 0 }) => ({
    cost,
    possibleCost,
    assumedTokens,
    unanswered,
  });
  const sums = ['cost', 'possibleCost', 'assumedTokens', 'unanswered'] as const;
  const { totals } = page.summary;
  const found: (readonly [string, unknown, unknown])[] = [
    [
      'status',
      {
        ...optional(status),
        done: status.jobs.done,
        failed: status.jobs.failed,
        skipped: status.jobs.skipped,
        inDoubt: status.doubts,
        submits: status.submits,
        tokens: status.tokens,
      },
      pick(now, ...sums, 'done', 'failed', 'skipped', 'inDoubt', 'submits', 'tokens'),
    ],
    [
      'status by step',
      {
        jobs: sum(status.steps, ({ jobs }) => jobs),
        done: sum(status.steps, ({ done }) => done),
        submits: sum(status.steps, ({ submits }) => submits),
        tokens: sum(status.steps, ({ tokens }) => tokens),
        ...Object.fromEntries(sums.map((name) => [name, sum(status.steps, (step) => step[name])])),
      },
      { jobs: records.length, ...pick(now, 'done', 'submits', 'tokens', ...sums) },
    ],
    [
      'status reasons',
      sum(status.reasons, (reason) => reason.count),
      now.failed + (status.jobs['in-doubt'] ?? 0),
    ],
    [
      'ls',
      {
        done: listed?.jobs.done,
        failed: listed?.jobs.failed,
        skipped: listed?.jobs.skipped,
        inDoubt: listed?.jobs.inDoubt,
        submits: listed?.submits,
        tokens: listed?.tokens,
        cost: listed?.cost ?? 0,
        possibleCost: listed?.possibleCost ?? 0,
      },
      pick(now, 'done', 'failed', 'skipped', 'inDoubt', 'submits', 'tokens', 'cost', 'possibleCost'),
    ],
    [
      'plan state',
      {
        submits: plan.state?.attempts,
        cost: plan.state?.cost,
        possibleCost: plan.state?.possibleCost,
        tokens: plan.state?.tokens,
      },
      { ...pick(now, 'submits', 'cost', 'possibleCost'), tokens: now.tokens + now.assumedTokens },
    ],
    [
      'page totals',
      {
        submits: totals.submissions,
        cost: totals.cost ?? 0,
        possibleCost: totals.possibleCost ?? 0,
        tokens: totals.tokens,
      },
      pick(now, 'submits', 'cost', 'possibleCost', 'tokens'),
    ],
    ['serve totals', live.totals, totals],
    ['serve statuses', live.statuses, page.summary.statuses],
    ['serve planned', live.planned, status.planned],
    ['page planned', page.summary.planned, status.planned],
    ['page statuses', page.summary.statuses, byStatus(rows.map((row) => row['status'] ?? ''))],
    ['page results', page.summary.results, rows.length],
    [
      'page failures',
      sum(page.summary.failures, ({ results }) => results),
      count(rows, (row) => row['status'] === 'failed' || row['status'] === 'in-doubt'),
    ],
  ];
  const planned = ({ total = 0, settled = 0 } = {}): object => ({ total, settled });
  found.push(['ls planned', listed?.planned, status.planned]);
  if (summary === undefined) {
    const { total = 0, settled = 0, percent } = status.planned ?? {};
    found.push(
      ['planned of a killed run', total, plan.total.slots],
      ['settled of a killed run', total >= settled, true],
      ['percent of a killed run', percent, Math.floor((100 * settled) / total)],
    );
    return found;
  }
  const slots = Object.values(summary.slots ?? {}).reduce((all, one) => all + one, 0);
  const { pending = 0, submitting = 0, running = 0, modal = 0, saving = 0 } = summary.slots ?? {};
  const left = pending + submitting + running + modal + saving;
  found.push(['planned', planned(status.planned), { total: slots, settled: slots - left }]);
  const spent = {
    cost: summary.cost ?? 0,
    possibleCost: summary.possibleCost ?? 0,
    assumedTokens: summary.assumedTokens ?? 0,
    tokens: summary.allTokens ?? 0,
    submits: summary.submits,
    runCost: summary.runCost ?? 0,
  };
  const runCost = Number(Math.max(0, now.cost - before.cost).toFixed(6));
  const record = JSON.parse(await readFile(join(cwd, directory, 'run.json'), 'utf8')) as RunSummary;
  found.push(
    [
      'summary',
      spent,
      {
        ...pick(now, 'cost', 'possibleCost', 'assumedTokens', 'tokens'),
        submits: now.submits - before.submits,
        runCost,
      },
    ],
    [
      'run.json',
      { cost: record.cost ?? 0, possibleCost: record.possibleCost ?? 0, submits: record.submits },
      { ...pick(now, 'cost', 'possibleCost'), submits: now.submits - before.submits },
    ],
    ['run.json slots', record.slots, summary.slots],
    ['status slots', status.slots, summary.slots],
    ['summary rows', summary.rows, rows.length],
    ['summary files', summary.files, count(rows, (row) => row['file_name'] !== '')],
    ['summary tokens', summary.tokens?.total ?? 0, sum(rows, (row) => Number(row['total_tokens'] ?? 0))],
    [
      'summary reasons',
      sum(summary.reasons, (reason) => reason.count),
      (summary.slots?.failed ?? 0) + (summary.slots?.['in-doubt'] ?? 0),
    ],
    [
      'metrics',
      {
        submits: metrics && valueOf(metrics, 'promptpress_submissions'),
        cost: metrics && valueOf(metrics, 'promptpress_cost'),
        possibleCost: metrics && valueOf(metrics, 'promptpress_possible_cost'),
        inDoubt: metrics && valueOf(metrics, 'promptpress_jobs_in_doubt'),
      },
      { ...pick(now, 'submits', 'cost', 'possibleCost', 'inDoubt') },
    ],
  );
  const firsts = new Map<string, string>();
  const animals = new Set(rows.filter((row) => isChosen(row, flags, undefined)).map((row) => row['cell']));
  const [first] = [...animals].map(Number).sort((a, b) => a - b);
  for (const row of rows) {
    const slot = [row['cell'], row['step'], row['branch']].join('/');
    if (!firsts.has(slot) && isChosen(row, flags, first)) firsts.set(slot, row['status'] ?? '');
  }
  found.push(['summary slots', withoutZeros(summary.slots ?? {}), byStatus([...firsts.values()])]);
  if (progress === undefined) return found;
  for (const step of plan.steps) {
    const shown = progress.steps.find(({ name }) => name === step.step);
    const due = {
      done: step.done,
      failed: step.failed + step.invalid,
      inDoubt: step.inDoubt,
      skipped: step.skipped,
      blocked: step.blocked,
    };
    const { done, failed, inDoubt, skipped, blocked } = shown ?? {};
    found.push([`progress of ${step.step}`, { done, failed, inDoubt, skipped, blocked }, due]);
    const measured = (name: string): number | undefined =>
      metrics && valueOf(metrics, 'promptpress_jobs', { step: step.step, status: name });
    found.push([
      `metrics of ${step.step}`,
      {
        done: measured('done'),
        failed: measured('failed'),
        inDoubt: measured('in-doubt'),
        skipped: measured('skipped'),
        blocked: measured('blocked'),
      },
      due,
    ]);
  }
  found.push(
    ['progress cost', Number((progress.cost ?? 0).toFixed(6)), runCost],
    ['progress tokens', progress.tokens?.total ?? 0, now.tokens - before.tokens],
    [
      'metrics tokens',
      ['prompt', 'candidates', 'thoughts', 'tool', 'other'].reduce(
        (all, kind) => all + ((metrics && valueOf(metrics, 'promptpress_tokens_total', { kind })) ?? 0),
        0,
      ),
      now.tokens - before.tokens,
    ],
  );
  return found;
}

it.each(seeds)(
  'every figure of a directory agrees with its records, seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    let draft = newDraft(random);
    const history: string[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1 && chance(random, 0.5)) draft = edited(draft, random);
      await writeFile(join(cwd, 'ledger.yaml'), textOf(draft));
      const records = round === 1 ? [] : await recordsIn(cwd);
      const drawn = drawFlags(random, records);
      const calm = chance(random, 0.3) ? () => {} : trouble(random);
      const how = oneOf(random, ['stop', 'kill', undefined, undefined] as const);
      const end = how && { how, after: 1 + Math.floor(random() * 40) };
      // A run that is stopped before it comes to what its flags have made again has counted that as made again.
      const flags = how === 'stop' ? selectionIn(drawn) : drawn;
      history.push(JSON.stringify({ round, draft, flags, end }));
      const ran = await run(cwd, flags, end);
      calm();
      for (const [what, said, due] of await figures(
        cwd,
        sumsOf(records),
        ran,
        flags,
        draft.path.includes('?'),
      ))
        expect.soft(said, `${what}, seed ${seed}\n${history.join('\n')}`).toEqual(due);
    }
  },
  60_000,
);
