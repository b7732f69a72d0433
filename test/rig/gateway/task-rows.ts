import type { Button } from '../../../src/plan/job.ts';
import type { MadeTask, MadeTasks } from './made-tasks.ts';
import type { Row } from './task-answers.ts';
import type { Temper } from './temper.ts';

/** What a gateway shows of its tasks, before anything goes wrong on the way. */
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
    const row = task && this.#rowOf(task, now);
    const tells = this.#temper.tellsOf();
    if (task === undefined || row === undefined || tells === 'nothing') return row;
    return tells === 'state' ? { ...row, state: task.key } : { ...row, prompt: `${task.prompt} --v 6.1` };
  }

  #rowOf(task: MadeTask, now: number): Row | undefined {
    const { id } = task;
    const { healed } = this.#temper;
    const lingers = task.lingersUntil !== undefined && now < task.lingersUntil && !healed;
    if (task.waits || lingers) {
      const isOver = (['gone', 'failed'] as const).some((how) => this.#temper.isModalOver(how, task, now));
      return task.waits && isOver
        ? { id, status: 'FAILURE', failReason: '上游任务超时（超过1小时）', progress: '100%', buttons: [] }
        : { id, status: 'MODAL', progress: null, buttons: [] };
    }
    const { end } = task;
    if (now < task.endsAt || (end === 'stuck' && !healed)) {
      const imageUrl = 'https://images.example/preview.webp';
      const progress = this.#temper.workingProgress(task, now);
      return { id, status: this.#temper.workingStatus(id), progress, imageUrl, buttons: [] };
    }
    switch (end) {
      case 'lost':
        return undefined;
      case 'transient':
      case 'permanent':
        return { id, progress: '', buttons: [], ...(task.why ?? this.#temper.failure(task)) };
      case 'success':
      case 'stuck':
      case 'linkless':
        this.reported.add(id);
        return {
          id,
          status: 'SUCCESS',
          progress: '100%',
          buttons: this.#buttonsAt(task, now),
          ...((end !== 'linkless' || healed) && this.#result(task, now)),
        };
    }
  }

  #buttonsAt({ buttons }: MadeTask, now: number): readonly Button[] {
    const age = this.#temper.customIdAge(now);
    if (age === undefined) return buttons;
    return buttons.map(({ customId, ...shown }) => ({ ...shown, customId: `${customId}~${age}` }));
  }

  /** A gateway copies what a task brought up to three times 15 s after its status (gateway 3.5). */
  #result(task: MadeTask, now: number): Readonly<Record<string, unknown>> {
    const image = { imageUrl: `https://images.example/${task.id}.png` };
    const isLate = now < task.endsAt + this.#temper.resultLagMs(task.id);
    const more = this.#brings(task);
    if (!isLate) return { ...image, ...more };
    return Object.keys(more).length === 0 ? {} : { ...image, action: more['action'] ?? null };
  }

  #brings({ id, brings: { videos, prompts } }: MadeTask): Readonly<Record<string, unknown>> {
    if (prompts) return { action: 'DESCRIBE', properties: { finalPrompt: '1️⃣ a fox\n\n2️⃣ a hare' } };
    if (videos === undefined) return {};
    return {
      videoUrls: Array.from({ length: videos }, (_, n) => ({ url: `https://v.example/${id}/${n}.mp4` })),
    };
  }
}
