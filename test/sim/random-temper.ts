import type { StepKind } from '../../src/pipeline/pipeline.ts';
import type { Route } from '../../src/run/events.ts';
import {
  type AskFault,
  askFaults,
  type FetchFault,
  fetchFaults,
  type MaskFault,
  maskFaults,
  type SaveFault,
  type Spell,
  type SubmitFault,
  saveFaults,
  spells,
  submitFaults,
} from '../rig/gateway/faults.ts';
import type { FailedEnd, MadeTask, TaskEnd } from '../rig/gateway/made-tasks.ts';
import { noTaskWords, unknownStatuses } from '../rig/gateway/task-answers.ts';
import type { Temper } from '../rig/gateway/temper.ts';
import type { ModelUsage } from '../rig/gateway/text-model.ts';
import { Chance } from './chance.ts';
import { lasting, passing } from './ends.ts';
import type { Scenario } from './scenario.ts';

/** Routes on which the same can happen. */
const families: Readonly<Partial<Record<string, string>>> = {
  modal: 'submit',
  list: 'fetch',
  'task list': 'fetch',
};

/** A proxy compares with the click's time when the modal comes (gateway 4.6). */
const modalMs = 3_600_000;

/** How often a gateway asks for what it shows of a task, twice: once it may fail (gateway 3.5). */
const refreshMs = 30_000;

/** So many tasks a gateway lists that lists its newest ones alone. */
const newestListed = 8;

/** What lists are made of: few, so that many have the same in them, in another order and twice. */
const scenes = ['a storm', 'a calm', 'a fog', 'a wreck', 'a whale', 'a gull'] as const;

/** Which of four images the model of this seed finds best. */
export const bestOf = (chance: Chance, key: string): number => chance.whole(1, 4, 'best', key);

/** The troubles that a scenario has in store for a run. Healed, it has none. */
export class RandomTemper implements Temper {
  healed = false;
  /** Starts of the command until now. */
  starts = 0;
  /** How often each kind of trouble came about. */
  readonly met = new Map<string, number>();
  readonly #scenario: Scenario;
  readonly #chance: Chance;
  #wasOut = false;

  readonly #listed: (key: string) => readonly string[] | undefined;

  /** @param listed what a job has listed that lists the same again; undefined: any list */
  constructor(scenario: Scenario, listed: (key: string) => readonly string[] | undefined = () => undefined) {
    this.#scenario = scenario;
    this.#listed = listed;
    this.#chance = new Chance(scenario.seed);
  }

  meet(trouble: string): void {
    this.met.set(trouble, (this.met.get(trouble) ?? 0) + 1);
  }

  /** A job that it never accepts, or whose task it does not report. */
  isOutcast(key: string): boolean {
    return this.#isBarred(key) || this.#isHidden(key);
  }

  #isBarred(key: string): boolean {
    return !this.healed && this.#scenario.barred !== undefined && this.#chance.happens(0.15, 'barred', key);
  }

  #isHidden(key: string): boolean {
    return !this.healed && this.#scenario.hidden !== undefined && this.#chance.happens(0.15, 'hidden', key);
  }

  /** What all requests of a kind are answered for now. */
  #spell(kind: StepKind): Spell | undefined {
    const { spell } = this.#scenario;
    if (this.healed || spell === undefined || spell.of !== kind || this.starts > spell.starts)
      return undefined;
    this.meet(`spell:${spell.by}`);
    return spell.by;
  }

  #outageFault(of: 'submit' | 'text', n: number): '503' | '400' | undefined {
    const { outage } = this.#scenario;
    if (this.healed || outage?.route !== of || n < outage.from) return undefined;
    const wasOut = this.#wasOut;
    this.#wasOut = n <= outage.to;
    return this.#wasOut ? '503' : wasOut ? '400' : undefined;
  }

  #fault<K extends SubmitFault | MaskFault | FetchFault | SaveFault | AskFault>(
    kinds: readonly K[],
    rates: Readonly<Partial<Record<K, number>>>,
    route: string,
    n: number,
  ): K | undefined {
    if (this.healed || n <= (this.#scenario.calm ?? 0)) return undefined;
    const drawn = kinds.filter(
      (kind) => rates[kind] !== undefined && this.#chance.happens(rates[kind], route, kind, n),
    );
    const fault = drawn.length > 1 ? this.#chance.pick(drawn, route, 'which', n) : drawn[0];
    if (fault !== undefined) this.meet(`${families[route] ?? route}:${fault}`);
    return fault;
  }

  submitFault(
    route: 'submit' | 'modal',
    key: string,
    n: number,
    load: () => number,
    kind: StepKind,
  ): SubmitFault | undefined {
    const { barred, capacity = Infinity, submit } = this.#scenario;
    const spell = route === 'submit' ? this.#spell(kind) : undefined;
    if (spell !== undefined) return spell;
    const drawn = this.#fault(submitFaults, submit, route, n);
    if (route === 'modal') return drawn;
    const out = this.#outageFault('submit', n);
    if (out !== undefined) return out;
    const isFull = !this.healed && capacity < Infinity && load() >= capacity;
    const fault = (this.#isBarred(key) ? barred : undefined) ?? drawn ?? (isFull ? 'code-23' : undefined);
    if (fault === 'code-23' && drawn === undefined) this.meet('submit:code-23');
    return fault;
  }

  maskFault(n: number): MaskFault | undefined {
    return this.#fault(maskFaults, this.#scenario.mask, 'mask', n);
  }

  fetchFault(route: 'fetch' | 'list' | 'task list', n: number, reported?: string): FetchFault | undefined {
    if (reported !== undefined && this.#isHidden(reported)) return this.#scenario.hidden;
    return this.#fault(fetchFaults, this.#scenario.fetch, route, n);
  }

  saveFault(n: number): SaveFault | undefined {
    return this.#fault(saveFaults, this.#scenario.save, 'save', n);
  }

  askFault(key: string, n: number, kind: StepKind): AskFault | undefined {
    const spell = this.#spell(kind);
    if (spell !== undefined) return spells[spell];
    const out = this.#outageFault('text', n);
    return this.#isBarred(key) ? '429' : (out ?? this.#fault(askFaults, this.#scenario.ask, 'ask', n));
  }

  latencyMs(route: Route, n: number): number {
    return route === 'text'
      ? this.#chance.whole(200, 40_000, 'thinking', n)
      : this.#chance.whole(20, 2000, 'latency', n);
  }

  durationMs(_key: string, name: string): number {
    return this.#chance.whole(500, 90_000, 'duration', name);
  }

  end(_key: string, name: string): TaskEnd {
    if (this.healed) return 'success';
    let left = this.#chance.of('end', name);
    for (const [end, share] of Object.entries(this.#scenario.ends)) {
      left -= share;
      if (left >= 0) continue;
      this.meet(`end:${end}`);
      return end as TaskEnd;
    }
    return 'success';
  }

  failure({ id, end }: MadeTask): FailedEnd {
    return this.#chance.pick(end === 'transient' ? passing : lasting, 'reason', id);
  }

  failedBefore(id: string): 'transient' | 'permanent' {
    return this.#chance.pick(['transient', 'permanent'] as const, 'existing end', id);
  }

  isWindowless(key: string, count: number): boolean {
    return !this.healed && this.#chance.happens(this.#scenario.windowless ?? 0, 'windowless', key, count);
  }

  opensAtOnce(n: number): boolean {
    return this.#chance.happens(0.5, 'modal at once', n);
  }

  queued(n: number): number {
    return n % 3;
  }

  isModalOver(
    how: 'refused' | 'failed' | 'gone' | 'begun in vain',
    { id, at }: MadeTask,
    now: number,
  ): boolean {
    if (this.healed) return false;
    const { modalLife } = this.#scenario;
    const isOld = now - at > modalMs;
    if (how === 'gone') return isOld && this.#chance.happens(0.3, 'modal gone', id);
    return (how === 'begun in vain' && isOld) || (modalLife?.how === how && now - at > modalLife.ms);
  }

  keepsId(key: string): boolean {
    return this.#chance.happens(0.5, 'same task', key);
  }

  lingersUntil(name: string, now: number, endsAt: number): number | undefined {
    const { lingers } = this.#scenario;
    if (lingers === 'no') return undefined;
    return lingers === 'work' ? endsAt : now + this.#chance.whole(0, refreshMs, 'refresh', name);
  }

  repeatsId(name: string): boolean {
    return (
      !this.healed && this.#scenario.collides !== undefined && this.#chance.happens(0.4, 'same id', name)
    );
  }

  tellsOf(): 'state' | 'nothing' {
    return this.#scenario.collides ?? 'nothing';
  }

  isUnknownYet(ageMs: number): boolean {
    return !this.healed && this.#scenario.lag && ageMs >= 0 && ageMs < 3000;
  }

  noTaskWord(id: string): (typeof noTaskWords)[number] {
    return this.#chance.pick(noTaskWords, 'no task', id);
  }

  workingStatus(id: string): string {
    const words = ['IN_PROGRESS', 'IN_PROGRESS', 'SUBMITTED', 'NOT_START', '', 'QUEUED'] as const;
    return this.#chance.pick(words, 'stands at', id);
  }

  workingProgress(): string {
    return '46%';
  }

  unknownStatus(n: number): string {
    return this.#chance.pick(unknownStatuses, 'word', n);
  }

  resultLagMs(id: string): number {
    return this.#scenario.resultsLag && !this.healed ? this.#chance.whole(0, 45_000, 'result', id) : 0;
  }

  customIdAge(now: number): string | undefined {
    const { buttonLifeMs } = this.#scenario;
    return buttonLifeMs === undefined || this.healed ? undefined : String(Math.floor(now / buttonLifeMs));
  }

  refusesLists(): boolean {
    return this.#scenario.listing === 'refused';
  }

  listedRow(id: string, n: number): 'plain' | 'missing' | 'stale' | 'strange' {
    if (this.#scenario.listing !== 'odd' || this.healed) return 'plain';
    const kind = this.#chance.pick(['plain', 'plain', 'missing', 'stale', 'strange'] as const, 'row', id, n);
    if (kind !== 'plain') this.meet(`row:${kind}`);
    return kind;
  }

  isStaleFirst(id: string, n: number): boolean {
    return this.#chance.happens(0.5, 'stale first', id, n);
  }

  hasTaskList(): boolean {
    const { taskList } = this.#scenario;
    if (taskList !== undefined) this.meet(`task list:${taskList}`);
    return taskList !== 'none';
  }

  get maxListed(): number {
    return this.#scenario.taskList === 'newest' ? newestListed : Number.POSITIVE_INFINITY;
  }

  taskListRow(
    { id, key, at }: MadeTask,
    now: number,
    n: number,
  ): { readonly state: string | null } | undefined {
    const { taskList } = this.#scenario;
    if (taskList === 'lags' && now - at < 120_000) return undefined;
    if (taskList === 'misses' && this.#chance.happens(0.4, 'missing', id, n)) return undefined;
    const isBare = taskList === 'untagged' && this.#chance.happens(0.4, 'untagged', id);
    return { state: isBare ? null : key };
  }

  usage(n: number): ModelUsage {
    return {
      prompt: this.#chance.whole(10, 2000, 'prompt', n),
      candidates: this.#chance.whole(1, 3000, 'candidates', n),
      thoughts: this.#chance.whole(0, 500, 'thoughts', n),
    };
  }

  rounds(key: string): number {
    return this.#chance.whole(0, 3, 'rounds', key);
  }

  best(key: string): number {
    return bestOf(this.#chance, key);
  }

  scenes(key: string, n: number): readonly string[] {
    return (
      this.#listed(key) ??
      Array.from({ length: this.#chance.whole(0, 5, 'scenes', n) }, (_, at) =>
        this.#chance.pick(scenes, 'scene', n, at),
      )
    );
  }

  isFenced(key: string): boolean {
    return this.#chance.happens(0.3, 'fence', key);
  }
}
