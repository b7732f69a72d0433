import type { SaveAnswer, SaveFailure } from '../../src/artifacts/writer.ts';
import type { Button, JobRecord } from '../../src/plan/job.ts';
import type { AskAnswer } from '../../src/run/job.ts';
import type { Answer, Task } from '../../src/service/answer.ts';
import { readTask } from '../../src/service/task.ts';
import { readTaskList } from '../../src/service/task-list.ts';
import type { DrivenService, Heard, Submitted } from '../rig/drive.ts';
import { gridButtons, upscaledButtons, wantsModal } from '../rig/fake-task.ts';
import { Chance } from './chance.ts';
import { type FailedEnd, lasting, passing } from './ends.ts';
import {
  type AskFault,
  askFaults,
  type FetchFault,
  fetchFaults,
  fileFailures,
  maskFaults,
  type SubmitFault,
  saveFailures,
  saveFaults,
  submitFaults,
} from './faults.ts';
import { facts, replyOf } from './reply.ts';
import type { Scenario } from './scenario.ts';
import { answerTo } from './submit-answers.ts';
import { lookFailure, noTask, noTaskWords, oddRow, type Row, unknownStatuses } from './task-answers.ts';
import { carryOutAsk } from './text-gateway.ts';

/** `lost`: the service has no such task any more once it would end. `linkless`: it ends, and nothing links to what it made. */
type End = 'success' | keyof Scenario['ends'];

interface SimTask {
  readonly id: string;
  readonly at: number;
  readonly endsAt: number;
  readonly end: End;
  /** Where it fails for a reason of its own. */
  readonly why?: FailedEnd;
  readonly buttons: readonly Button[];
  readonly key: string;
  /** What its end brings beside the image. */
  readonly brings: { readonly videos?: number; readonly prompts?: true };
  /** It waits for its modal. */
  readonly waits: boolean;
  /** It goes on from a modal that was answered. */
  readonly isAnswered?: true;
  /** It shows MODAL until then, although its modal is answered (protocol.md, fact 4). */
  readonly lingersUntil?: number;
}

/** A proxy compares with the click's time when the modal comes (protocol.md 3). */
const modalMs = 3_600_000;

const tooLate: FailedEnd = { status: 'FAILURE', failReason: '任务提交超时' };

/** How often a gateway asks for what it shows of a task, twice: once it may fail (protocol.md 2.2). */
const refreshMs = 30_000;

/** How long a request that is never answered is waited for. */
export const requestMs = 60_000;
/** How long a text call that is never answered is waited for. */
export const textMs = 600_000;

/** Routes on which the same can happen. */
const families: Readonly<Partial<Record<string, string>>> = { modal: 'submit', list: 'fetch' };

const outdated = {
  ok: true,
  value: { kind: 'refused', code: 4, message: 'customId is outdated' },
} as const satisfies Submitted;

/**
 * The model of a gateway: what it was asked, the tasks it made, and what it says, in bytes that the real client's
 * readers judge. It lies as protocol.md says that gateways do. Healed, it tells nothing but the truth.
 */
export class Gateway implements DrivenService {
  healed = false;
  readonly tasks = new Map<string, SimTask>();
  /** Tasks made for each job. */
  readonly made = new Map<string, number>();
  /** Modals that arrived, by job, since its last click. */
  readonly answered = new Map<string, number>();
  /** How often each kind of trouble came about. */
  readonly met = new Map<string, number>();
  readonly #scenario: Scenario;
  readonly #chance: Chance;
  /** Tasks of which it has told that they are finished. */
  readonly #told = new Set<string>();
  #requests = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#chance = new Chance(scenario.seed);
  }

  submit(record: JobRecord, parentTaskId: string | undefined, now: number): Heard<Submitted> {
    const { pressed } = record;
    if (pressed !== undefined) {
      const parent = this.tasks.get(parentTaskId ?? '');
      const [named, age] = pressed.customId.split('~');
      if (parent?.buttons.every(({ customId }) => customId !== named) ?? true)
        throw new Error(
          `Violation: ${record.key} presses ${pressed.customId}, which task ${parentTaskId} does not offer.`,
        );
      if (age !== this.#ageAt(now)) return { answer: outdated, afterMs: 100 };
    }
    return this.#take('submit', record, now, () => this.#make(record, now));
  }

  modal(record: JobRecord, now: number): Heard<Submitted> {
    const open = this.tasks.get(record.modal?.taskId ?? '');
    if (open?.key !== record.key)
      throw new Error(`Violation: ${record.key} answers a modal that is not its own.`);
    if (open.waits && (this.#isOver(open, now, 'refused') || this.#isOver(open, now, 'failed'))) {
      this.#meet('modal:over');
      const taken = {
        key: record.key,
        n: ++this.#requests,
        make: () => '',
        older: () => ({ id: '', status: '' }),
      };
      return { answer: answerTo('code-3-404', { ...taken, opened: () => undefined }), afterMs: 100 };
    }
    return this.#take('modal', record, now, () => this.#begin(open, now));
  }

  /** True for a job that it never takes, or whose task it does not tell of. */
  isOutcast(key: string): boolean {
    return this.#isBarred(key) || this.#isHidden(key);
  }

  #isBarred(key: string): boolean {
    return !this.healed && this.#scenario.barred !== undefined && this.#chance.happens(0.15, 'barred', key);
  }

  #isHidden(key: string): boolean {
    return !this.healed && this.#scenario.hidden !== undefined && this.#chance.happens(0.15, 'hidden', key);
  }

  /** @param make carries it out, and tells the id of the task */
  #take(route: 'submit' | 'modal', record: JobRecord, now: number, make: () => string): Heard<Submitted> {
    const n = ++this.#requests;
    const barred = route === 'submit' && this.#isBarred(record.key) ? this.#scenario.barred : undefined;
    const { capacity } = this.#scenario;
    const isFull =
      capacity !== undefined && route === 'submit' && !this.healed && this.#load(now) >= capacity;
    const drawn = this.#fault(submitFaults, this.#scenario.submit, route, n);
    const fault = barred ?? drawn ?? (isFull ? 'code-23' : undefined);
    const answer = answerTo(fault, {
      key: record.key,
      n,
      make,
      older: (failed) => this.#older(record.key, failed, now, make),
      opened: (id) => {
        if (route === 'modal' || this.tasks.get(id)?.waits !== true) return undefined;
        // A gateway may turn the 21 into 1, so that only a look shows MODAL (protocol.md 2.1).
        return this.#chance.happens(0.5, 'modal at once', n) ? 21 : 1;
      },
    });
    return { answer, afterMs: fault === 'timeout-made' ? requestMs : this.#latency(n) };
  }

  /** What a gateway that has made this before names: the last task of the job, or else one that it makes. */
  #older(
    key: string,
    failed: boolean,
    now: number,
    make: () => string,
  ): { readonly id: string; readonly status: string } {
    const isFailed = ({ end }: SimTask): boolean => end === 'transient' || end === 'permanent';
    const own = [...this.tasks.values()].filter((task) => task.key === key && isFailed(task) === failed);
    const id = own.at(-1)?.id ?? make();
    const task = this.tasks.get(id);
    if (task !== undefined && failed && !isFailed(task))
      this.tasks.set(id, {
        ...task,
        end: this.#chance.pick(['transient', 'permanent'] as const, 'existing end', id),
      });
    return { id, status: this.#rowOf(id, now)?.status ?? 'NOT_START' };
  }

  mask(): Heard<SaveFailure | undefined> {
    const n = ++this.#requests;
    const fault = this.#fault(maskFaults, this.#scenario.mask, 'mask', n);
    return { answer: fault && fileFailures[fault], afterMs: this.#latency(n) };
  }

  fetch(id: string, now: number): Heard<Answer<Task>> {
    const n = ++this.#requests;
    const { key = '' } = this.tasks.get(id) ?? {};
    const hidden = this.#told.has(id) && this.#isHidden(key) ? this.#scenario.hidden : undefined;
    const fault = hidden ?? this.#fault(fetchFaults, this.#scenario.fetch, 'fetch', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#latency(n);
    return { answer: this.#look(id, now, fault, n), afterMs };
  }

  list(ids: readonly string[], now: number): Heard<Answer<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#fault(fetchFaults, this.#scenario.fetch, 'list', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#latency(n);
    if (this.#scenario.listing === 'refused')
      return { answer: readTaskList(ids, replyOf(404, '<html></html>'), facts(true)), afterMs };
    const failed = lookFailure('', fault);
    if (failed !== undefined && !failed.ok && failed.error.code !== 'service.task-unknown')
      return { answer: failed, afterMs };
    // In any order, and what is not known is missing.
    const rows = failed === undefined ? ids.flatMap((id) => this.#listed(id, now, fault, n)).reverse() : [];
    return { answer: readTaskList(ids, replyOf(200, rows), facts(true)), afterMs };
  }

  /** The rows that a list has of a task: one, but for odd lists (protocol.md 2.1, 2.2). */
  #listed(id: string, now: number, fault: FetchFault | undefined, n: number): readonly unknown[] {
    const row = this.#rowOf(id, now);
    if (row === undefined || this.#isYoung(id, now)) return [];
    const seen = this.#odd(row, fault, n);
    if (this.#scenario.listing !== 'odd' || this.healed) return [seen];
    const kind = this.#chance.pick(['plain', 'plain', 'missing', 'stale', 'strange'] as const, 'row', id, n);
    if (kind === 'plain') return [seen];
    this.#meet(`row:${kind}`);
    switch (kind) {
      case 'missing':
        return [];
      case 'stale': {
        // The click and its modal as two rows of one id, of which one stands still.
        const stale = {
          id,
          status: this.answered.get(this.tasks.get(id)?.key ?? '') ? 'MODAL' : 'IN_PROGRESS',
        };
        return this.#chance.happens(0.5, 'stale first', id, n) ? [stale, seen] : [seen, stale];
      }
      case 'strange':
        return [null, { ...seen, id: `9${id}` }, seen, 'x', { status: 'SUCCESS' }];
    }
  }

  /** All tasks, by the tags of their submissions (`task/list`), where the gateway has such a list. */
  listAll(now: number): Answer<readonly Task[]> {
    const { taskList } = this.#scenario;
    const n = ++this.#requests;
    if (taskList !== undefined) this.#meet(`task list:${taskList}`);
    if (taskList === 'none') return readTaskList(undefined, replyOf(404, '<html></html>'), facts(true));
    const rows = [...this.tasks.values()].flatMap(({ id, key, at }) => {
      const row = this.#rowOf(id, now);
      if (row === undefined || (taskList === 'lags' && now - at < 120_000)) return [];
      if (taskList === 'misses' && this.#chance.happens(0.4, 'missing', id, n)) return [];
      const isBare = taskList === 'untagged' && this.#chance.happens(0.4, 'untagged', id);
      return [{ ...row, state: isBare ? null : key }];
    });
    return readTaskList(undefined, replyOf(200, rows), facts(true));
  }

  save(key: string, output: number): Heard<SaveAnswer> {
    const n = ++this.#requests;
    const fault = this.#fault(saveFaults, this.#scenario.save, 'save', n);
    const afterMs = this.#latency(n);
    if (fault !== undefined) return { answer: { ok: false, error: saveFailures[fault] }, afterMs };
    return {
      afterMs,
      answer: {
        ok: true,
        value: {
          output,
          file: `images/${key.slice(0, 2)}/${key}-${output}.png`,
          bytes: 10,
          sha256: key,
          mime: 'image/png',
          width: 8,
          height: 8,
        },
      },
    };
  }

  ask(record: JobRecord): Heard<AskAnswer> {
    const n = ++this.#requests;
    const isBarred = this.#isBarred(record.key);
    const fault = isBarred ? '429' : this.#fault(askFaults, this.#scenario.ask, 'ask', n);
    const afterMs = fault === 'timeout-counted' ? textMs : this.#chance.whole(200, 40_000, 'thinking', n);
    return { answer: carryOutAsk(record, this.#chance, n, fault), afterMs };
  }

  #look(id: string, now: number, fault: FetchFault | undefined, n: number): Answer<Task> {
    const failed = lookFailure(id, fault);
    if (failed !== undefined) return failed;
    const row = this.#isYoung(id, now) ? undefined : this.#rowOf(id, now);
    if (row === undefined) return noTask(id, this.#chance.pick(noTaskWords, 'no task', id));
    return readTask(id, replyOf(200, this.#odd(row, fault, n)), facts(true));
  }

  /** It lags: a task that was just made is not known yet. */
  #isYoung(id: string, now: number): boolean {
    const age = now - (this.tasks.get(id)?.at ?? now);
    return !this.healed && this.#scenario.lag && age >= 0 && age < 3000;
  }

  #odd(row: Row, fault: FetchFault | undefined, n: number): Row {
    const odd = oddRow(fault, row, this.#chance.pick(unknownStatuses, 'word', n));
    if (odd !== row) this.#meet(`row:${fault}`);
    return odd;
  }

  /** A task as the gateway has it on record; undefined: it has none. */
  #rowOf(id: string, now: number): Row | undefined {
    const task = this.tasks.get(id);
    if (task === undefined) return undefined;
    const lingers = task.lingersUntil !== undefined && now < task.lingersUntil && !this.healed;
    if (task.waits || lingers) {
      const isGone = !this.healed && now - task.at > modalMs && this.#chance.happens(0.3, 'modal gone', id);
      const isOver = task.waits && (isGone || this.#isOver(task, now, 'failed'));
      return isOver
        ? { id, status: 'FAILURE', failReason: '上游任务超时（超过1小时）', progress: '100%', buttons: [] }
        : { id, status: 'MODAL', progress: null, buttons: [] };
    }
    const { end } = task;
    if (now < task.endsAt || (end === 'stuck' && !this.healed)) {
      const words = ['IN_PROGRESS', 'IN_PROGRESS', 'SUBMITTED', 'NOT_START', '', 'QUEUED'] as const;
      const status = this.#chance.pick(words, 'stands at', id);
      const imageUrl = 'https://images.example/preview.webp';
      return { id, status, progress: '46%', imageUrl, buttons: [] };
    }
    switch (end) {
      case 'lost':
        return undefined;
      case 'transient':
      case 'permanent':
        return { id, progress: '', buttons: [], ...this.#failureOf(task) };
      case 'success':
      case 'stuck':
      case 'linkless':
        this.#told.add(id);
        return {
          id,
          status: 'SUCCESS',
          progress: '100%',
          buttons: this.#buttonsAt(task, now),
          ...((end !== 'linkless' || this.healed) && this.#result(task, now)),
        };
    }
  }

  /** What a customId ends in at this moment, where it changes. */
  #ageAt(now: number): string | undefined {
    const { buttonLifeMs } = this.#scenario;
    return buttonLifeMs === undefined || this.healed ? undefined : String(Math.floor(now / buttonLifeMs));
  }

  #buttonsAt({ buttons }: SimTask, now: number): readonly Button[] {
    const age = this.#ageAt(now);
    if (age === undefined) return buttons;
    return buttons.map(({ customId, ...shown }) => ({ ...shown, customId: `${customId}~${age}` }));
  }

  #failureOf({ id, end, why }: SimTask): FailedEnd {
    return why ?? this.#chance.pick(end === 'transient' ? passing : lasting, 'reason', id);
  }

  /** The life of an open modal is over, in this way. */
  #isOver({ at }: SimTask, now: number, how: NonNullable<Scenario['modalLife']>['how']): boolean {
    const { modalLife } = this.#scenario;
    return !this.healed && modalLife?.how === how && now - at > modalLife.ms;
  }

  /** Tasks that it is working on. */
  #load(now: number): number {
    return [...this.tasks.values()].filter(
      ({ waits, endsAt, end }) => waits || (endsAt > now && end !== 'stuck'),
    ).length;
  }

  /** A gateway copies what a task brought up to three times 15 s after its status (protocol.md 2). */
  #result(task: SimTask, now: number): Readonly<Record<string, unknown>> {
    const image = { imageUrl: `https://images.example/${task.id}.png` };
    const lagMs = this.#chance.whole(0, 45_000, 'result', task.id);
    const isLate = this.#scenario.resultsLag && !this.healed && now < task.endsAt + lagMs;
    const more = this.#brings(task);
    if (!isLate) return { ...image, ...more };
    return Object.keys(more).length === 0 ? {} : { ...image, action: more['action'] ?? null };
  }

  #brings({ id, brings: { videos, prompts } }: SimTask): Readonly<Record<string, unknown>> {
    if (prompts) return { action: 'DESCRIBE', properties: { finalPrompt: '1️⃣ a fox\n\n2️⃣ a hare' } };
    if (videos === undefined) return {};
    return {
      videoUrls: Array.from({ length: videos }, (_, n) => ({ url: `https://v.example/${id}/${n}.mp4` })),
    };
  }

  /** A submission makes a task. */
  #make(record: JobRecord, now: number): string {
    const count = (this.made.get(record.key) ?? 0) + 1;
    this.made.set(record.key, count);
    this.answered.set(record.key, 0);
    const { pressed, request } = record;
    const asks = request.kind === 'click' && (request.fields['remix'] === true || request.mask !== undefined);
    const { windowless = 0 } = this.#scenario;
    const isDumb = !this.healed && this.#chance.happens(windowless, 'windowless', record.key, count);
    return this.#note(
      {
        at: now,
        key: record.key,
        waits: pressed !== undefined && (asks || wantsModal(pressed)) && !isDumb,
        name: `${record.key} ${count}`,
        label: pressed?.label ?? '',
        kind: request.kind,
      },
      now,
    );
  }

  /** A modal arrives: its task goes on, under its own id or another one (protocol.md 3). */
  #begin(open: SimTask, now: number): string {
    const count = (this.answered.get(open.key) ?? 0) + 1;
    this.answered.set(open.key, count);
    const name = `${open.key} ${open.id} ${count}`;
    const late = !this.healed && (now - open.at > modalMs || this.#isOver(open, now, 'begun in vain'));
    if (late) this.#meet('modal:begun in vain');
    const begun = {
      at: now,
      endsAt: now + this.#chance.whole(500, 90_000, 'duration', name),
      end: late ? 'transient' : this.#drawEnd(name),
      ...(late && { why: tooLate }),
      waits: false,
      isAnswered: true,
    } as const;
    const { lingers } = this.#scenario;
    const lingersUntil =
      lingers === 'work' ? begun.endsAt : now + this.#chance.whole(0, refreshMs, 'refresh', name);
    const task: SimTask = { ...open, ...begun, ...(lingers !== 'no' && { lingersUntil }) };
    if (this.#chance.happens(0.5, 'same task', open.key)) {
      this.tasks.set(open.id, task);
      return open.id;
    }
    const id = this.#nextId();
    const { lingersUntil: _, ...fresh } = task;
    this.tasks.set(id, { ...fresh, id });
    // Of the one that waited, gateways go on to show the work, or MODAL.
    this.tasks.set(open.id, task);
    return id;
  }

  /** Longer than 2^53: an id that is rounded is another id. */
  #nextId(): string {
    return `14001929738${String(100_001 + this.tasks.size)}`;
  }

  #note(
    {
      name,
      label,
      kind,
      ...task
    }: Pick<SimTask, 'at' | 'key' | 'waits'> & {
      readonly name: string;
      readonly label: string;
      readonly kind: string;
    },
    now: number,
  ): string {
    const number = this.tasks.size + 1;
    const id = this.#nextId();
    this.tasks.set(id, {
      ...task,
      id,
      endsAt: now + this.#chance.whole(500, 90_000, 'duration', name),
      end: this.#drawEnd(name),
      brings:
        kind === 'video' || label.startsWith('Animate')
          ? { videos: 4 }
          : kind === 'describe'
            ? { prompts: true }
            : {},
      buttons: (/^U\d$/.test(label) ? upscaledButtons(number) : gridButtons(number)).map(
        ({ customId, label: text, emoji }) => ({ customId, label: text, emoji }),
      ),
    });
    return id;
  }

  #drawEnd(name: string): End {
    if (this.healed) return 'success';
    let left = this.#chance.of('end', name);
    for (const [end, share] of Object.entries(this.#scenario.ends)) {
      left -= share;
      if (left >= 0) continue;
      this.#meet(`end:${end}`);
      return end as End;
    }
    return 'success';
  }

  #fault<K extends SubmitFault | FetchFault | AskFault | keyof typeof saveFailures>(
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
    if (fault !== undefined) this.#meet(`${families[route] ?? route}:${fault}`);
    return fault;
  }

  #meet(trouble: string): void {
    this.met.set(trouble, (this.met.get(trouble) ?? 0) + 1);
  }

  #latency(n: number): number {
    return this.#chance.whole(20, 2000, 'latency', n);
  }
}
