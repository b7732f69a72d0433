import type { SaveAnswer, SaveFailure } from '../../src/artifacts/writer.ts';
import type { Button, JobRecord } from '../../src/plan/job.ts';
import type { AskAnswer } from '../../src/run/job.ts';
import type { Answer, Task } from '../../src/service/answer.ts';
import { connectionFailure } from '../../src/service/classify.ts';
import type { Loss } from '../../src/service/reply.ts';
import { readSubmit } from '../../src/service/submit.ts';
import { readTask } from '../../src/service/task.ts';
import { readTaskList } from '../../src/service/task-list.ts';
import type { DrivenService, Heard, Submitted } from '../rig/drive.ts';
import { gridButtons, upscaledButtons, wantsModal } from '../rig/fake-task.ts';
import { Chance } from './chance.ts';
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
import { carryOutAsk } from './text-gateway.ts';

type End = 'success' | 'transient' | 'permanent' | 'stuck';

interface SimTask {
  readonly id: string;
  readonly at: number;
  readonly endsAt: number;
  readonly end: End;
  readonly buttons: readonly Button[];
  readonly key: string;
  /** What its end brings beside the image. */
  readonly brings: { readonly videos?: number; readonly prompts?: true };
  /** It waits for its modal. */
  readonly waits: boolean;
  /** It shows MODAL until then, although its modal is answered (protocol.md, fact 4). */
  readonly lingersUntil?: number;
}

/** A proxy compares with the click's time when the modal comes (protocol.md 3). */
const modalMs = 3_600_000;

/** How often a gateway asks for what it shows of a task, twice: once it may fail (protocol.md 2.2). */
const refreshMs = 30_000;

/** How long a request that is never answered is waited for. */
export const requestMs = 60_000;
/** How long a text call that is never answered is waited for. */
export const textMs = 600_000;

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
    const fault = barred ?? this.#fault(submitFaults, this.#scenario.submit, route, n);
    const latency = this.#latency(n);
    const { capacity } = this.#scenario;
    const isFull = capacity !== undefined && route === 'submit' && this.#load(now) >= capacity;
    const heard = (answer: Submitted, afterMs = latency): Heard<Submitted> => ({
      answer,
      afterMs,
    });
    const reply = (
      status: number,
      body: unknown,
      headers: Readonly<Record<string, string>> = {},
    ): Heard<Submitted> => heard(readSubmit(replyOf(status, body, headers), facts(false)));
    const accept = (code = 1): Heard<Submitted> => {
      const id = make();
      const asks = route === 'submit' && this.tasks.get(id)?.waits === true;
      // A gateway may turn the 21 into 1, so that only a look shows MODAL (protocol.md 2.1).
      const said = asks && this.#chance.happens(0.5, 'modal at once', n) ? 21 : code;
      return reply(200, {
        code: said,
        description: 'ok',
        result: id,
        properties: asks ? { remix: true } : {},
      });
    };
    const lost = (loss: Loss, sent: boolean, afterMs = latency): Heard<Submitted> =>
      heard({ ok: false, error: connectionFailure(loss, sent, facts(false)) }, afterMs);
    const envelope = { error: { code: '', message: `trouble (request id: r${n})`, type: 'svc_api_error' } };
    if (fault?.endsWith('-made')) make();
    switch (fault) {
      case undefined:
        return isFull && !this.healed
          ? reply(200, { code: 23, description: '队列已满，请稍后尝试', result: null })
          : accept();
      case '400':
      case '403':
      case '413':
        // Said of this request alone, so that twenty equal ones in a row are another matter.
        return reply(Number(fault), {
          error: { code: '', message: `not ${record.key} (request id: r${n})`, type: 'svc_api_error' },
        });
      case '429':
        return reply(429, envelope);
      case '429-after':
        return reply(429, envelope, { 'retry-after': '7' });
      case '400-code-5':
      case '400-code-5-made':
        return reply(400, { description: 'do_request_failed ', type: 'upstream_error', code: 5 });
      case 'code-22':
        return accept(22);
      case 'code-23':
      case 'code-9':
        return reply(200, {
          code: Number(fault.slice(5)),
          description: '队列已满，请稍后尝试',
          result: null,
        });
      case 'code-3-account':
        return reply(200, { code: 3, description: '无可用的账号实例', result: null });
      case 'code-3-task':
        return reply(200, { code: 3, description: `关联任务不存在或已失效 ${record.key}`, result: null });
      case 'code-4':
        return reply(200, { code: 4, description: `参数错误 ${record.key}`, result: null });
      case 'code-24':
        return reply(200, { code: 24, description: '可能包含敏感词', properties: { bannedWord: 'x' } });
      case 'code-21':
        return reply(200, {
          code: 21,
          description: 'Waiting for window confirm',
          result: make(),
          properties: { remix: true },
        });
      case 'not-ready':
        return reply(200, { code: 4, description: '关联任务状态错误', result: null });
      case 'unread-retry':
      case 'unread-permanent':
        return heard({ unread: fileFailures[fault] });
      case 'refused':
        return lost({ code: 'connection.refused', what: 'connection refused' }, false);
      case 'reset':
      case 'reset-made':
        return lost({ code: 'connection.lost', what: 'the connection was reset' }, true);
      case 'timeout-made':
        return lost({ code: 'connection.timeout', what: 'no answer in time' }, true, requestMs);
      case 'truncated-made':
        return heard(
          readSubmit(
            {
              status: 200,
              header: () => null,
              body: { kind: 'unread', loss: { code: 'connection.lost', what: 'the answer was cut off' } },
            },
            facts(false),
          ),
        );
      case 'empty-made':
        return reply(200, '');
      case 'html-502':
        return reply(502, '<html><title>Bad gateway</title></html>');
      case 'bare-id': {
        const id = make();
        return reply(200, `{"code":1,"description":"ok","result":${id}}`);
      }
      case '408':
      case '500':
      case '502':
      case '503':
      case '504':
      case '520':
      case '524':
      case '500-made':
      case '504-made':
      case '524-made':
        return reply(Number(fault.slice(0, 3)), envelope);
    }
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
    return { answer: this.#look(id, now, fault), afterMs };
  }

  list(ids: readonly string[], now: number): Heard<Answer<readonly Task[]>> {
    const n = ++this.#requests;
    const fault = this.#fault(fetchFaults, this.#scenario.fetch, 'list', n);
    const afterMs = fault === 'timeout' ? requestMs : this.#latency(n);
    if (this.#scenario.listing === 'refused')
      return { answer: readTaskList(ids, replyOf(404, '<html></html>'), facts(true)), afterMs };
    const looks = ids.map((id) => this.#look(id, now, fault));
    const failed = looks.find((look) => !look.ok && look.error.code !== 'service.task-unknown');
    if (failed !== undefined && !failed.ok) return { answer: failed, afterMs };
    // In any order, and what is not known is missing.
    const value = looks.flatMap((look) => (look.ok ? [look.value] : [])).reverse();
    return { answer: { ok: true, value }, afterMs };
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

  #look(id: string, now: number, fault: FetchFault | undefined): Answer<Task> {
    const reply = (status: number, body: unknown): Answer<Task> =>
      readTask(id, replyOf(status, body), facts(true));
    const lost = (loss: Loss): Answer<Task> => ({
      ok: false,
      error: connectionFailure(loss, true, facts(true)),
    });
    const task = this.tasks.get(id);
    switch (fault) {
      case '429':
      case '500':
      case '502':
      case '503':
      case '504':
      case '524':
        return reply(Number(fault), { error: { code: '', message: 'trouble', type: 'svc_api_error' } });
      case 'reset':
        return lost({ code: 'connection.lost', what: 'the connection was reset' });
      case 'timeout':
        return lost({ code: 'connection.timeout', what: 'no answer in time' });
      case 'truncated':
        return readTask(
          id,
          {
            status: 200,
            header: () => null,
            body: { kind: 'unread', loss: { code: 'connection.lost', what: 'cut off' } },
          },
          facts(true),
        );
      case 'unknown':
        return reply(400, { description: 'task_no_found ', type: 'upstream_error', code: 4 });
      case 'null':
        return reply(200, 'null');
      case 'html-502':
        return reply(502, '<html></html>');
      case 'broken-json':
        return reply(200, '{"id":"');
      case 'empty-status':
        return reply(200, { id, status: '', progress: '0%', buttons: null, imageUrl: '' });
      case 'null-buttons':
      case undefined:
        break;
    }
    if (task === undefined)
      return reply(400, { description: 'task_no_found ', type: 'upstream_error', code: 4 });
    const age = now - task.at;
    if (!this.healed && this.#scenario.lag && age >= 0 && age < 3000) return reply(200, 'null');
    const isGone = task.waits && !this.healed && age > modalMs && this.#chance.happens(0.3, 'modal gone', id);
    if (isGone) return reply(200, { id, status: 'FAILURE', failReason: '任务提交超时', buttons: [] });
    const lingers = task.lingersUntil !== undefined && now < task.lingersUntil && !this.healed;
    if (task.waits || lingers)
      return reply(200, {
        id,
        status: 'MODAL',
        progress: null,
        buttons: fault === 'null-buttons' ? null : [],
      });
    const ended = now >= task.endsAt && (task.end !== 'stuck' || this.healed);
    if (!ended)
      return reply(200, {
        id,
        status: 'IN_PROGRESS',
        progress: '46%',
        imageUrl: 'https://images.example/preview.webp',
        buttons: fault === 'null-buttons' ? null : [],
      });
    switch (task.end) {
      case 'transient':
        return reply(200, {
          id,
          status: 'FAILURE',
          failReason: '[Internal error] Something went wrong',
          buttons: [],
        });
      case 'permanent':
        return reply(200, { id, status: 'FAILURE', failReason: '[Banned prompt detected] no', buttons: [] });
      case 'success':
      case 'stuck':
        this.#told.add(id);
        return reply(200, {
          id,
          status: 'SUCCESS',
          progress: '100%',
          buttons: this.#buttonsAt(task, now),
          ...this.#result(task, now),
        });
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
    const late = !this.healed && now - open.at > modalMs;
    const begun = {
      at: now,
      endsAt: now + this.#chance.whole(500, 90_000, 'duration', name),
      end: late ? 'transient' : this.#drawEnd(name),
      waits: false,
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
    const { transient, permanent, stuck } = this.#scenario.ends;
    const drawn = this.#chance.of('end', name);
    if (drawn < transient) return 'transient';
    if (drawn < transient + permanent) return 'permanent';
    return drawn < transient + permanent + stuck ? 'stuck' : 'success';
  }

  #fault<K extends SubmitFault | FetchFault | AskFault | keyof typeof saveFailures>(
    kinds: readonly K[],
    rates: Readonly<Partial<Record<K, number>>>,
    route: string,
    n: number,
  ): K | undefined {
    if (this.healed) return undefined;
    return kinds.find((kind) => this.#chance.happens(rates[kind] ?? 0, route, kind, n));
  }

  #latency(n: number): number {
    return this.#chance.whole(20, 2000, 'latency', n);
  }
}
