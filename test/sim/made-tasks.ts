import type { Button, JobRecord } from '../../src/plan/job.ts';
import { gridButtons, upscaledButtons, wantsModal } from '../rig/fake-task.ts';
import type { FailedEnd } from './ends.ts';
import type { Scenario } from './scenario.ts';
import type { Temper } from './temper.ts';

/** `lost`: the service has no such task any more once it would end. `linkless`: it ends, and nothing links to what it made. */
type End = 'success' | keyof Scenario['ends'];

/** A task as it was made, with all that is to become of it. */
export interface SimTask {
  readonly id: string;
  readonly at: number;
  readonly endsAt: number;
  readonly end: End;
  /** Where it fails for a reason of its own. */
  readonly why?: FailedEnd;
  readonly buttons: readonly Button[];
  readonly key: string;
  /** The customId that was pressed, without its age; absent: none. */
  readonly pressed?: string;
  /** What its end brings beside the image. */
  readonly brings: { readonly videos?: number; readonly prompts?: true };
  /** It waits for its modal. */
  readonly waits: boolean;
  /** It goes on from a modal that was answered. */
  readonly isAnswered?: true;
  /** It shows MODAL until then, although its modal is answered (gateway 4.6). */
  readonly lingersUntil?: number;
}

/** A proxy compares with the click's time when the modal comes (gateway 4.6). */
export const modalMs = 3_600_000;

const tooLate: FailedEnd = { status: 'FAILURE', failReason: '任务提交超时' };

/** How often a gateway asks for what it shows of a task, twice: once it may fail (gateway 3.5). */
const refreshMs = 30_000;

/** A customId without the age that it changes with. */
export const buttonOf = (customId: string): string => customId.split('~')[0] ?? '';

/** The tasks that a simulated gateway has made: of submissions, and of modals that were answered. */
export class MadeTasks {
  readonly tasks = new Map<string, SimTask>();
  /** Tasks made for each job. */
  readonly made = new Map<string, number>();
  /** Modals that arrived, by job, since its last click. */
  readonly answered = new Map<string, number>();
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

  /** The life of an open modal is over, in this way. */
  isOver({ at }: SimTask, now: number, how: NonNullable<Scenario['modalLife']>['how']): boolean {
    const { modalLife } = this.#temper.scenario;
    return !this.#temper.healed && modalLife?.how === how && now - at > modalLife.ms;
  }

  /** A submission makes a task. */
  make(record: JobRecord, now: number): string {
    const count = (this.made.get(record.key) ?? 0) + 1;
    this.made.set(record.key, count);
    this.answered.set(record.key, 0);
    const { pressed, request } = record;
    const asks = request.kind === 'click' && (request.fields['remix'] === true || request.mask !== undefined);
    const { windowless = 0 } = this.#temper.scenario;
    const isDumb =
      !this.#temper.healed && this.#temper.chance.happens(windowless, 'windowless', record.key, count);
    return this.#note(
      {
        at: now,
        key: record.key,
        ...(pressed !== undefined && { pressed: buttonOf(pressed.customId) }),
        waits: pressed !== undefined && (asks || wantsModal(pressed)) && !isDumb,
        name: `${record.key} ${count}`,
        label: pressed?.label ?? '',
        kind: request.kind,
      },
      now,
    );
  }

  /** A modal arrives: its task goes on, under its own id or another one (gateway 4.6). */
  begin(open: SimTask, now: number): string {
    const count = (this.answered.get(open.key) ?? 0) + 1;
    this.answered.set(open.key, count);
    const name = `${open.key} ${open.id} ${count}`;
    const late = !this.#temper.healed && (now - open.at > modalMs || this.isOver(open, now, 'begun in vain'));
    if (late) this.#temper.meet('modal:begun in vain');
    const begun = {
      at: now,
      endsAt: now + this.#temper.chance.whole(500, 90_000, 'duration', name),
      end: late ? 'transient' : this.#drawEnd(name),
      ...(late && { why: tooLate }),
      waits: false,
      isAnswered: true,
    } as const;
    const { lingers } = this.#temper.scenario;
    const lingersUntil =
      lingers === 'work' ? begun.endsAt : now + this.#temper.chance.whole(0, refreshMs, 'refresh', name);
    const task: SimTask = { ...open, ...begun, ...(lingers !== 'no' && { lingersUntil }) };
    if (this.#temper.chance.happens(0.5, 'same task', open.key)) {
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
    }: Pick<SimTask, 'at' | 'key' | 'waits' | 'pressed'> & {
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
      endsAt: now + this.#temper.chance.whole(500, 90_000, 'duration', name),
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
    if (this.#temper.healed) return 'success';
    let left = this.#temper.chance.of('end', name);
    for (const [end, share] of Object.entries(this.#temper.scenario.ends)) {
      left -= share;
      if (left >= 0) continue;
      this.#temper.meet(`end:${end}`);
      return end as End;
    }
    return 'success';
  }
}
