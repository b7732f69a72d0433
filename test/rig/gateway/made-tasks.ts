import { kinds } from '../../../src/pipeline/kinds.ts';
import { renderValue } from '../../../src/pipeline/values/value.ts';
import type { Button, JobRecord } from '../../../src/plan/job.ts';
import { gridButtons, upscaledButtons, wantsModal } from '../fake-task.ts';
import type { Temper } from './temper.ts';

/**
 * How a task ends: in a failure that may pass, or in one that never does; not at all; the gateway has no such task any more once it
 * would end; it ends, and nothing links to what it made.
 */
export type TaskEnd = 'success' | 'transient' | 'permanent' | 'stuck' | 'lost' | 'linkless';

export interface FailedEnd {
  readonly status: 'FAILURE' | 'CANCEL';
  readonly failReason: string | null;
}

/** What a submission asks for. */
export interface Work {
  readonly key: string;
  /** That of the first task of a path, which its buttons go on with. */
  readonly prompt: string;
  /** Labels of the buttons pressed since then, each after a slash; empty for an imagine. */
  readonly pressed: string;
}

/** A task as it was made, with all that is to become of it. */
export interface MadeTask extends Work {
  readonly id: string;
  readonly at: number;
  readonly endsAt: number;
  readonly end: TaskEnd;
  /** Where it fails for a reason of its own. */
  readonly why?: FailedEnd;
  readonly buttons: readonly Button[];
  /** Id of the task that it comes from. */
  readonly parentId?: string;
  /** The customId that was pressed, without its age; absent: none. */
  readonly customId?: string;
  /** What its end brings beside the image. */
  readonly brings: { readonly videos?: number; readonly prompts?: true };
  /** It waits for its modal. */
  readonly waits: boolean;
  /** It goes on from a modal that was answered. */
  readonly isAnswered?: true;
  /** It shows MODAL until then, although its modal is answered (gateway 4.6). */
  readonly lingersUntil?: number;
}

/** Submissions this close to each other may get one id, ms. */
const sameBurstMs = 200;

const tooLate: FailedEnd = { status: 'FAILURE', failReason: '任务提交超时' };

/** A customId without the age that it changes with. */
export const buttonOf = (customId: string): string => customId.split('~')[0] ?? '';

/** What a submission asks for, which goes on from the work of its parent. */
export function workOf({ key, request, pressed }: JobRecord, parent: Work | undefined): Work {
  const prompt =
    request.kind === 'click' ? (parent?.prompt ?? '') : renderValue(request.fields['prompt'] ?? '');
  return { key, prompt, pressed: pressed === undefined ? '' : `${parent?.pressed ?? ''}/${pressed.label}` };
}

/** The tasks that a gateway has made: of submissions, and of modals that were answered. */
export class MadeTasks {
  readonly tasks = new Map<string, MadeTask>();
  /** Tasks made for each job. */
  readonly made = new Map<string, number>();
  /** Modals that arrived, by job, since its last click. */
  readonly answered = new Map<string, number>();
  /** Ids that several tasks got: the last one is there. */
  readonly shared = new Set<string>();
  #last: { readonly id: string; readonly at: number; readonly isText: boolean } | undefined;
  #count = 0;
  readonly #temper: Temper;

  constructor(temper: Temper) {
    this.#temper = temper;
  }

  /** Tasks that it is working on. */
  load(now: number): number {
    return [...this.tasks.values()].filter(
      ({ waits, endsAt, end }) => waits || (endsAt > now && end !== 'stuck'),
    ).length;
  }

  /** A submission makes a task. */
  make(record: JobRecord, parent: MadeTask | undefined, now: number): string {
    const { key, pressed, request } = record;
    const count = (this.made.get(key) ?? 0) + 1;
    this.made.set(key, count);
    this.answered.set(key, 0);
    const asks = request.kind === 'click' && (request.fields['remix'] === true || request.mask !== undefined);
    const opens = pressed !== undefined && (asks || wantsModal(pressed));
    const label = pressed?.label ?? '';
    const isFilm = request.kind === 'video' || label.startsWith('Animate');
    const name = `${key} ${count}`;
    const number = this.tasks.size + 1;
    const findsPrompts = kinds[request.kind].makes === 'prompts';
    const id = this.#idFor(name, now, findsPrompts);
    this.tasks.set(id, {
      ...workOf(record, parent),
      id,
      at: now,
      endsAt: now + this.#temper.durationMs(key, name),
      end: this.#temper.end(key, name),
      ...(pressed !== undefined && { customId: buttonOf(pressed.customId) }),
      ...(parent !== undefined && { parentId: parent.id }),
      waits: opens && !this.#temper.isWindowless(key, count),
      brings: isFilm ? { videos: 4 } : findsPrompts ? { prompts: true } : {},
      buttons: (/^U\d$/.test(label) ? upscaledButtons(number) : gridButtons(number)).map(
        ({ customId, label: text, emoji }) => ({ customId, label: text, emoji }),
      ),
    });
    return id;
  }

  /** A modal arrives: its task goes on, under its own id or another one (gateway 4.6). */
  begin(open: MadeTask, now: number): string {
    const { key } = open;
    const count = (this.answered.get(key) ?? 0) + 1;
    this.answered.set(key, count);
    const name = `${key} ${open.id} ${count}`;
    const isLate = this.#temper.isModalOver('begun in vain', open, now);
    if (isLate) this.#temper.meet('modal:begun in vain');
    const endsAt = now + this.#temper.durationMs(key, name);
    const lingersUntil = this.#temper.lingersUntil(name, now, endsAt);
    const begun: MadeTask = {
      ...open,
      at: now,
      endsAt,
      end: isLate ? 'transient' : this.#temper.end(key, name),
      ...(isLate && { why: tooLate }),
      waits: false,
      isAnswered: true,
    };
    const id = this.#temper.keepsId(key) ? open.id : this.#nextId();
    if (id !== open.id) this.tasks.set(id, { ...begun, id });
    // Of the one that waited, gateways go on to show the work, or MODAL.
    this.tasks.set(open.id, { ...begun, ...(lingersUntil !== undefined && { lingersUntil }) });
    return id;
  }

  /** @param isText where it makes texts: for want of them nobody could tell the picture of another from a describe that came to nothing */
  #idFor(name: string, now: number, isText: boolean): string {
    const last = this.#last;
    const isOfBurst = last?.isText === isText && Math.abs(now - last.at) < sameBurstMs;
    const repeats = isOfBurst && this.#temper.repeatsId(name);
    const id = repeats ? last.id : this.#nextId();
    if (repeats) {
      this.shared.add(id);
      this.#temper.meet('id:shared');
    }
    this.#last = { id, at: now, isText };
    return id;
  }

  /** Longer than 2^53: an id that is rounded is another id. */
  #nextId(): string {
    return `14001929738${String(100_001 + this.#count++)}`;
  }
}
