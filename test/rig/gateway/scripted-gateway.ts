import type { SaveFailure, SaveResult } from '../../../src/artifacts/writer.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Route } from '../../../src/run/events.ts';
import type { CallResult } from '../../../src/run/machine/job.ts';
import type { SubmitResult, Task } from '../../../src/service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../../src/service/result.ts';
import type { TextReply } from '../../../src/service/text-service.ts';
import type { Delivered, Submitted } from '../driven-service.ts';
import { askedOf } from '../text-reply.ts';
import { Gateway } from './gateway.ts';
import { type MadeTask, type Work, workOf } from './made-tasks.ts';
import { plainTemper, type Temper } from './temper.ts';

/** A submission as the gateway sees it. */
export interface Submission extends Work {
  /** Counts from 1. */
  readonly number: number;
  readonly at: number;
}

/** A confirm of a modal as the gateway sees it. */
export interface Confirm {
  /** Counts from 1. */
  readonly number: number;
  readonly record: JobRecord;
  readonly taskId: string;
  readonly at: number;
}

/** A text call as the gateway sees it. */
export interface TextCall {
  /** Counts from 1. */
  readonly number: number;
  readonly record: JobRecord;
  readonly at: number;
}

/** A request that fails for the run; `made`: the gateway carried it out all the same. */
export interface Failing {
  readonly error: ServiceFailure;
  readonly made?: boolean;
}

/** What a gateway does that it would not do of itself; undefined: what it would. */
export interface GatewayScript {
  /** ms from the begin of a task to its end. */
  readonly duration?: (submit: Submission) => number | undefined;
  /** What a task shows of its progress while it is worked on, in percent. */
  readonly progress?: (task: MadeTask, at: number) => number;
  /** Why its task fails. */
  readonly fails?: (submit: Submission) => string | undefined;
  readonly onSubmit?: (submit: Submission) => Failing | SubmitResult | undefined;
  readonly onModal?: (confirm: Confirm) => Failing | SubmitResult | undefined;
  /** Why there is no mask for a click; `masks` counts from 1. */
  readonly onMask?: (record: JobRecord, masks: number) => SaveFailure | undefined;
  /** How a click that opens a modal is answered (gateway 4.6): 21, or 1 and MODAL when it is polled. Default 21. */
  readonly modalCode?: 1 | 21;
  /** The task of an answered modal has the id of the one that waited. Default a new one. */
  readonly sameTask?: boolean;
  /** After so long all buttons have other customIds, ms; absent: never. */
  readonly buttonsLiveMs?: number;
  /** This submission gets the id of the one before. */
  readonly repeatsId?: (submit: Submission) => boolean;
  /** What records of tasks say of their submissions. Default nothing. */
  readonly tells?: 'state' | 'prompt' | 'nothing';
  readonly onFetch?: (taskId: string, fetches: number, at: number) => ServiceFailure | undefined;
  /** It lists the tasks that it is asked for. Default true. */
  readonly lists?: boolean;
  /** Its tasks, with the tags of their submissions, `searches` counted from 1. Default: it has no such list. */
  readonly onSearch?: (tasks: readonly Task[], searches: number) => readonly Task[] | ServiceFailure;
  readonly onAsk?: (call: TextCall) => TextReply | ServiceFailure | undefined;
  readonly onSave?: (key: string, saves: number, output: number) => SaveResult | undefined;
}

/** A gateway that tells the truth where its script says nothing else, and notes every request. */
export class ScriptedGateway extends Gateway {
  readonly submits: Submission[] = [];
  readonly modals: Confirm[] = [];
  /** Jobs whose mask was made before their click. */
  readonly masks: string[] = [];
  readonly calls: TextCall[] = [];
  readonly fetchTimes: number[] = [];
  /** How many tasks each listing was asked for. */
  readonly lists: number[] = [];
  /** How often all its tasks were asked for. */
  searches = 0;
  /** Submissions that made a task, by what they asked for: prompt and pressed buttons. */
  readonly works = new Map<string, number>();
  /** ms that a request takes. */
  latency: (route: Route) => number = () => 100;
  readonly #script: GatewayScript;
  readonly #fetches = new Map<string, number>();
  readonly #saves = new Map<string, number>();
  /** How the task of each job's last submission goes. */
  readonly #fates = new Map<
    string,
    { readonly ms?: number | undefined; readonly failReason?: string | undefined }
  >();

  constructor(script: GatewayScript = {}) {
    const temper = { ...plainTemper };
    super(temper);
    this.#script = script;
    Object.assign(temper, {
      latencyMs: (route) => this.latency(route),
      // A click and its modal are one submission.
      durationMs: (key, name) => this.#fates.get(key)?.ms ?? plainTemper.durationMs(key, name),
      end: (key) => (this.#fates.get(key)?.failReason === undefined ? 'success' : 'permanent'),
      failure: ({ key }) => ({ status: 'FAILURE', failReason: this.#fates.get(key)?.failReason ?? null }),
      opensAtOnce: () => script.modalCode !== 1,
      keepsId: () => script.sameTask === true,
      repeatsId: () => script.repeatsId?.(this.submits.at(-1) as Submission) === true,
      tellsOf: () => script.tells ?? 'nothing',
      refusesLists: () => script.lists === false,
      ...(script.progress && {
        workingProgress: (task, now) => `${script.progress?.(task, now) ?? 0}%`,
      }),
      ...(script.buttonsLiveMs !== undefined && {
        customIdAge: (now) => String(Math.floor(now / (script.buttonsLiveMs ?? 1))),
      }),
      hasTaskList: () => script.onSearch !== undefined,
    } satisfies Partial<Temper>);
  }

  /** Tasks that are not finished at this moment. */
  inFlight(at: number): number {
    return [...this.tasks.values()].filter((task) => task.at <= at && task.endsAt > at).length;
  }

  override submit(record: JobRecord, parentTaskId: string | undefined, now: number): Delivered<Submitted> {
    const work = workOf(record, this.tasks.get(parentTaskId ?? ''));
    const submit: Submission = { ...work, number: this.submits.length + 1, at: now };
    this.submits.push(submit);
    return this.#scripted(this.#script.onSubmit?.(submit), () => {
      const what = `${work.prompt}|${work.pressed}`;
      this.works.set(what, (this.works.get(what) ?? 0) + 1);
      const { duration, fails } = this.#script;
      this.#fates.set(work.key, { ms: duration?.(submit), failReason: fails?.(submit) });
      return super.submit(record, parentTaskId, now);
    });
  }

  override modal(record: JobRecord, now: number): Delivered<Submitted> {
    const { taskId = '' } = record.modal ?? {};
    const confirm: Confirm = { number: this.modals.length + 1, record, taskId, at: now };
    this.modals.push(confirm);
    return this.#scripted(this.#script.onModal?.(confirm), () => this.arrive(confirm));
  }

  /** A confirm reaches its task, whether the run knows of it or not. */
  arrive({ record, taskId, at }: Confirm): Delivered<Submitted> {
    if (this.tasks.get(taskId)?.waits !== true) throw new Error(`Task ${taskId} waits for no modal.`);
    return super.modal(record, at);
  }

  #scripted(
    scripted: Failing | SubmitResult | undefined,
    carryOut: () => Delivered<Submitted>,
  ): Delivered<Submitted> {
    if (scripted === undefined) return carryOut();
    const afterMs = this.latency('submit');
    if (!('error' in scripted)) return { result: { ok: true, value: scripted }, afterMs };
    if (scripted.made) carryOut();
    return { result: { ok: false, error: scripted.error }, afterMs };
  }

  override mask(record: JobRecord): Delivered<SaveFailure | undefined> {
    this.masks.push(record.key);
    const { result, afterMs } = super.mask(record);
    return { result: this.#script.onMask?.(record, this.masks.length) ?? result, afterMs };
  }

  override fetch(id: string, now: number): Delivered<ServiceResult<Task>> {
    this.fetchTimes.push(now);
    const error = this.#unfetched(id, now);
    const { result, afterMs } = super.fetch(id, now);
    return { result: error === undefined ? result : { ok: false, error }, afterMs };
  }

  override list(ids: readonly string[], now: number): Delivered<ServiceResult<readonly Task[]>> {
    this.lists.push(ids.length);
    const known = ids.filter((id) => this.#unfetched(id, now) === undefined);
    return super.list(known, now);
  }

  override listAll(now: number): Delivered<ServiceResult<readonly Task[]>> {
    this.searches += 1;
    const { result, afterMs } = super.listAll(now);
    if (!result.ok) return { result, afterMs };
    const tasks = result.value.filter(({ id }) => this.#unfetched(id, now) === undefined);
    const listed = this.#script.onSearch?.(tasks, this.searches) ?? tasks;
    return {
      result: 'class' in listed ? { ok: false, error: listed } : { ok: true, value: listed },
      afterMs,
    };
  }

  #unfetched(id: string, now: number): ServiceFailure | undefined {
    const fetches = (this.#fetches.get(id) ?? 0) + 1;
    this.#fetches.set(id, fetches);
    return this.#script.onFetch?.(id, fetches, now);
  }

  override save(key: string, output: number): Delivered<SaveResult> {
    const saves = (this.#saves.get(key) ?? 0) + 1;
    this.#saves.set(key, saves);
    const { result, afterMs } = super.save(key, output);
    return { result: this.#script.onSave?.(key, saves, output) ?? result, afterMs };
  }

  override ask(record: JobRecord, now: number): Delivered<CallResult> {
    const call: TextCall = { number: this.calls.length + 1, record, at: now };
    this.calls.push(call);
    const { result, afterMs } = super.ask(record, now);
    const scripted = this.#script.onAsk?.(call);
    if (scripted === undefined) return { result, afterMs };
    const isRefused = 'class' in scripted;
    return { result: isRefused ? { kind: 'refused', error: scripted } : askedOf(record, scripted), afterMs };
  }
}
