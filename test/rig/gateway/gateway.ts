import type { CutResult, SaveFailure, SaveResult } from '../../../src/artifacts/writer.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { CallResult } from '../../../src/run/machine/job.ts';
import { readSeed } from '../../../src/service/image/seed.ts';
import { readSubmit } from '../../../src/service/image/submit.ts';
import { readTask } from '../../../src/service/image/task.ts';
import { readTaskList } from '../../../src/service/image/task-list.ts';
import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import type { Delivered, DrivenService, Submitted } from '../driven-service.ts';
import { framesOf } from '../frames.ts';
import { type FetchFault, fileFailures, saveFailures } from './faults.ts';
import { buttonOf, type MadeTask, MadeTasks } from './made-tasks.ts';
import { facts, replyOf } from './reply.ts';
import { resultOf } from './submit-answers.ts';
import { noTask, oddRow, pollFailure, type Row } from './task-answers.ts';
import { TaskRows } from './task-rows.ts';
import { plainTemper, type Temper } from './temper.ts';
import { carryOutAsk, mayCharge } from './text-answers.ts';

/** How long a request that is never answered is waited for. */
const requestMs = 60_000;
/** How long a text call that is never answered is waited for. */
const textMs = 600_000;

/** How gateways refuse a customId that is no longer valid. */
const outdated: readonly Submitted[] = [
  { ok: true, value: { kind: 'refused', code: 4, message: 'customId is outdated' } },
  ...[400, 404, 422].map((status) =>
    readSubmit(replyOf(status, { error: { message: 'custom_id is not valid' } }), {
      ...facts(false),
      standing: () => 'right',
    }),
  ),
];

/** The seed of the task of a job. */
export const seedOf = (key: string): string => String(Number.parseInt(key.slice(0, 8), 16));

/**
 * The model of a gateway in virtual time, without sockets and promises: the tasks that it made, and what it says of them, in bytes
 * that the real client's readers judge. It tells the truth, unless its temper is to lie as real gateways do (gateway 3.5).
 */
export class Gateway implements DrivenService {
  /** Tasks that it made, by id. */
  readonly tasks: MadeTasks['tasks'];
  readonly #temper: Temper;
  readonly #made: MadeTasks;
  readonly #rows: TaskRows;
  readonly #charged = new Map<string, number>();
  #requests = 0;

  constructor(temper: Temper = plainTemper) {
    this.#temper = temper;
    this.#made = new MadeTasks(temper);
    this.#rows = new TaskRows(temper, this.#made);
    this.tasks = this.#made.tasks;
  }

  /** Ids that several tasks got. */
  get sharedIds(): ReadonlySet<string> {
    return this.#made.shared;
  }

  /** Tasks made for each job. */
  get made(): ReadonlyMap<string, number> {
    return this.#made.made;
  }

  /** Text calls of each job that it may charge for. */
  get charged(): ReadonlyMap<string, number> {
    return this.#charged;
  }

  get healed(): boolean {
    return this.#temper.healed;
  }

  submit(record: JobRecord, parentTaskId: string | undefined, now: number): Delivered<Submitted> {
    const { key, pressed } = record;
    const parent = this.tasks.get(parentTaskId ?? '');
    if (pressed !== undefined) {
      const [named, age] = pressed.customId.split('~');
      if (parent?.buttons.every(({ customId }) => customId !== named) ?? true)
        throw new Error(
          `Violation: ${key} presses ${pressed.customId}, which task ${parentTaskId} does not offer.`,
        );
      if (age !== this.#temper.customIdAge(now))
        return { result: outdated[++this.#requests % outdated.length] as Submitted, afterMs: 100 };
    }
    return this.#answer('submit', record, now, () => this.#made.make(record, parent, now));
  }

  modal(record: JobRecord, now: number): Delivered<Submitted> {
    const { key, modal } = record;
    const open = this.tasks.get(modal?.taskId ?? '');
    if (open?.key !== key) throw new Error(`Violation: ${key} answers a modal that is not its own.`);
    if (
      open.waits &&
      (['refused', 'failed'] as const).some((how) => this.#temper.isModalOver(how, open, now))
    ) {
      this.#temper.meet('modal:over');
      const accepted = {
        queued: 0,
        make: () => '',
        older: () => ({ id: '', status: '' }),
        opened: () => undefined,
      };
      return { result: resultOf('code-3-404', { key, n: ++this.#requests, ...accepted }), afterMs: 100 };
    }
    return this.#answer('modal', record, now, () => this.#made.begin(open, now));
  }

  /** @param make carries it out, and returns the id of the task */
  #answer(
    route: 'submit' | 'modal',
    record: JobRecord,
    now: number,
    make: () => string,
  ): Delivered<Submitted> {
    const n = ++this.#requests;
    const { key, kind } = record;
    const fault = this.#temper.submitFault(route, key, n, () => this.#made.load(now), kind);
    const result = resultOf(fault, {
      key,
      n,
      queued: this.#temper.queued(n),
      headers: this.#temper.headers?.(),
      make,
      older: (failed) => this.#older(record, failed, now, make),
      opened: (id) => {
        if (route === 'modal' || this.tasks.get(id)?.waits !== true) return undefined;
        return this.#temper.opensAtOnce(n) ? 21 : 1;
      },
    });
    return { result, afterMs: fault === 'timeout-made' ? requestMs : this.#temper.latencyMs('submit', n) };
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
    const isFailed = ({ end }: MadeTask): boolean => end === 'transient' || end === 'permanent';
    const own = [...this.tasks.values()].filter(
      (task) =>
        task.key === key &&
        task.customId === (pressed && buttonOf(pressed.customId)) &&
        isFailed(task) === failed,
    );
    const id = own.at(-1)?.id ?? make();
    const task = this.tasks.get(id);
    if (task !== undefined && failed && !isFailed(task))
      this.tasks.set(id, { ...task, end: this.#temper.failedBefore(id) });
    return { id, status: this.#rows.of(id, now)?.status ?? 'NOT_START' };
  }

  /** The mask of a click, made for the parent's image: nothing that a gateway sees. */
  mask(_record: JobRecord): Delivered<SaveFailure | undefined> {
    const n = ++this.#requests;
    const fault = this.#temper.maskFault(n);
    return { result: fault && fileFailures[fault], afterMs: this.#temper.latencyMs('download', n) };
  }

  fetch(id: string, now: number): Delivered<ServiceResult<Task>> {
    const n = ++this.#requests;
    const fault = this.#temper.fetchFault(
      'fetch',
      n,
      this.#rows.reported.has(id) ? this.tasks.get(id)?.key : undefined,
    );
    return { result: this.#poll(id, now, fault, n), afterMs: this.#pollMs(fault, n) };
  }

  /** What can go wrong with a poll can go wrong with this too. */
  seed(id: string): Delivered<ServiceResult<string>> {
    const n = ++this.#requests;
    const fault = this.#temper.fetchFault('fetch', n);
    const failed = pollFailure(id, fault);
    const key = this.tasks.get(id)?.key;
    const afterMs = this.#pollMs(fault, n);
    if (failed?.ok === false) return { result: failed, afterMs };
    const answer =
      key === undefined ? replyOf(404, '<html></html>') : replyOf(200, { code: 1, result: seedOf(key) });
    return { result: readSeed(answer, facts(true)), afterMs };
  }

  list(ids: readonly string[], now: number): Delivered<ServiceResult<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#temper.fetchFault('list', n);
    const afterMs = this.#pollMs(fault, n);
    if (this.#temper.refusesLists())
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
    const row = this.#rowOf(id, now);
    if (row === undefined) return [];
    const seen = this.#odd(row, fault, n);
    const kind = this.#temper.listedRow(id, n);
    switch (kind) {
      case 'plain':
        return [seen];
      case 'missing':
        return [];
      case 'stale': {
        // The click and its modal as two rows of one id, of which one stands still.
        const answered = this.#made.answered.get(this.tasks.get(id)?.key ?? '');
        const stale = { id, status: answered ? 'MODAL' : 'IN_PROGRESS' };
        return this.#temper.isStaleFirst(id, n) ? [stale, seen] : [seen, stale];
      }
      case 'strange':
        return [null, { ...seen, id: `9${id}` }, seen, 'x', { status: 'SUCCESS' }];
    }
  }

  /** The same list, asked for by a run: what can go wrong with a poll can go wrong with this too. */
  listAll(now: number): Delivered<ServiceResult<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#temper.fetchFault('task list', n);
    const afterMs = this.#pollMs(fault, n);
    const failed = pollFailure('', fault);
    const isReported = failed === undefined || failed.ok || failed.error.code === 'service.task-unknown';
    return { result: isReported ? this.taskList(now) : failed, afterMs };
  }

  /** All tasks, by the tags of their submissions (`task/list`), where the gateway has such a list. */
  taskList(now: number): ServiceResult<readonly Task[]> {
    const n = ++this.#requests;
    if (!this.#temper.hasTaskList())
      return readTaskList(undefined, replyOf(404, '<html></html>'), facts(true));
    const { maxListed = Number.POSITIVE_INFINITY } = this.#temper;
    const rows = [...this.tasks.values()].slice(-maxListed).flatMap((task) => {
      const row = this.#rows.of(task.id, now);
      const more = row && this.#temper.taskListRow(task, now, n);
      return more === undefined ? [] : [{ ...row, ...more }];
    });
    return readTaskList(undefined, replyOf(200, rows), facts(true));
  }

  save(key: string, output: number): Delivered<SaveResult> {
    const n = ++this.#requests;
    const fault = this.#temper.saveFault(n);
    const afterMs = this.#temper.latencyMs('download', n);
    if (fault !== undefined) return { result: { ok: false, error: saveFailures[fault] }, afterMs };
    const file = `images/${key.slice(0, 2)}/${key}-${output}.png`;
    const value = { output, file, bytes: 10, sha256: key, mime: 'image/png', width: 8, height: 8 };
    return { result: { ok: true, value }, afterMs };
  }

  /** The frames of a grid, cut here: a disk may be full. */
  cut({ key, artifacts }: JobRecord): Delivered<CutResult> {
    const n = ++this.#requests;
    const fault = this.#temper.saveFault(n);
    const afterMs = this.#temper.latencyMs('download', n);
    if (fault === 'disk') return { result: { ok: false, error: saveFailures[fault] }, afterMs };
    return { result: { ok: true, value: framesOf(key, artifacts[0] ?? {}) }, afterMs };
  }

  ask(record: JobRecord, _now: number): Delivered<CallResult> {
    const n = ++this.#requests;
    const fault = this.#temper.askFault(record.key, n, record.kind);
    if (mayCharge(fault)) this.#charged.set(record.key, (this.#charged.get(record.key) ?? 0) + 1);
    const afterMs = fault === 'timeout-counted' ? textMs : this.#temper.latencyMs('text', n);
    return { result: carryOutAsk(record, this.#temper, n, fault), afterMs };
  }

  #poll(id: string, now: number, fault: FetchFault | undefined, n: number): ServiceResult<Task> {
    const failed = pollFailure(id, fault);
    if (failed !== undefined) return failed;
    const row = this.#rowOf(id, now);
    if (row === undefined) return noTask(id, this.#temper.noTaskWord(id));
    return readTask(id, replyOf(200, this.#odd(row, fault, n)), facts(true));
  }

  /** A task that is known by now. */
  #rowOf(id: string, now: number): Row | undefined {
    const isYoung = this.#temper.isUnknownYet(now - (this.tasks.get(id)?.at ?? now));
    return isYoung ? undefined : this.#rows.of(id, now);
  }

  #pollMs(fault: FetchFault | undefined, n: number): number {
    return fault === 'timeout' ? requestMs : this.#temper.latencyMs('poll', n);
  }

  #odd(row: Row, fault: FetchFault | undefined, n: number): Row {
    const odd = oddRow(fault, row, this.#temper.unknownStatus(n));
    if (odd !== row) this.#temper.meet(`row:${fault}`);
    return odd;
  }
}
