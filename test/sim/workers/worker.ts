import type { TaskShare } from '../../../src/engine/limits/task-share.ts';
import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { slicesOf } from '../../../src/run/commit-writer.ts';
import type { CellBatch, Lease, RunSettings, SliceBatch } from '../../../src/run/ports.ts';
import { planForRun } from '../../../src/run/run-plan.ts';
import { type Effect, isPaid, type RunCommit, type RunInput } from '../../../src/run/scheduler/commit.ts';
import { Scheduler } from '../../../src/run/scheduler/scheduler.ts';
import type { Committed, Turn } from '../../../src/state/store.ts';
import { answered, type DrivenService } from '../../rig/driven-service.ts';
import { type FencedState, holderOf, type Request, type Unfenced } from '../../rig/fenced/fenced-state.ts';
import { WorkerView } from '../../rig/fenced/worker-view.ts';
import type { Chance } from '../chance.ts';
import { textMs, type WorkersAuditor } from './auditor.ts';
import { Orphans } from './orphans.ts';
import type { Queue } from './queue.ts';
import type { SharedRooms } from './rooms.ts';
import type { WorkersScenario } from './scenario.ts';
import type { Timeline } from './timeline.ts';

/** A rule that is broken on purpose, to see that it is noticed. */
export type WorkersMutant = Unfenced | 'holds-first' | 'left-is-closed' | 'trusts-copies';

/** What all workers of a history share. */
export interface World {
  readonly scenario: WorkersScenario;
  readonly settings: RunSettings;
  /** Number of the run. */
  readonly invocation: number;
  /** Absent: each worker has a limit of its own. */
  readonly taskSlots?: SharedRooms | undefined;
  /** Who has claimed each slice last. */
  readonly holders: Map<number, string>;
  readonly plan: Plan;
  readonly time: Timeline;
  readonly chance: Chance;
  readonly state: FencedState;
  readonly queue: Queue;
  readonly gateway: DrivenService;
  readonly auditor: WorkersAuditor;
  readonly mutant?: WorkersMutant | undefined;
  /** What the workers have counted beside the results. */
  readonly place: { highest: number };
  /** No more is killed or stopped from then on. */
  readonly calmAt: number;
  /** True while a worker has not all files that a slice needs. */
  readonly lacks: (worker: string, slice: number) => boolean;
  /** All slices are done, and nobody has anything to tell that he could not tell yet. */
  readonly isDone: () => boolean;
  /** The worker was killed; another one comes. */
  readonly onKilled: () => void;
}

/** What a worker waits for the answer to a commit. */
const answerMs = 5000;

/**
 * One worker in virtual time, in the order of things of the engine: makes what its scheduler decides durable, then carries out what
 * others do not hold of it. It can be stopped or killed between any two of these steps.
 */
export class SimWorker {
  readonly name: string;
  readonly #world: World;
  readonly #skewMs: number;
  readonly #view: WorkerView;
  readonly #scheduler: Scheduler;
  readonly #taskSlots: TaskShare | undefined;
  /** Every hold that it ever had. */
  readonly #leases: Lease[] = [];
  /** Those that have not ended. */
  readonly #kept = new Set<string>();
  /** Slices whose cells were given before what was left of them. */
  readonly #unadopted = new Set<number>();
  /** Slices of which it lacked a file. */
  readonly #lacking = new Set<number>();
  isDead = false;
  hasEnded = false;
  /** It ended because the state is older than the results. */
  isRefused = false;
  #restores: number;
  #uncounted = 0;
  #isCounting = false;
  #stoppedUntil = 0;
  #cutAt = Number.NEGATIVE_INFINITY;
  #cutUntil = 0;
  /** Holds that others know to be over. */
  readonly #silent = new Set<string>();
  #steps = 0;
  readonly #orphans: Orphans;
  #isCommitting = false;
  /** Commits that were sent, and how many of them are over. */
  #commits = 0;
  #over = 0;
  #isReading = false;
  #isLooking = false;
  #ticks = 0;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
    const { scenario, chance, settings, plan, state, invocation } = world;
    this.#taskSlots = world.taskSlots?.join();
    this.#restores = state.restores;
    this.#skewMs = chance.whole(-scenario.skewMs, scenario.skewMs, 'skew', name);
    this.#view = new WorkerView(state, () => this.#clock);
    let draws = 0;
    this.#scheduler = new Scheduler({
      settings,
      startedAt: this.#clock,
      invocation,
      random: () => chance.of('jitter', name, ++draws),
      ...planForRun(plan, {}),
      lookup: (key) => this.#lookup(key),
      redo: (key) => this.#view.redoOf(key),
      price: () => 1,
      spent: { attempts: 0, cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0 },
      others: {
        invocation,
        leaseOf: (key) => this.#view.leaseOf(key),
        read: (keys) => Promise.resolve(this.#view.read(keys)),
      },
      ...(this.#taskSlots && { shared: { taskSlots: this.#taskSlots } }),
    });
    const { queue, holders } = world;
    this.#orphans = new Orphans(
      () => queue.silent.filter((slice) => holders.get(slice) !== name).length,
      (areThere) => this.#input({ type: 'orphans', areThere }),
    );
    this.#keep();
    this.#askForRoom();
    let pauses = 0;
    const isLong = (): boolean => chance.happens(scenario.pauses, 'pause', name, ++pauses);
    this.#scheduler.handle({ type: 'tick' }, this.#clock, isLong);
    this.#turn();
  }

  /** A worker that holds a slice before it adopts what was left takes for its own and not begun what it finds there. */
  #lookup(key: string): JobRecord | undefined {
    const record = this.#view.get(key);
    const slice = this.#view.leaseOf(key)?.slice;
    if (record?.status !== 'submitting' || slice === undefined || !this.#unadopted.has(slice)) return record;
    const { submittedAt: _, ...begun } = record;
    return { ...begun, status: 'pending' };
  }

  get #clock(): number {
    return this.#world.time.now + this.#skewMs;
  }

  /** Does this worker's next step, where it is neither dead nor stopped. */
  #later(ms: number, step: () => void): void {
    const { time } = this.#world;
    time.after(ms, () => {
      if (this.isDead || this.hasEnded) return;
      if (time.now < this.#stoppedUntil) return this.#later(this.#stoppedUntil - time.now, step);
      try {
        step();
      } catch (error) {
        const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#world.auditor.breaks('nothing', `${this.name} dies of a bug: ${what}`);
        this.#kill();
      }
    });
  }

  /** Between two steps. @returns true where the worker dies or stands still here; then it does not go on by itself */
  #mishap(place: string, share = 1): boolean {
    const { scenario, time, chance, calmAt } = this.#world;
    if (time.now >= calmAt) return false;
    this.#steps += 1;
    if (chance.happens(scenario.kills * share, 'kill', place, this.name, this.#steps)) {
      this.#kill();
      return true;
    }
    if (chance.happens(scenario.stops * share, 'stop', place, this.name, this.#steps)) {
      const ms = chance.whole(scenario.leaseMs / 3, 4 * scenario.leaseMs, 'stop for', this.name, this.#steps);
      this.#stoppedUntil = time.now + ms;
      return true;
    }
    if (!this.isCut && chance.happens(scenario.cuts * share, 'cut', place, this.name, this.#steps))
      this.#cut();
    return false;
  }

  /** The state cannot be reached. */
  get isCut(): boolean {
    return this.#world.time.now < this.#cutUntil;
  }

  /** When it could be reached again last, or will be. */
  get cutUntil(): number {
    return this.#cutUntil;
  }

  #cut(): void {
    const { scenario, time, chance, state } = this.#world;
    const { leaseMs } = scenario;
    const ms = chance.whole(leaseMs / 3, 6 * leaseMs, 'cut for', this.name, this.#steps);
    this.#cutAt = time.now;
    this.#cutUntil = time.now + ms;
    this.#world.auditor.cuts += 1;
    if (ms > leaseMs) this.#world.auditor.longCuts += 1;
    time.after(2 * leaseMs, () => {
      if (this.isDead || this.hasEnded || !this.isCut) return;
      for (const lease of this.#kept) {
        state.silence(lease);
        this.#silent.add(lease);
      }
      const silent = [...this.#silent];
      // Until then it may hear of the last text call that may have left.
      time.after(textMs - leaseMs / 2, () => {
        for (const lease of silent) state.end(lease);
      });
    });
    this.#later(ms, () => {
      for (const lease of this.#leases)
        if (this.#silent.has(holderOf(lease.slice, lease.epoch))) this.#input({ type: 'lost', lease });
    });
  }

  /** Does a step that reaches for the state, as soon as it can be reached. A new connection is checked first. */
  #reach(step: () => void): void {
    const { state, place } = this.#world;
    if (this.isCut) return this.#later(this.#cutUntil - this.#world.time.now, () => this.#reach(step));
    const isNew = this.#isBehind;
    this.#restores = state.restores;
    if (!isNew || place.highest <= state.counted || this.#world.mutant === 'trusts-copies') return step();
    this.isRefused = true;
    this.#leave();
  }

  /** Submissions that it has not counted beside the results yet. */
  get uncounted(): number {
    return this.isDead ? 0 : this.#uncounted;
  }

  /** Its connections are lost, for an older copy of the state came back. */
  get #isBehind(): boolean {
    return this.#restores !== this.#world.state.restores;
  }

  /** Counts what was submitted: in the state, then beside the results, within a second. */
  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    this.#later(1000, () =>
      this.#reach(() => {
        const { state, place } = this.#world;
        const sent = this.#uncounted;
        state.counted += sent;
        const { counted } = state;
        this.#later(this.#latency('count'), () => {
          place.highest = Math.max(place.highest, counted);
          this.#uncounted -= sent;
          this.#isCounting = false;
          if (this.#uncounted > 0) this.#count();
        });
      }),
    );
  }

  /** Its machine dies, or the run is over for it. */
  kill(): void {
    if (!this.isDead && !this.hasEnded) this.#kill();
  }

  #kill(): void {
    this.#leave();
    this.#world.onKilled();
  }

  /** It ends without a word, and others find that out. */
  #leave(): void {
    const { time, chance, state, auditor } = this.#world;
    this.isDead = true;
    auditor.killed(this.name);
    auditor.uncounted += this.#uncounted;
    const holders = this.#leases.map(({ slice, epoch }) => holderOf(slice, epoch));
    time.after(chance.whole(500, 20_000, 'found dead', this.name), () => {
      for (const holder of holders) state.end(holder);
    });
  }

  #latency(what: string): number {
    this.#steps += 1;
    return this.#world.chance.whole(1, 40, what, this.name, this.#steps);
  }

  #input(input: RunInput): void {
    this.#scheduler.handle(input, this.#clock);
    this.#turn();
  }

  #turn(): void {
    if (this.#isCommitting) return;
    const commit = this.#scheduler.takeCommit();
    const { records, attempts, effects, leases, lateFacts = [], redos } = commit;
    if (records.length + attempts.length + lateFacts.length + effects.filter(isPaid).length === 0)
      return this.#onCommitted(commit, undefined);
    this.#isCommitting = true;
    this.#commits += 1;
    const turn: Turn = {
      records,
      attempts,
      lateFacts,
      ...(redos && { redos }),
      ...(leases && { slices: slicesOf(leases) }),
    };
    this.#send(commit, this.#view.request(turn));
  }

  /** A commit travels to the state, which may execute it late, twice with its repetition, or not at all. */
  #send(commit: RunCommit, request: Request): void {
    if (this.#isBehind) return this.#reach(() => this.#send(commit, request));
    const { scenario, chance, time } = this.#world;
    const fate = chance.of('fate', this.name, ++this.#steps);
    const { lostAnswers, lateCommits, failedCommits } = scenario;
    const { restores } = this.#world.state;
    const execute = (): Committed | undefined => {
      const { auditor, state } = this.#world;
      if (state.restores !== restores) return undefined;
      auditor.intends(this.name, request.turn);
      const heardBefore = auditor.asksAgain(request.turn);
      const committed = state.commit(request);
      auditor.asked(this.name, heardBefore, committed);
      auditor.committed(request.turn, committed);
      return committed;
    };
    const fail = (): void =>
      this.#later(answerMs, () => {
        this.#isCommitting = false;
        this.#view.settled(request);
        this.#over = this.#commits;
        this.#scheduler.requeue(commit);
        this.#isCommitting = true;
        this.#later(500, () => {
          this.#isCommitting = false;
          this.#turn();
        });
      });
    if (this.#mishap('before commit')) {
      // What is under way arrives all the same, or does not.
      if (chance.happens(0.5, 'arrives', this.name, this.#steps)) time.after(5, execute);
      if (!this.isDead) fail();
      return;
    }
    if (fate < failedCommits || this.isCut) return fail();
    if (fate < failedCommits + lostAnswers) {
      time.after(this.#latency('commit'), execute);
      return fail();
    }
    if (fate < failedCommits + lostAnswers + lateCommits) {
      time.after(answerMs + chance.whole(0, 30_000, 'late', this.name, this.#steps), execute);
      return fail();
    }
    time.after(this.#latency('commit'), () => {
      const committed = execute();
      if (committed === undefined) return this.isDead ? undefined : fail();
      this.#later(this.#latency('answer'), () => {
        this.#isCommitting = false;
        this.#view.settled(request);
        this.#over = this.#commits;
        this.#onCommitted(commit, committed);
      });
    });
  }

  #onCommitted(taken: RunCommit, committed: Committed | undefined): void {
    const commit = this.#scheduler.onDurable(taken, committed);
    this.#world.auditor.says(commit.events);
    for (const event of commit.events)
      if (event.type === 'job:status' && event.to === 'submitting') {
        this.#uncounted += 1;
        this.#count();
      }
    for (const event of commit.events) if (event.type === 'slice:end') this.#end(event, event.how);
    // The first leaves at once or after a stop: whatever happens then, the intents of all are durable.
    if (commit.effects.some(isPaid)) this.#mishap('before sending', 2);
    commit.effects.forEach((effect, at) => {
      this.#later(0, () => {
        if (at > 0 && isPaid(effect)) this.#mishap('within sending');
        if (!this.isDead) this.#later(0, () => this.#carryOut(effect));
      });
    });
    const { ended } = this.#scheduler;
    if (ended !== undefined) return this.#finish(ended.kind);
    if (this.#scheduler.hasDecided) this.#later(0, () => this.#turn());
    this.#wake();
    if (this.#scheduler.wantsCells && !this.#isReading) this.#read();
  }

  #finish(kind: string): void {
    if (kind !== 'complete') this.#world.auditor.breaks('nothing', `${this.name} ended: ${kind}`);
    for (const { slice, epoch } of this.#leases) this.#world.state.end(holderOf(slice, epoch));
    this.#world.taskSlots?.leave(this.name);
    this.hasEnded = true;
  }

  #carryOut(effect: Effect): void {
    const { auditor, gateway, time, scenario } = this.#world;
    const { lease } = effect.job;
    if (isPaid(effect) && lease !== undefined) {
      if (this.#silent.has(holderOf(lease.slice, lease.epoch)))
        return this.#reach(() =>
          this.#later(1, () => this.#input({ type: 'result', effect, input: unsent(effect) })),
        );
      if (this.isCut && time.now - this.#cutAt > 1.5 * scenario.leaseMs)
        return this.#reach(() => this.#carryOut(effect));
    }
    auditor.sends(this.name, effect);
    const { afterMs, input } = answered(effect, gateway, this.#view, time.now);
    auditor.sent(effect);
    this.#later(afterMs, () => {
      if (isPaid(effect) && this.#mishap('before hearing') && this.isDead) return;
      this.#later(0, () => {
        auditor.hears(this, effect, input);
        this.#input(effect.job.lease === undefined ? input : { type: 'result', effect, input });
      });
    });
  }

  #wake(): void {
    const at = this.#scheduler.nextWakeAt();
    const tick = ++this.#ticks;
    if (at !== undefined)
      this.#later(at - this.#clock, () => {
        if (tick === this.#ticks) this.#input({ type: 'tick' });
      });
    if (this.#isLooking || this.#scheduler.awaited.length === 0) return;
    this.#isLooking = true;
    this.#later(1000, () =>
      this.#reach(() => {
        this.#isLooking = false;
        this.#input({ type: 'peer-results', lateFacts: this.#view.read(this.#scheduler.awaited) });
      }),
    );
  }

  /** Takes a slice, claims it, reads what its cells ask for, and gives all of that to the scheduler in one turn. */
  #read(): void {
    this.#isReading = true;
    this.#later(this.#latency('take'), () => {
      if (this.isCut || this.#isBehind) return this.#reach(() => this.#read());
      const { queue, state, isDone } = this.#world;
      if (isDone()) return this.#give({ cells: [], last: true });
      const taken = queue.take();
      if (taken === undefined) return this.#later(500, () => this.#read());
      const { slice, cells } = taken;
      const numbers = new Set(cells.map(({ number }) => number));
      // A cell with groups may be in two slices, and is open once.
      const isOpen = this.#leases.some(
        (lease) =>
          lease.slice !== slice &&
          this.#kept.has(holderOf(lease.slice, lease.epoch)) &&
          queue.cellsOf(lease.slice).some(({ number }) => numbers.has(number)),
      );
      if (isOpen) {
        queue.giveBack(slice, 1000);
        return this.#later(1000, () => this.#read());
      }
      if (this.#lacking.has(slice) && this.#world.lacks(this.name, slice)) {
        queue.giveBack(slice, 1000);
        return this.#later(1000, () => this.#read());
      }
      const { epoch } = state.claim(slice);
      this.#world.holders.set(slice, this.name);
      this.#orphans.onTaken();
      for (const lease of this.#leases)
        if (lease.slice === slice && this.#kept.has(holderOf(slice, lease.epoch)))
          this.#input({ type: 'lost', lease });
      this.#leases.push({ slice, epoch });
      this.#kept.add(holderOf(slice, epoch));
      this.#mishap('after claim');
      this.#later(this.#latency('claim'), () => {
        this.#settled(this.#commits, () => this.#reach(() => this.#load({ slice, epoch }, cells)));
      });
    });
  }

  /** Goes on once this commit is over: what it says is shown, and may never be written. */
  #settled(commit: number, then: () => void): void {
    if (this.#over >= commit) then();
    else this.#later(5, () => this.#settled(commit, then));
  }

  #load({ slice, epoch }: Lease, cells: readonly Cell[]): void {
    const { state, mutant } = this.#world;
    this.#prefetch(cells, new Set(), () => {
      if (this.isCut || this.#isBehind) return this.#reach(() => this.#load({ slice, epoch }, cells));
      const isLacking = this.#world.lacks(this.name, slice);
      if (isLacking) this.#lacking.add(slice);
      if (isLacking || this.#silent.has(holderOf(slice, epoch))) {
        this.#end({ slice, epoch }, 'waits');
        return this.#read();
      }
      // Read last: what the former holder had decided is in it.
      const left = state.left(slice);
      this.#view.read(left.map(({ record }) => record.key));
      const of: SliceBatch = { slice, epoch, left, isWhole: true };
      if (mutant !== 'holds-first') return this.#give({ cells, of, last: false });
      this.#unadopted.add(slice);
      this.#input({ type: 'cells', cells, of: { slice, epoch, isWhole: false }, last: false });
      this.#later(300, () => {
        this.#unadopted.delete(slice);
        this.#give({ cells: [], of, last: false });
      });
    });
  }

  #give(batch: CellBatch): void {
    this.#isReading = false;
    this.#input({ type: 'cells', ...batch });
  }

  /** Reads the records that cells ask for, until they ask for none that was not read. */
  #prefetch(cells: readonly Cell[], known: ReadonlySet<string>, done: () => void): void {
    const keys = new Set<string>();
    for (const cell of cells)
      this.#world.plan.resolve(cell, (key) => {
        keys.add(key);
        return this.#view.get(key);
      });
    if ([...keys].every((key) => known.has(key))) return done();
    this.#later(this.#latency('read'), () =>
      this.#reach(() => {
        this.#view.read(keys);
        this.#prefetch(cells, new Set([...known, ...keys]), done);
      }),
    );
  }

  #end({ slice, epoch }: Lease, how: 'closed' | 'waits' | 'lost'): void {
    const { queue, state, mutant } = this.#world;
    this.#kept.delete(holderOf(slice, epoch));
    this.#later(this.#latency('end'), () =>
      this.#reach(() => {
        if (state.epochOf(slice) === epoch && how !== 'lost') {
          if (how === 'closed' || mutant === 'left-is-closed') queue.done(slice);
          else queue.giveBack(slice, 1000);
        }
        state.end(holderOf(slice, epoch));
      }),
    );
  }

  /** Asks for room for tasks, again and again. */
  #askForRoom(): void {
    const { taskSlots } = this.#world;
    if (taskSlots === undefined || this.#taskSlots === undefined) return;
    if (this.isCut) return this.#reach(() => this.#askForRoom());
    this.#taskSlots.noteSlices(this.#kept.size);
    const onAnswer = taskSlots.ask(this.name, this.#taskSlots);
    this.#later(this.#latency('room'), () => {
      if (onAnswer()) this.#input({ type: 'refilled' });
      this.#later(1000, () => this.#askForRoom());
    });
  }

  /** Keeps the slices that it holds, and finds those that it has lost. */
  #keep(): void {
    const { queue, state, scenario } = this.#world;
    this.#later(scenario.leaseMs / 3, () => {
      if (this.isCut || this.#isBehind) return this.#reach(() => this.#keep());
      for (const lease of this.#leases) {
        if (!this.#kept.has(holderOf(lease.slice, lease.epoch))) continue;
        if (state.epochOf(lease.slice) === lease.epoch) queue.keep(lease.slice);
        else this.#input({ type: 'lost', lease });
      }
      this.#orphans.count(this.#kept.size);
      this.#keep();
    });
  }
}

/** A paid request that never left: its session was over. */
function unsent({ job: { record }, send }: Effect): RunInput {
  const error = { code: 'connection.aborted', class: 'unsent', message: 'It never left.' } as const;
  return send.kind === 'ask'
    ? { type: 'asked', key: record.key, result: { kind: 'refused', error } }
    : { type: 'submitted', key: record.key, result: { ok: false, error } };
}
