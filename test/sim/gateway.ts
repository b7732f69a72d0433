import type { SaveFailure, SaveResult } from '../../src/artifacts/writer.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { CallResult } from '../../src/run/machine/job.ts';
import { readTask } from '../../src/service/image/task.ts';
import { readTaskList } from '../../src/service/image/task-list.ts';
import type { Task } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import type { Delivered, DrivenService, Submitted } from '../rig/drive.ts';
import type { Chance } from './chance.ts';
import {
  askFaults,
  type FetchFault,
  fetchFaults,
  fileFailures,
  maskFaults,
  saveFailures,
  saveFaults,
  submitFaults,
} from './faults.ts';
import { buttonOf, MadeTasks, type SimTask } from './made-tasks.ts';
import { facts, replyOf } from './reply.ts';
import type { Scenario } from './scenario.ts';
import { resultOf } from './submit-answers.ts';
import { noTask, noTaskWords, oddRow, pollFailure, type Row, unknownStatuses } from './task-answers.ts';
import { TaskRows } from './task-rows.ts';
import { Temper } from './temper.ts';
import { carryOutAsk } from './text-gateway.ts';

/** How long a request that is never answered is waited for. */
const requestMs = 60_000;
/** How long a text call that is never answered is waited for. */
const textMs = 600_000;

const outdated = {
  ok: true,
  value: { kind: 'refused', code: 4, message: 'customId is outdated' },
} as const satisfies Submitted;

/**
 * The model of a gateway: what it was asked, the tasks it made, and what it says, in bytes that the real client's
 * readers judge. It lies as real gateways do (gateway 3.5). Healed, it tells nothing but the truth.
 */
export class Gateway implements DrivenService {
  /** Tasks that it made, by id. */
  readonly tasks: MadeTasks['tasks'];
  /** Tasks made for each job. */
  readonly made: MadeTasks['made'];
  /** How often each kind of trouble came about. */
  readonly met: Temper['met'];
  readonly #scenario: Scenario;
  readonly #chance: Chance;
  readonly #temper: Temper;
  readonly #made: MadeTasks;
  readonly #rows: TaskRows;
  #requests = 0;

  constructor(scenario: Scenario) {
    this.#temper = new Temper(scenario);
    this.#made = new MadeTasks(this.#temper);
    this.#rows = new TaskRows(this.#temper, this.#made);
    this.#scenario = scenario;
    this.#chance = this.#temper.chance;
    this.tasks = this.#made.tasks;
    this.made = this.#made.made;
    this.met = this.#temper.met;
  }

  get healed(): boolean {
    return this.#temper.healed;
  }

  set healed(healed: boolean) {
    this.#temper.healed = healed;
  }

  submit(record: JobRecord, parentTaskId: string | undefined, now: number): Delivered<Submitted> {
    const { pressed } = record;
    if (pressed !== undefined) {
      const parent = this.tasks.get(parentTaskId ?? '');
      const [named, age] = pressed.customId.split('~');
      if (parent?.buttons.every(({ customId }) => customId !== named) ?? true)
        throw new Error(
          `Violation: ${record.key} presses ${pressed.customId}, which task ${parentTaskId} does not offer.`,
        );
      if (age !== this.#rows.ageAt(now)) return { result: outdated, afterMs: 100 };
    }
    return this.#take('submit', record, now, () => this.#made.make(record, now));
  }

  modal(record: JobRecord, now: number): Delivered<Submitted> {
    const open = this.tasks.get(record.modal?.taskId ?? '');
    if (open?.key !== record.key)
      throw new Error(`Violation: ${record.key} answers a modal that is not its own.`);
    if (open.waits && (this.#made.isOver(open, now, 'refused') || this.#made.isOver(open, now, 'failed'))) {
      this.#temper.meet('modal:over');
      const accepted = {
        key: record.key,
        n: ++this.#requests,
        make: () => '',
        older: () => ({ id: '', status: '' }),
      };
      return { result: resultOf('code-3-404', { ...accepted, opened: () => undefined }), afterMs: 100 };
    }
    return this.#take('modal', record, now, () => this.#made.begin(open, now));
  }

  /** True for a job that it never takes, or whose task it does not report. */
  isOutcast(key: string): boolean {
    return this.#temper.isBarred(key) || this.#temper.isHidden(key);
  }

  /** @param make carries it out, and returns the id of the task */
  #take(route: 'submit' | 'modal', record: JobRecord, now: number, make: () => string): Delivered<Submitted> {
    const n = ++this.#requests;
    const barred =
      route === 'submit' && this.#temper.isBarred(record.key) ? this.#scenario.barred : undefined;
    const { capacity } = this.#scenario;
    const isFull =
      capacity !== undefined && route === 'submit' && !this.healed && this.#made.load(now) >= capacity;
    const drawn = this.#temper.fault(submitFaults, this.#scenario.submit, route, n);
    const fault = barred ?? drawn ?? (isFull ? 'code-23' : undefined);
    if (fault === 'code-23' && drawn === undefined) this.#temper.meet('submit:code-23');
    const answer = resultOf(fault, {
      key: record.key,
      n,
      make,
      older: (failed) => this.#older(record, failed, now, make),
      opened: (id) => {
        if (route === 'modal' || this.tasks.get(id)?.waits !== true) return undefined;
        // A gateway may turn the 21 into 1, so that only a look shows MODAL (gateway 3.3).
        return this.#chance.happens(0.5, 'modal at once', n) ? 21 : 1;
      },
    });
    return { result: answer, afterMs: fault === 'timeout-made' ? requestMs : this.#temper.latency(n) };
  }

  /**
   * What a gateway that has made this before names: the last task that the same request made, or else one that it makes. A button of another
   * task is another request.
   */
  #older(
    { key, pressed }: Pick<JobRecord, 'key' | 'pressed'>,
    failed: boolean,
    now: number,
    make: () => string,
  ): { readonly id: string; readonly status: string } {
    const isFailed = ({ end }: SimTask): boolean => end === 'transient' || end === 'permanent';
    const own = [...this.tasks.values()].filter(
      (task) =>
        task.key === key &&
        task.pressed === (pressed && buttonOf(pressed.customId)) &&
        isFailed(task) === failed,
    );
    const id = own.at(-1)?.id ?? make();
    const task = this.tasks.get(id);
    if (task !== undefined && failed && !isFailed(task))
      this.tasks.set(id, {
        ...task,
        end: this.#chance.pick(['transient', 'permanent'] as const, 'existing end', id),
      });
    return { id, status: this.#rows.of(id, now)?.status ?? 'NOT_START' };
  }

  mask(): Delivered<SaveFailure | undefined> {
    const n = ++this.#requests;
    const fault = this.#temper.fault(maskFaults, this.#scenario.mask, 'mask', n);
    return { result: fault && fileFailures[fault], afterMs: this.#temper.latency(n) };
  }

  fetch(id: string, now: number): Delivered<ServiceResult<Task>> {
    const n = ++this.#requests;
    const { key = '' } = this.tasks.get(id) ?? {};
    const hidden =
      this.#rows.reported.has(id) && this.#temper.isHidden(key) ? this.#scenario.hidden : undefined;
    const fault = hidden ?? this.#temper.fault(fetchFaults, this.#scenario.fetch, 'fetch', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#temper.latency(n);
    return { result: this.#poll(id, now, fault, n), afterMs };
  }

  list(ids: readonly string[], now: number): Delivered<ServiceResult<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#temper.fault(fetchFaults, this.#scenario.fetch, 'list', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#temper.latency(n);
    if (this.#scenario.listing === 'refused')
      return { result: readTaskList(ids, replyOf(404, '<html></html>'), facts(true)), afterMs };
    const failed = pollFailure('', fault);
    if (failed !== undefined && !failed.ok && failed.error.code !== 'service.task-unknown')
      return { result: failed, afterMs };
    // In any order, and what is not known is missing.
    const rows = failed === undefined ? ids.flatMap((id) => this.#listed(id, now, fault, n)).reverse() : [];
    return { result: readTaskList(ids, replyOf(200, rows), facts(true)), afterMs };
  }

  /** The rows that a list has of a task: one, but for odd lists (gateway 4.1, 3.5). */
  #listed(id: string, now: number, fault: FetchFault | undefined, n: number): readonly unknown[] {
    const row = this.#rows.of(id, now);
    if (row === undefined || this.#isYoung(id, now)) return [];
    const seen = this.#odd(row, fault, n);
    if (this.#scenario.listing !== 'odd' || this.healed) return [seen];
    const kind = this.#chance.pick(['plain', 'plain', 'missing', 'stale', 'strange'] as const, 'row', id, n);
    if (kind === 'plain') return [seen];
    this.#temper.meet(`row:${kind}`);
    switch (kind) {
      case 'missing':
        return [];
      case 'stale': {
        // The click and its modal as two rows of one id, of which one stands still.
        const stale = {
          id,
          status: this.#made.answered.get(this.tasks.get(id)?.key ?? '') ? 'MODAL' : 'IN_PROGRESS',
        };
        return this.#chance.happens(0.5, 'stale first', id, n) ? [stale, seen] : [seen, stale];
      }
      case 'strange':
        return [null, { ...seen, id: `9${id}` }, seen, 'x', { status: 'SUCCESS' }];
    }
  }

  /** The same list, asked for by a run: what can go wrong with a look can go wrong with this too. */
  listAll(now: number): Delivered<ServiceResult<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#temper.fault(fetchFaults, this.#scenario.fetch, 'task list', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#temper.latency(n);
    const failed = pollFailure('', fault);
    const isReported = failed === undefined || failed.ok || failed.error.code === 'service.task-unknown';
    return { result: isReported ? this.taskList(now) : failed, afterMs };
  }

  /** All tasks, by the tags of their submissions (`task/list`), where the gateway has such a list. */
  taskList(now: number): ServiceResult<readonly Task[]> {
    const { taskList } = this.#scenario;
    const n = ++this.#requests;
    if (taskList !== undefined) this.#temper.meet(`task list:${taskList}`);
    if (taskList === 'none') return readTaskList(undefined, replyOf(404, '<html></html>'), facts(true));
    const rows = [...this.tasks.values()].flatMap(({ id, key, at }) => {
      const row = this.#rows.of(id, now);
      if (row === undefined || (taskList === 'lags' && now - at < 120_000)) return [];
      if (taskList === 'misses' && this.#chance.happens(0.4, 'missing', id, n)) return [];
      const isBare = taskList === 'untagged' && this.#chance.happens(0.4, 'untagged', id);
      return [{ ...row, state: isBare ? null : key }];
    });
    return readTaskList(undefined, replyOf(200, rows), facts(true));
  }

  save(key: string, output: number): Delivered<SaveResult> {
    const n = ++this.#requests;
    const fault = this.#temper.fault(saveFaults, this.#scenario.save, 'save', n);
    const afterMs = this.#temper.latency(n);
    if (fault !== undefined) return { result: { ok: false, error: saveFailures[fault] }, afterMs };
    return {
      afterMs,
      result: {
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

  ask(record: JobRecord): Delivered<CallResult> {
    const n = ++this.#requests;
    const isBarred = this.#temper.isBarred(record.key);
    const fault = isBarred ? '429' : this.#temper.fault(askFaults, this.#scenario.ask, 'ask', n);
    const afterMs = fault === 'timeout-counted' ? textMs : this.#chance.whole(200, 40_000, 'thinking', n);
    return { result: carryOutAsk(record, this.#chance, n, fault), afterMs };
  }

  #poll(id: string, now: number, fault: FetchFault | undefined, n: number): ServiceResult<Task> {
    const failed = pollFailure(id, fault);
    if (failed !== undefined) return failed;
    const row = this.#isYoung(id, now) ? undefined : this.#rows.of(id, now);
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
    if (odd !== row) this.#temper.meet(`row:${fault}`);
    return odd;
  }
}
