import type { Button } from '../../src/plan/job.ts';
import { type FailedEnd, lasting, passing } from './ends.ts';
import { type MadeTasks, modalMs, type SimTask } from './made-tasks.ts';
import type { Row } from './task-answers.ts';
import type { Temper } from './temper.ts';

/** What a simulated gateway shows of its tasks, before anything goes wrong on the way. */
export class TaskRows {
  /** Tasks whose end it has reported. */
  readonly reported = new Set<string>();
  readonly #temper: Temper;
  readonly #made: MadeTasks;

  constructor(temper: Temper, made: MadeTasks) {
    this.#temper = temper;
    this.#made = made;
  }

  /** A task as the gateway has it on record; undefined: it has none. */
  of(id: string, now: number): Row | undefined {
    const task = this.#made.tasks.get(id);
    if (task === undefined) return undefined;
    const lingers = task.lingersUntil !== undefined && now < task.lingersUntil && !this.#temper.healed;
    if (task.waits || lingers) {
      const isGone =
        !this.#temper.healed && now - task.at > modalMs && this.#temper.chance.happens(0.3, 'modal gone', id);
      const isOver = task.waits && (isGone || this.#made.isOver(task, now, 'failed'));
      return isOver
        ? { id, status: 'FAILURE', failReason: '上游任务超时（超过1小时）', progress: '100%', buttons: [] }
        : { id, status: 'MODAL', progress: null, buttons: [] };
    }
    const { end } = task;
    if (now < task.endsAt || (end === 'stuck' && !this.#temper.healed)) {
      const words = ['IN_PROGRESS', 'IN_PROGRESS', 'SUBMITTED', 'NOT_START', '', 'QUEUED'] as const;
      const status = this.#temper.chance.pick(words, 'stands at', id);
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
        this.reported.add(id);
        return {
          id,
          status: 'SUCCESS',
          progress: '100%',
          buttons: this.#buttonsAt(task, now),
          ...((end !== 'linkless' || this.#temper.healed) && this.#result(task, now)),
        };
    }
  }

  /** What a customId ends in at this moment, where it changes. */
  ageAt(now: number): string | undefined {
    const { buttonLifeMs } = this.#temper.scenario;
    return buttonLifeMs === undefined || this.#temper.healed
      ? undefined
      : String(Math.floor(now / buttonLifeMs));
  }

  #buttonsAt({ buttons }: SimTask, now: number): readonly Button[] {
    const age = this.ageAt(now);
    if (age === undefined) return buttons;
    return buttons.map(({ customId, ...shown }) => ({ ...shown, customId: `${customId}~${age}` }));
  }

  #failureOf({ id, end, why }: SimTask): FailedEnd {
    return why ?? this.#temper.chance.pick(end === 'transient' ? passing : lasting, 'reason', id);
  }

  /** A gateway copies what a task brought up to three times 15 s after its status (gateway 3.5). */
  #result(task: SimTask, now: number): Readonly<Record<string, unknown>> {
    const image = { imageUrl: `https://images.example/${task.id}.png` };
    const lagMs = this.#temper.chance.whole(0, 45_000, 'result', task.id);
    const isLate = this.#temper.scenario.resultsLag && !this.#temper.healed && now < task.endsAt + lagMs;
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
}
