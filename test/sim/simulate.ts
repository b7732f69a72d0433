import { findTasks } from '../../src/cli/find-tasks.ts';
import { manifestHeader, rowFields } from '../../src/manifest/columns.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Rate } from '../../src/pipeline/pipeline.ts';
import type { Cell } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { become } from '../../src/run/job.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import type { StateStore } from '../../src/state/store.ts';
import { type Driven, drive } from '../rig/drive.ts';
import { type Fault, faultyStore } from '../rig/faulty-store.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/plan.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { Auditor, priceOfTask, pricesOfTasks } from './auditor.ts';
import { Chance } from './chance.ts';
import { Gateway } from './gateway.ts';
import { pipelineOf } from './kinds.ts';
import { calmed, type Invocation, type Scenario } from './scenario.ts';
import { bestOf } from './text-model.ts';
import { Violation } from './violation.ts';

/** A rule that is broken on purpose, to see that it is noticed. */
export type Mutant = 'sends-first' | 'forgets-modals';

export interface Outcome {
  /** What was broken; undefined: nothing. */
  readonly violation?: string;
  readonly submits: number;
  readonly inDoubt: number;
  /** How often each kind of trouble came about. */
  readonly met: ReadonlyMap<string, number>;
}

const epoch = 1_700_000_000_000;
/** Starts of the command that a healed service may need until everything is done. */
const healingRuns = 12;
const never = new AbortController().signal;
/** No run lasts longer than this in virtual time: patience and deadlines end it. */
const longestRunMs = 14 * 86_400_000;

const plans = new Map<string, Promise<{ readonly plan: Plan; readonly cells: readonly Cell[] }>>();

function planFor(
  { cells, path, kinds }: Scenario,
  unkept = false,
): Promise<{ readonly plan: Plan; readonly cells: readonly Cell[] }> {
  const text = pipelineOf(cells, path, kinds, unkept);
  const known = plans.get(text) ?? planOf(text);
  plans.set(text, known);
  return known;
}

/** Plays one history to its end, then heals the service and sees whether everything comes out as if nothing had been. */
export async function simulate(scenario: Scenario, mutant?: Mutant): Promise<Outcome> {
  const { plan, cells } = await planFor(scenario);
  const unkept = await planFor(scenario, true);
  const store = memoryStore();
  const gateway = new Gateway(scenario);
  const auditor = new Auditor(scenario, store, gateway);
  let now = epoch;
  let submits = 0;
  let inDoubt = 0;

  const start = async (invocation: Invocation, settings: RunSettings, n: number): Promise<Driven> => {
    now += invocation.gapMs;
    if (invocation.inDoubt === 'find') {
      const service = { listTasks: () => Promise.resolve(gateway.listAll(now)) };
      await findTasks(store, service, pricesOfTasks, () => now, never);
    }
    const records = [...allRecords(store)];
    const redo = redone(scenario, invocation, n, records);
    const asked = invocation.unkept ? unkept.plan : plan;
    const planned = cells.slice(0, invocation.cells);
    auditor.begin(invocation, records, redo, (key) =>
      planned.some((cell) =>
        asked.resolve(cell, (other) => store.get(other)).some(({ job }) => job?.key === key),
      ),
    );
    const { death, disk, drainAfterMs } = invocation;
    const faulty = disk === undefined ? store : faultyStore(store, diskFaults(disk));
    const chance = new Chance(scenario.seed);
    let draws = 0;
    const driven = drive({
      cells: planned,
      resolve: (cell, lookup) => asked.resolve(cell, lookup),
      settings: redo.length > 0 ? { ...settings, redo } : settings,
      store: watched(mutant === 'forgets-modals' ? forgetful(faulty) : faulty, (records) =>
        auditor.committed(records),
      ),
      service: gateway,
      price: priceOfTask,
      random: () => chance.of('jitter', n, ++draws),
      startAt: now,
      commitMs: scenario.commitMs,
      onErrand: (errand, at) => auditor.sends(errand, at),
      onHeard: (input, at) => {
        if (at - now > longestRunMs) throw new Violation('The run does not end.');
        auditor.hears(input, at);
      },
      onTurn: (held) => auditor.holds(held),
      ...(death && { dies: (turn, place) => turn === death.turn && place === death.place }),
      ...(drainAfterMs !== undefined && { drainAt: now + drainAfterMs }),
      ...(mutant === 'sends-first' && { sendsFirst: true }),
    });
    now = driven.endedAt;
    submits += driven.submits;
    auditor.checkCounted();
    // One commit that fails is tried once more at the least.
    if (driven.end !== undefined && (disk === undefined || disk.commits === 1)) auditor.checkHeard();
    return driven;
  };

  try {
    for (const [n, invocation] of scenario.invocations.entries()) {
      await start(invocation, settingsOf(scenario, invocation), n);
      await checkManifest(invocation.unkept ? unkept.plan : plan, cells, store);
    }
    inDoubt = [...store.withStatus('in-doubt')].length;
    gateway.healed = true;
    const word: Invocation = { gapMs: 3_600_000, retryFailed: true, inDoubt: 'retry' };
    const { budget: _, tokenBudget: _tokens, costBudget: _cost, ...unlimited } = scenario;
    for (let n = 0; unfinished(plan, cells, store) > 0; n++) {
      if (n === healingRuns)
        throw new Violation(
          `${unfinished(plan, cells, store)} slots are not done after ${n} runs against a healthy service`,
        );
      await start(word, settingsOf(unlimited, word), 1000 + n);
    }
    await checkResults(scenario, plan, cells, store, gateway);
    return { submits, inDoubt, met: gateway.met };
  } catch (error) {
    const violation =
      error instanceof Error
        ? `${error.message}${error instanceof Violation ? '' : `\n${error.stack ?? ''}`}`
        : String(error);
    return { violation, submits, inDoubt, met: gateway.met };
  }
}

/** The commits that fail; without a number, that one and all after it. */
const diskFaults = ({ commit, code, commits }: NonNullable<Invocation['disk']>): readonly Fault[] =>
  commits === undefined
    ? [{ at: commit, fault: code, lasting: true }]
    : Array.from({ length: commits }, (_, n) => ({ at: commit + n, fault: code }));

/**
 * Plays one run of a history in which the gateway does nothing wrong but never takes some jobs, or never tells of some tasks.
 *
 * @returns what was broken: it does not end, or leaves undone what has nothing to do with them
 */
export async function simulateOutcasts(drawn: Scenario): Promise<string | undefined> {
  // A button that is outdated by the time it is pressed fails where a request has a single try.
  const {
    budget: _,
    tokenBudget: _tokens,
    costBudget: _cost,
    capacity: _capacity,
    buttonLifeMs: _life,
    ...unlimited
  } = drawn;
  const scenario: Scenario = {
    ...calmed(unlimited),
    // Where no more is held than outcasts, nobody can tell them from an outage.
    limits: {
      ...drawn.limits,
      tasks: Math.max(3, drawn.limits.tasks),
      requests: Math.max(16, drawn.limits.requests),
    },
    barred: 'code-3-account',
    hidden: '500',
    ...(drawn.barred && { barred: drawn.barred }),
    ...(drawn.hidden && { hidden: drawn.hidden }),
  };
  const { plan, cells } = await planFor(scenario);
  const store = memoryStore();
  const gateway = new Gateway(scenario);
  const chance = new Chance(scenario.seed);
  let draws = 0;
  const { end, endedAt } = drive({
    cells,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    settings: settingsOf(scenario, { gapMs: 0, retryFailed: false, inDoubt: 'hold' }),
    store,
    service: gateway,
    random: () => chance.of('jitter', ++draws),
    startAt: epoch,
  });
  if (endedAt - epoch > 86_400_000) return `The run lasted until ${endedAt}.`;
  for (const cell of cells)
    for (const { step, branch, status, ready, job, record } of plan.resolve(cell, (key) => store.get(key))) {
      const isLeft = status === 'blocked' || (status === 'pending' && !ready);
      const isDone = status === 'done' || status === 'skipped' || isLeft;
      // Buttons without a window are another matter.
      const isOwn = record?.error?.code === 'modal.not-opened';
      const needs = [job?.key, job?.parent].filter((key) => key !== undefined);
      if (!isDone && !isOwn && !needs.some((key) => gateway.isOutcast(key)))
        return `${end?.kind}: ${step} ${branch.join('/')} of cell ${cell.number} is ${status} (${record?.error?.code}), and nobody keeps it from being done.`;
    }
  return undefined;
}

/** A store that does not know of modals: a run that it is given presses again. */
const forgetful = (store: StateStore): StateStore => {
  const forget = (record: JobRecord): JobRecord =>
    record.modal === undefined || record.status === 'done'
      ? record
      : become(record, 'pending', { modal: undefined });
  return {
    ...store,
    get: (key) => {
      const record = store.get(key);
      return record === undefined ? undefined : forget(record);
    },
    unfinished: () => store.unfinished().filter(({ modal }) => modal === undefined),
  };
};

/** A store that says when a turn is durable. */
const watched = (store: StateStore, committed: (records: readonly JobRecord[]) => void): StateStore => ({
  ...store,
  commit: (turn) => {
    store.commit(turn);
    committed(turn.records);
  },
});

/** Keys of what an invocation is told to make anew. */
function redone(
  { seed }: Scenario,
  { redo = 0 }: Invocation,
  n: number,
  records: readonly JobRecord[],
): readonly string[] {
  const chance = new Chance(seed);
  return records
    .filter(({ status, key }) => status === 'done' && chance.happens(redo, 'redo', n, key))
    .map(({ key }) => key);
}

const perMinute = (count: number | undefined): Rate | undefined =>
  count === undefined ? undefined : { count, perMs: 60_000 };

function settingsOf(
  { limits, retry, budget, tokenBudget, costBudget, listing }: Scenario,
  { retryFailed, inDoubt }: Invocation,
): RunSettings {
  const { tasks, requests, submitPerMinute, textPerMinute, tokensPerMinute } = limits;
  const rates = {
    submit: perMinute(submitPerMinute),
    text: perMinute(textPerMinute),
    tokens: perMinute(tokensPerMinute),
  };
  return virtualSettings({
    limits: {
      tasks,
      requests,
      ...(Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined)) as Readonly<
        Record<string, Rate>
      >),
    },
    retry: { ...retry, baseMs: 1000, capMs: 60_000, patienceMs: 3_600_000, permanent: [], transient: [] },
    budget: {
      ...(budget === undefined ? {} : { submits: budget }),
      ...(costBudget === undefined ? {} : { cost: costBudget }),
      ...(tokenBudget === undefined ? {} : { tokens: tokenBudget }),
    },
    inDoubt: inDoubt === 'find' ? 'hold' : inDoubt,
    poll: { minMs: 1000, maxMs: 15_000, list: listing !== 'off' },
    ...(retryFailed && { retryFailed: {} }),
  });
}

function* allRecords(store: StateStore): Generator<ReturnType<StateStore['unfinished']>[number]> {
  for (const status of [
    'pending',
    'submitting',
    'running',
    'modal',
    'saving',
    'done',
    'failed',
    'in-doubt',
  ] as const)
    yield* store.withStatus(status);
}

function unfinished(plan: Plan, cells: readonly Cell[], store: StateStore): number {
  let count = 0;
  for (const cell of cells)
    for (const { status, error } of plan.resolve(cell, (key) => store.get(key))) {
      // A button that is not there stays not there, however healthy the service.
      const hopeless = error?.code === 'button.missing' || status === 'blocked';
      if (status !== 'done' && status !== 'skipped' && !hopeless) count += 1;
    }
  return count;
}

/** The manifest accounts for every planned slot, exactly once. */
async function checkManifest(plan: Plan, cells: readonly Cell[], store: StateStore): Promise<void> {
  const planned = cells.flatMap((cell) =>
    plan
      .resolve(cell, (key) => store.get(key))
      .map((slot) => `${slot.cell} ${slot.step} ${slot.branch.join('/')} ${slot.status}`),
  );
  const listed: string[] = [];
  // A row for each file, and one at least.
  for await (const { slot, firstOfSlot } of manifestRows(plan, {}, store))
    if (firstOfSlot) listed.push(`${slot.cell} ${slot.step} ${slot.branch.join('/')} ${slot.status}`);
  if (listed.join('\n') !== planned.join('\n'))
    throw new Violation('The manifest does not list what is planned.');
}

/** The columns in which two histories of one plan differ: times, ids, counts of tries. */
const ofOneHistory = new Set([
  'image_url',
  'task_id',
  'parent_task_id',
  'custom_id',
  'attempts',
  'cost',
  'prompt_tokens',
  'candidates_tokens',
  'thoughts_tokens',
  'total_tokens',
  'submitted_at',
  'finished_at',
  'request_id',
  'error_message',
]);

async function resultsOf(plan: Plan, store: StateStore): Promise<string> {
  const { variables } = plan.matrix;
  const header = manifestHeader(variables);
  const lines: string[] = [];
  for await (const row of manifestRows(plan, {}, store))
    lines.push(
      rowFields(row, variables)
        .filter((_, at) => !ofOneHistory.has(header[at] ?? ''))
        .join(','),
    );
  return lines.join('\n');
}

/** The same final manifest as without faults. */
async function checkResults(
  scenario: Scenario,
  plan: Plan,
  cells: readonly Cell[],
  store: StateStore,
  { tasks }: Pick<Gateway, 'tasks'>,
): Promise<void> {
  const calm = calmed(scenario);
  const calmStore = memoryStore();
  const gateway = new Gateway(calm);
  gateway.healed = true;
  const { budget: _, tokenBudget: _tokens, costBudget: _cost, ...unlimited } = calm;
  drive({
    cells,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    settings: settingsOf(unlimited, { gapMs: 0, retryFailed: false, inDoubt: 'hold' }),
    store: calmStore,
    service: gateway,
    random: () => 0.5,
    startAt: epoch,
  });
  checkPressed(scenario, plan, cells, store);
  checkAnswered(store, tasks);
  const [expected, got] = [await resultsOf(plan, calmStore), await resultsOf(plan, store)];
  if (expected !== got) {
    const at = expected.split('\n').findIndex((line, n) => line !== got.split('\n')[n]);
    throw new Violation(
      `The manifest differs from that of a calm run, in row ${at + 1}:\n${expected.split('\n')[at]}\n${got.split('\n')[at]}`,
    );
  }
}

/** What is done was made with the mask, and the zoom, that its pipeline says. */
function checkAnswered(store: StateStore, tasks: Gateway['tasks']): void {
  for (const { key, request, pressed, taskId = '' } of store.withStatus('done')) {
    const asks = request.kind === 'click' && (request.mask !== undefined || pressed?.label === 'Custom Zoom');
    if (asks && tasks.get(taskId)?.isAnswered !== true)
      throw new Violation(`${key} is done without what its modal was to be answered with.`);
  }
}

/** The pressed button is the one that the judge named. */
function checkPressed({ seed }: Scenario, plan: Plan, cells: readonly Cell[], store: StateStore): void {
  const chance = new Chance(seed);
  for (const cell of cells) {
    const slots = plan.resolve(cell, (key) => store.get(key));
    const judge = slots.find(({ step }) => step === 'pick')?.record;
    const pressed = slots.find(({ step }) => step === 'best')?.record?.pressed;
    if (judge !== undefined && pressed?.label !== `U${bestOf(chance, judge.key)}`)
      throw new Violation(`The judge of cell ${cell.number} is not obeyed: ${pressed?.label} is pressed.`);
  }
}
