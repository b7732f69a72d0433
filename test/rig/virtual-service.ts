import type { SaveFailure, SaveResult } from '../../src/artifacts/writer.ts';
import { renderValue } from '../../src/pipeline/values/value.ts';
import type { Artifact, Button, JobRecord } from '../../src/plan/job.ts';
import { evaluateReply } from '../../src/run/effects/evaluate-reply.ts';
import type { CallResult } from '../../src/run/machine/job.ts';
import type { SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../src/service/result.ts';
import type { ReplyCandidate, TextReply } from '../../src/service/text-service.ts';
import { gridButtons, upscaledButtons, wantsModal } from './fake-task.ts';

/** A submission as the virtual service sees it. */
export interface VirtualSubmit {
  /** Counts from 1. */
  readonly number: number;
  readonly key: string;
  readonly prompt: string;
  /** Label of the pressed button; empty for an imagine. */
  readonly pressed: string;
  readonly at: number;
}

/** The answer to a modal as the virtual service sees it. */
export interface VirtualModal {
  /** Counts from 1. */
  readonly number: number;
  readonly record: JobRecord;
  readonly taskId: string;
  readonly at: number;
}

/** A text call as the virtual service sees it. */
export interface VirtualCall {
  /** Counts from 1. */
  readonly number: number;
  readonly record: JobRecord;
  readonly at: number;
}

export interface VirtualTask {
  readonly id: string;
  readonly submit: VirtualSubmit;
  readonly endsAt: number;
  readonly end:
    | { readonly state: 'success'; readonly videos?: number; readonly prompts?: readonly string[] }
    | { readonly state: 'failure'; readonly failReason: string };
  readonly buttons: readonly Button[];
  /** It waits for its modal. */
  readonly waits?: true;
}

/** What a fault makes of a request: the answer it gets, and whether the service carried it out all the same. */
export interface VirtualFault {
  readonly error: ServiceFailure;
  readonly made?: boolean;
}

export interface VirtualScript {
  /** ms from submission to the end. Default 30 s. */
  readonly duration?: (submit: VirtualSubmit) => number;
  /** How a task ends. Default success. */
  readonly end?: (submit: VirtualSubmit) => VirtualTask['end'];
  /** Instead of the usual answer. */
  readonly onSubmit?: (submit: VirtualSubmit) => VirtualFault | SubmitResult | undefined;
  readonly onModal?: (modal: VirtualModal) => VirtualFault | SubmitResult | undefined;
  /** Why the mask of a click is none; `masks` counts from 1. Default: it fits. */
  readonly onMask?: (record: JobRecord, masks: number) => SaveFailure | undefined;
  /** How a click that opens a modal is answered (gateway 4.6): 21, or 1 and MODAL when it is looked at. Default 21. */
  readonly modalCode?: 1 | 21;
  /** The task of an answered modal has the id of the one that waited. Default a new one. */
  readonly sameTask?: boolean;
  readonly onFetch?: (taskId: string, fetches: number, at: number) => ServiceFailure | undefined;
  /** Its tasks, with the tags of their submissions, `searches` counted from 1. Default: it has no such list. */
  readonly onSearch?: (tasks: readonly Task[], searches: number) => readonly Task[] | ServiceFailure;
  /** Instead of a greeting. */
  readonly onAsk?: (call: VirtualCall) => TextReply | ServiceFailure | undefined;
  readonly onSave?: (key: string, saves: number, output: number) => SaveResult | undefined;
}

/** A failure as the client would give it. */
export function failure(
  code: string,
  kind: ServiceFailure['class'],
  more: Partial<ServiceFailure> = {},
): ServiceFailure {
  return { code, class: kind, message: `${code} (made up)`, ...more };
}

/** An answer of one candidate, to be changed by a test. */
export function textReply(
  candidate: Partial<ReplyCandidate> = {},
  reply: Partial<TextReply> = {},
): TextReply {
  const { text = '', images = [], functionCalls = [] } = candidate;
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...images.map((image) => ({ inlineData: image })),
    ...functionCalls.map((functionCall) => ({ functionCall })),
  ];
  return {
    candidates: [{ parts, text, images, functionCalls, finishReason: 'STOP', ...candidate }],
    usage: { prompt: 10, candidates: 5, total: 15 },
    whole: {},
    ...reply,
  };
}

/** What the effect makes of an answer, with files of which only the names are true. */
export function askedOf(record: JobRecord, reply: TextReply): CallResult {
  const { verdict, text, pieces } = evaluateReply(record, reply);
  const { key } = record;
  const artifacts = pieces.map((piece, index): Artifact => {
    const output = index + 1;
    const place = (folder: string, extension: string): string =>
      `${folder}/${key.slice(0, 2)}/${key}-${output}.${extension}`;
    const { candidate } = piece;
    return piece.kind === 'text'
      ? { output, file: place('text', 'txt'), bytes: 1, sha256: key, mime: piece.mime, candidate }
      : { output, file: place('images', 'png'), bytes: 1, sha256: key, mime: 'image/png', candidate };
  });
  return {
    kind: 'answered',
    asked: {
      verdict,
      text,
      artifacts: record.keep ? artifacts : [],
      ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    },
  };
}

/**
 * A model of the service in virtual time: no socket, no promise. It counts every task it made, by what was asked.
 */
export class VirtualService {
  readonly tasks = new Map<string, VirtualTask>();
  readonly submits: VirtualSubmit[] = [];
  readonly modals: VirtualModal[] = [];
  /** Jobs whose mask was made before their click. */
  readonly masks: string[] = [];
  readonly calls: VirtualCall[] = [];
  readonly fetchTimes: number[] = [];
  /** How many tasks each listing was asked for. */
  readonly lists: number[] = [];
  /** How often all its tasks were asked for. */
  searches = 0;
  /** Tasks made, by prompt and pressed buttons. */
  readonly made = new Map<string, number>();
  readonly #script: VirtualScript;
  readonly #fetches = new Map<string, number>();
  readonly #saves = new Map<string, number>();

  constructor(script: VirtualScript = {}) {
    this.#script = script;
  }

  /** Tasks that are not finished at this moment. */
  inFlight(at: number): number {
    return [...this.tasks.values()].filter((task) => task.submit.at <= at && task.endsAt > at).length;
  }

  submit(record: JobRecord, parentTaskId: string | undefined, at: number): ServiceResult<SubmitResult> {
    const parent = parentTaskId === undefined ? undefined : this.tasks.get(parentTaskId);
    const { request, pressed } = record;
    const prompt =
      request.kind !== 'click' ? renderValue(request.fields['prompt'] ?? '') : (parent?.submit.prompt ?? '');
    const path = pressed === undefined ? '' : `${parent?.submit.pressed ?? ''}/${pressed.label}`;
    const submit: VirtualSubmit = {
      number: this.submits.length + 1,
      key: record.key,
      prompt,
      pressed: path,
      at,
    };
    this.submits.push(submit);
    const scripted = this.#script.onSubmit?.(submit);
    if (scripted !== undefined && 'error' in scripted) {
      if (scripted.made) this.#make(submit, pressed);
      return { ok: false, error: scripted.error };
    }
    if (scripted !== undefined) return { ok: true, value: scripted };
    if (pressed !== undefined && parent?.buttons.every(({ customId }) => customId !== pressed.customId))
      throw new Error(`The button ${pressed.label} (${pressed.customId}) is not on task ${parentTaskId}.`);
    const { id } = this.#make(submit, pressed);
    if (this.tasks.get(id)?.waits && this.#script.modalCode !== 1)
      return { ok: true, value: { kind: 'modal', taskId: id, code: 21 } };
    return { ok: true, value: { kind: 'accepted', taskId: id, code: 1 } };
  }

  modal(record: JobRecord, at: number): ServiceResult<SubmitResult> {
    const { taskId = '' } = record.modal ?? {};
    const modal: VirtualModal = { number: this.modals.length + 1, record, taskId, at };
    this.modals.push(modal);
    const scripted = this.#script.onModal?.(modal);
    if (scripted !== undefined && 'error' in scripted) {
      if (scripted.made) this.#answered(taskId, at);
      return { ok: false, error: scripted.error };
    }
    if (scripted !== undefined) return { ok: true, value: scripted };
    return { ok: true, value: { kind: 'accepted', taskId: this.#answered(taskId, at), code: 1 } };
  }

  /** The mask of a click, made for the parent's image: nothing that the service hears of. */
  mask(record: JobRecord): SaveFailure | undefined {
    this.masks.push(record.key);
    return this.#script.onMask?.(record, this.masks.length);
  }

  /** A modal that was lost for the run has reached its task all the same. */
  arrive(taskId: string): void {
    this.#answered(taskId, this.tasks.get(taskId)?.submit.at ?? 0);
  }

  /** The work begins. @returns the id of its task */
  #answered(taskId: string, at: number): string {
    const open = this.tasks.get(taskId);
    if (open?.waits !== true) throw new Error(`Task ${taskId} waits for no modal.`);
    const { waits: _, ...task } = open;
    const id = this.#script.sameTask ? taskId : String(Number(taskId) + 1_000_000);
    const begun = { ...task, id, endsAt: at + task.endsAt - task.submit.at };
    this.tasks.set(taskId, begun);
    this.tasks.set(id, begun);
    return id;
  }

  fetch(taskId: string, at: number): ServiceResult<Task> {
    this.fetchTimes.push(at);
    return this.#poll(taskId, at);
  }

  #poll(taskId: string, at: number): ServiceResult<Task> {
    const fetches = (this.#fetches.get(taskId) ?? 0) + 1;
    this.#fetches.set(taskId, fetches);
    const scripted = this.#script.onFetch?.(taskId, fetches, at);
    if (scripted !== undefined) return { ok: false, error: scripted };
    const task = this.tasks.get(taskId);
    if (task === undefined)
      return { ok: false, error: failure('service.task-unknown', 'permanent', { status: 404 }) };
    if (task.waits) return { ok: true, value: { id: taskId, state: 'modal', status: 'MODAL', buttons: [] } };
    if (at < task.endsAt)
      return { ok: true, value: { id: taskId, state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } };
    if (task.end.state === 'failure')
      return {
        ok: true,
        value: {
          id: taskId,
          state: 'failure',
          status: 'FAILURE',
          failReason: task.end.failReason,
          buttons: [],
        },
      };
    const { videos = 0, prompts } = task.end;
    const videoUrls = Array.from(
      { length: videos },
      (_, n) => `https://videos/${taskId}/${n + 1}?${fetches}`,
    );
    return {
      ok: true,
      value: {
        id: taskId,
        state: 'success',
        status: 'SUCCESS',
        imageUrl: `https://images/${taskId}?${fetches}`,
        buttons: task.buttons,
        ...(videos === 0 ? {} : { videoUrls }),
        ...(prompts === undefined ? {} : { prompts }),
      },
    };
  }

  list(taskIds: readonly string[], at: number): ServiceResult<readonly Task[]> {
    this.lists.push(taskIds.length);
    const results = taskIds.map((id) => this.#poll(id, at));
    return { ok: true, value: results.flatMap((result) => (result.ok ? [result.value] : [])) };
  }

  /** True where it lists its tasks. */
  get reportsUsage(): boolean {
    return this.#script.onSearch !== undefined;
  }

  /** All its tasks, tagged by the keys of their jobs. */
  listAll(at: number): ServiceResult<readonly Task[]> {
    this.searches += 1;
    const tasks = [...this.tasks.values()].flatMap(({ id, submit }): readonly Task[] => {
      const result = this.#poll(id, at);
      return result.ok ? [{ ...result.value, tag: submit.key, submittedAt: submit.at }] : [];
    });
    const said = this.#script.onSearch?.(tasks, this.searches) ?? tasks;
    return 'class' in said ? { ok: false, error: said } : { ok: true, value: said };
  }

  save(key: string, output = 1): SaveResult {
    const saves = (this.#saves.get(key) ?? 0) + 1;
    this.#saves.set(key, saves);
    return (
      this.#script.onSave?.(key, saves, output) ?? {
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
      }
    );
  }

  /** A text call and all that its effect does with the answer. */
  ask(record: JobRecord, at: number): CallResult {
    const call: VirtualCall = { number: this.calls.length + 1, record, at };
    this.calls.push(call);
    const result = this.#script.onAsk?.(call) ?? textReply({ text: `Hello ${call.number}.` });
    return 'class' in result ? { kind: 'refused', error: result } : askedOf(record, result);
  }

  #make(submit: VirtualSubmit, pressed?: Button): VirtualTask {
    const number = this.tasks.size + 1;
    const upscale = /\/U\d$/.test(submit.pressed);
    const task: VirtualTask = {
      id: String(1_000_000_000_000_000 + number),
      submit,
      endsAt: submit.at + (this.#script.duration?.(submit) ?? 30_000),
      end: this.#script.end?.(submit) ?? { state: 'success' },
      buttons: (upscale ? upscaledButtons(number) : gridButtons(number)).map(
        ({ customId, label, emoji }) => ({ customId, label, emoji }),
      ),
      ...(pressed !== undefined && wantsModal(pressed) && { waits: true }),
    };
    this.tasks.set(task.id, task);
    const what = `${submit.prompt}|${submit.pressed}`;
    this.made.set(what, (this.made.get(what) ?? 0) + 1);
    return task;
  }
}
