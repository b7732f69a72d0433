import type { Cell } from '../../../../src/plan/cell.ts';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { Plan } from '../../../../src/plan/plan.ts';
import { slicesOf } from '../../../../src/run/commit-writer.ts';
import type { RunEvent } from '../../../../src/run/events.ts';
import type { Lease, LeftRecord, RunSettings, SharedLimits, SliceBatch } from '../../../../src/run/ports.ts';
import { planForRun } from '../../../../src/run/run-plan.ts';
import type { Effect, RunCommit, RunInput } from '../../../../src/run/scheduler/commit.ts';
import { Scheduler } from '../../../../src/run/scheduler/scheduler.ts';
import type { SubmitResult } from '../../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../../src/service/result.ts';
import type { Committed } from '../../../../src/state/store.ts';
import { answered } from '../../../rig/driven-service.ts';
import { FencedState, holderOf, type Request } from '../../../rig/fenced/fenced-state.ts';
import { WorkerView } from '../../../rig/fenced/worker-view.ts';
import { ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { epoch } from '../../../rig/jobs.ts';
import { planOf } from '../../../rig/plan.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

/** Three cells that ask for the same job, and nothing else. */
export const oneJob = `name: t
matrix: { turn: { from: 1, to: 3 } }
steps: { grid: { imagine: "a picture" } }
`;

/** A group whose last cell has no job of its own. */
export const oneGroup = `name: t
matrix: { turn: { from: 1, to: 3 } }
steps:
  grid: { imagine: "a picture", when: turn < 3 }
  all: { gather: { step: grid, over: [turn] }, imagine: all }
`;

/** Workers on one state, of which each test decides who does what when. */
export interface SlicesRig {
  readonly state: FencedState;
  readonly cells: readonly Cell[];
  /** Key of the first job of the first cell. */
  readonly key: string;
  readonly record: () => JobRecord | undefined;
  /** @param shared limits that it shares with others */
  readonly worker: (shared?: SharedLimits, changes?: Partial<RunSettings>) => TestWorker;
}

export async function slicesRig(text: string = oneJob): Promise<SlicesRig> {
  const { plan, cells } = await planOf(text);
  const state = new FencedState();
  const key = (cells[0] && plan.resolve(cells[0], () => undefined)[0]?.job?.key) ?? '';
  return {
    state,
    cells,
    key,
    record: () => state.rows.get(key)?.record,
    worker: (shared, changes) => new TestWorker(state, plan, shared, changes),
  };
}

/** A slice that was claimed, and what it was left with. */
export type Claimed = SliceBatch & { readonly left: readonly LeftRecord[] };

/** A worker that takes no step by itself. */
export class TestWorker {
  readonly view: WorkerView;
  readonly scheduler: Scheduler;
  readonly #state: FencedState;
  now = epoch;

  constructor(state: FencedState, plan: Plan, shared?: SharedLimits, changes?: Partial<RunSettings>) {
    this.#state = state;
    this.view = new WorkerView(state);
    this.scheduler = new Scheduler({
      settings: virtualSettings(changes),
      startedAt: epoch,
      invocation: 1,
      random: () => 0.5,
      ...planForRun(plan, {}),
      lookup: (key) => this.view.get(key),
      redo: (key) => this.view.redoOf(key),
      price: () => undefined,
      spent: { attempts: 0, cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0 },
      others: {
        invocation: 1,
        leaseOf: (key) => this.view.leaseOf(key),
        read: (keys) => Promise.resolve(this.view.read(keys)),
      },
      ...(shared && { shared }),
    });
  }

  /** Claims a slice, and reads these records and those that it was left with. Nothing of it reaches the scheduler. */
  claim(slice: number, ...keys: readonly string[]): Claimed {
    const { epoch: claimed, left } = this.#state.claim(slice);
    this.view.read([...keys, ...left.map(({ record }) => record.key)]);
    return { slice, epoch: claimed, left, isWhole: true };
  }

  input(input: RunInput): void {
    this.scheduler.handle(input, this.now);
  }

  give(of: SliceBatch, ...cells: readonly (Cell | undefined)[]): void {
    this.input({
      type: 'cells',
      cells: cells.flatMap((cell) => (cell === undefined ? [] : [cell])),
      of,
      last: false,
    });
  }

  /** Takes a slice with these cells, in one go. */
  begin(slice: number, ...cells: readonly (Cell | undefined)[]): Lease {
    const { left, ...lease } = this.claim(slice);
    this.give({ ...lease, left }, ...cells);
    return { slice, epoch: lease.epoch };
  }

  /** Looks at the records of others that its cells wait for, once this time has passed. */
  look(afterMs = 1000): void {
    this.now += afterMs;
    this.input({ type: 'peer-results', lateFacts: this.view.read(this.scheduler.awaited) });
  }

  /** What was decided, on its way to the state. */
  take(): { readonly commit: RunCommit; readonly request: Request } {
    const commit = this.scheduler.takeCommit();
    const { records, attempts, leases, lateFacts = [], redos } = commit;
    const more = { ...(redos && { redos }), ...(leases && { slices: slicesOf(leases) }) };
    return { commit, request: this.view.request({ records, attempts, lateFacts, ...more }) };
  }

  /** The answer of the state has come. @returns what may leave */
  answered({ commit, request }: ReturnType<TestWorker['take']>, committed: Committed): RunCommit {
    this.view.settled(request);
    return this.scheduler.onDurable(commit, committed);
  }

  /** Commits what was decided. @returns what may leave */
  commit(): RunCommit {
    const taken = this.take();
    return this.answered(taken, this.#state.commit(taken.request));
  }

  /** Commits until nothing is decided any more. @returns all that may leave, in order */
  commitAll(): Pick<RunCommit, 'effects' | 'events'> {
    const effects: Effect[] = [];
    const events: RunEvent[] = [];
    do {
      const commit = this.commit();
      effects.push(...commit.effects);
      events.push(...commit.events);
    } while (this.scheduler.hasDecided);
    return { effects, events };
  }

  /** The service has answered a submission. */
  hears(effect: Effect, value: SubmitResult = { kind: 'accepted', taskId: '7', code: 1 }): void {
    const { key } = effect.job.record;
    const input: RunInput = { type: 'submitted', key, result: { ok: true, value } };
    this.input({ type: 'result', effect, input });
  }

  /** The service has answered a request, or refused it. */
  answers(effect: Effect, error?: ServiceFailure): void {
    const { job, send } = effect;
    const { key } = job.record;
    const input: RunInput =
      error === undefined
        ? answered(effect, new ScriptedGateway(), this.view, this.now).input
        : send.kind === 'ask'
          ? { type: 'asked', key, result: { kind: 'refused', error } }
          : { type: 'submitted', key, result: { ok: false, error } };
    this.input({ type: 'result', effect, input });
  }

  /** Carries out what leaves, and all that follows from it, until nothing is to be done at this moment or later. @returns the events */
  finish(gateway: ScriptedGateway): readonly RunEvent[] {
    const events: RunEvent[] = [];
    for (;;) {
      const { effects, events: more } = this.commitAll();
      events.push(...more);
      const wakeAt = this.scheduler.nextWakeAt();
      if (effects.length === 0 && wakeAt === undefined) return events;
      if (effects.length === 0) this.now = Math.max(this.now, wakeAt ?? 0);
      if (effects.length === 0) this.input({ type: 'tick' });
      for (const effect of effects) {
        const { input, afterMs } = this.carryOut(effect, gateway);
        this.now += afterMs;
        this.input(input);
      }
    }
  }

  carryOut(effect: Effect, gateway: ScriptedGateway): { readonly input: RunInput; readonly afterMs: number } {
    const { input, afterMs } = answered(effect, gateway, this.view, this.now);
    return { input: effect.job.lease === undefined ? input : { type: 'result', effect, input }, afterMs };
  }

  /** It is gone, and others know that. */
  dies(...leases: readonly Lease[]): void {
    for (const { slice, epoch: held } of leases) this.#state.end(holderOf(slice, held));
  }
}

/** The submissions among effects. */
export const submits = ({ effects }: Pick<RunCommit, 'effects'>): readonly Effect[] =>
  effects.filter(({ send }) => send.kind === 'submit');

/** The text calls among effects. */
export const asks = ({ effects }: Pick<RunCommit, 'effects'>): readonly Effect[] =>
  effects.filter(({ send }) => send.kind === 'ask');

/** The only submission among effects. */
export const onlySubmit = (commit: Pick<RunCommit, 'effects'>): Effect => only(submits(commit));

/** The only text call among effects. */
export const onlyAsk = (commit: Pick<RunCommit, 'effects'>): Effect => only(asks(commit));

function only([effect, ...more]: readonly Effect[]): Effect {
  if (effect === undefined || more.length > 0)
    throw new Error(`${more.length + Number(!!effect)} requests were sent.`);
  return effect;
}

/** How slices ended, in order. */
export const endsOf = ({ events }: Pick<RunCommit, 'events'>): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'slice:end' ? [`${event.slice}/${event.epoch} ${event.how}`] : [],
  );

/** Lets workers work at the same time until there is nothing more to do. @returns the events */
export function finishTogether(
  workers: readonly TestWorker[],
  gateway: ScriptedGateway,
): readonly RunEvent[] {
  const events: RunEvent[] = [];
  let arrivals: { readonly at: number; readonly worker: TestWorker; readonly input: RunInput }[] = [];
  for (let now = Math.max(...workers.map((worker) => worker.now)); ; ) {
    for (const worker of workers) {
      worker.now = now;
      const { effects, events: more } = worker.commitAll();
      events.push(...more);
      for (const effect of effects) {
        const { input, afterMs } = worker.carryOut(effect, gateway);
        arrivals.push({ at: now + afterMs, worker, input });
      }
    }
    const wakes = workers.flatMap(({ scheduler }) => scheduler.nextWakeAt() ?? []);
    if (arrivals.length + wakes.length === 0) return events;
    now = Math.max(now, Math.min(...arrivals.map(({ at }) => at), ...wakes));
    for (const worker of workers) {
      worker.now = now;
      worker.input({ type: 'tick' });
    }
    for (const { worker, input } of arrivals.filter(({ at }) => at <= now)) worker.input(input);
    arrivals = arrivals.filter(({ at }) => at > now);
  }
}
