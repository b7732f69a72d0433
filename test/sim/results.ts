import { manifestHeader, rowFields } from '../../src/manifest/columns.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Cell } from '../../src/plan/cell.ts';
import { lacksSeed } from '../../src/plan/graph/frames.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { planForRun } from '../../src/run/run-plan.ts';
import { drive } from '../rig/drive.ts';
import { Gateway, seedOf } from '../rig/gateway/gateway.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { Chance } from './chance.ts';
import { epoch, settingsOf } from './outset.ts';
import { bestOf, RandomTemper } from './random-temper.ts';
import { calmed, type Scenario, unlimited } from './scenario.ts';
import { BrokenPromise } from './violation.ts';

/** Keys of the jobs that these cells ask for. An item that is in no list any more asks for none. */
export const keysAsked = (plan: Plan, cells: readonly Cell[], store: MemoryStore): ReadonlySet<string> =>
  new Set(
    cells.flatMap((cell) => plan.resolve(cell, (key) => store.get(key)).flatMap(({ job }) => job?.key ?? [])),
  );

/** How many slots of these cells are not done, or came from what was made again since, and could be. */
export function unfinished(plan: Plan, cells: readonly Cell[], store: MemoryStore): number {
  let count = 0;
  for (const cell of cells)
    for (const { status, error, outdated } of plan.resolve(cell, (key) => store.get(key))) {
      // A button that is not there stays not there, however healthy the service.
      const unfixable = error?.code === 'button.missing' || status === 'blocked';
      if ((status !== 'done' && status !== 'skipped' && !unfixable) || outdated) count += 1;
    }
  return count;
}

/** The manifest accounts for every planned slot, exactly once. */
export async function checkManifest(plan: Plan, cells: readonly Cell[], store: MemoryStore): Promise<void> {
  const planned = cells.flatMap((cell) =>
    plan
      .resolve(cell, (key) => store.get(key))
      .map((slot) => `${slot.cell} ${slot.step} ${slot.branch.join('/')} ${slot.status}`),
  );
  const listed: string[] = [];
  // A row for each file, and one at least.
  for await (const { slot, firstOfSlot } of manifestRows(plan, {}, store.reader))
    if (firstOfSlot) listed.push(`${slot.cell} ${slot.step} ${slot.branch.join('/')} ${slot.status}`);
  if (listed.join('\n') !== planned.join('\n'))
    throw new BrokenPromise('The manifest does not list what is planned.');
}

/** What was made is right: the same final manifest as without faults, by the buttons and the modals that were asked for. */
export async function checkResults(
  scenario: Scenario,
  plan: Plan,
  cells: readonly Cell[],
  store: MemoryStore,
  { tasks }: Pick<Gateway, 'tasks'>,
): Promise<void> {
  const calm = calmed(scenario);
  const calmStore = memoryStore();
  const temper = new RandomTemper(calm, (key) => listOf(store.get(key)));
  temper.healed = true;
  drive({
    cells,
    resolve: (cell, lookup, isOwn) => plan.resolve(cell, lookup, isOwn),
    gathers: planForRun(plan, {}).gathers,
    settings: settingsOf(unlimited(calm), { gapMs: 0, retryFailed: false, inDoubt: 'hold' }),
    store: calmStore,
    service: new Gateway(temper),
    random: () => 0.5,
    startAt: epoch,
  });
  checkPressed(scenario, plan, cells, store);
  checkConfirmed(store, tasks);
  checkSeeds(scenario, store, tasks);
  const [expected, got] = [await resultsOf(plan, calmStore), await resultsOf(plan, store)];
  if (expected !== got) {
    const at = expected.split('\n').findIndex((line, n) => line !== got.split('\n')[n]);
    throw new BrokenPromise(
      `The manifest differs from that of a calm run, in row ${at + 1}:\n${expected.split('\n')[at]}\n${got.split('\n')[at]}`,
    );
  }
}

/** The list of scenes that a job has answered. */
function listOf(record: JobRecord | undefined): readonly string[] | undefined {
  const [answer] = record?.text?.candidates ?? [];
  if (answer?.isJson !== true) return undefined;
  return (JSON.parse(answer.read?.json ?? answer.text) as { readonly scenes?: readonly string[] }).scenes;
}

/** What is done was made with the mask, and the zoom, that its pipeline says. */
function checkConfirmed(store: MemoryStore, tasks: Gateway['tasks']): void {
  for (const { key, request, pressed, taskId = '' } of store.withStatus('done')) {
    const asks = request.kind === 'click' && (request.mask !== undefined || pressed?.label === 'Custom Zoom');
    if (asks && tasks.get(taskId)?.isAnswered !== true)
      throw new BrokenPromise(`${key} is done without what its modal was to be answered with.`);
  }
}

/** A grid whose seed is wanted has the one of its task, or none where the reads failed, and was asked for it. */
function checkSeeds({ collides }: Scenario, store: MemoryStore, tasks: Gateway['tasks']): void {
  for (const record of store.withStatus('done')) {
    const { key, taskId = '', result, seed: isWanted } = record;
    if (isWanted && lacksSeed(record))
      throw new BrokenPromise(`${key} is done and was not asked for its seed.`);
    const own = tasks.get(taskId)?.key ?? '';
    if (result?.seed && !collides && result.seed !== seedOf(own))
      throw new BrokenPromise(`${key} has the seed ${result.seed} of another task than its own.`);
  }
}

/** The pressed button is the one that the judge named. */
function checkPressed({ seed }: Scenario, plan: Plan, cells: readonly Cell[], store: MemoryStore): void {
  const chance = new Chance(seed);
  for (const cell of cells) {
    const slots = plan.resolve(cell, (key) => store.get(key));
    const judge = slots.find(({ step }) => step === 'pick')?.record;
    const pressed = slots.find(({ step }) => step === 'best')?.record?.pressed;
    if (judge !== undefined && pressed?.label !== `U${bestOf(chance, judge.key)}`)
      throw new BrokenPromise(
        `The judge of cell ${cell.number} is not obeyed: ${pressed?.label} is pressed.`,
      );
  }
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
  'seed',
]);

async function resultsOf(plan: Plan, store: MemoryStore): Promise<string> {
  const { variables } = plan.matrix;
  const header = manifestHeader(variables);
  const lines: string[] = [];
  for await (const row of manifestRows(plan, {}, store.reader))
    lines.push(
      rowFields(row, variables)
        .filter((_, at) => !ofOneHistory.has(header[at] ?? ''))
        .join(','),
    );
  return lines.join('\n');
}
