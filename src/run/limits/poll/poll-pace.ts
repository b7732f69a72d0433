import type { TaskWatch } from '../../machine/job.ts';
import { KindModel } from './kind-model.ts';
import { learnedPolls, learnedPollsText } from './learned-polls.ts';
import { ProgressMap } from './progress-map.ts';
import type { TaskKind } from './task-kind.ts';

/** Largest number of separate kinds. Tasks of further kinds use the durations of their class. */
const maxKinds = 200;
/**
 * Decides when to poll a task again. Services do not say how often to poll (gateway 9.4), so this class learns how long each kind of task
 * takes and how progress relates to time, and polls when an end is likely.
 */
export class PollPace {
  readonly #bounds: { readonly minMs: number; readonly maxMs: number };
  readonly #kinds = new Map<string, { readonly model: KindModel; readonly broader: string }>();
  readonly #classes = new Map<string, { readonly model: KindModel; readonly progress: ProgressMap }>();

  /** The model of all tasks of this run, of any class. */
  readonly #all = new KindModel();

  /** @param learned durations saved by an earlier run */
  constructor(bounds: { readonly minMs: number; readonly maxMs: number }, learned?: string) {
    this.#bounds = bounds;
    const kept = learnedPolls(learned);
    for (const { name, broader, ...kind } of kept?.kinds ?? [])
      this.#modelOf({ name, broader }).restore(kind);
    for (const { name, ends, counts, progress } of kept?.classes ?? []) {
      const { model, progress: map } = this.#classOf(name);
      model.restore({ ends, counts });
      map.restore(progress);
    }
  }

  /** Learned durations to save for the next run; undefined where there are none. */
  get learned(): string | undefined {
    if (![...this.#classes.values()].some(({ model }) => model.ends > 0)) return undefined;
    return learnedPollsText({
      kinds: [...this.#kinds].map(([name, { model, broader }]) => ({ name, broader, ...model.kept })),
      classes: [...this.#classes].map(([name, { model, progress }]) => ({
        name,
        ...model.kept,
        progress: progress.counts,
      })),
    });
  }

  /**
   * Notes the end of a task that a poll has shown.
   *
   * @param watch what earlier polls of the task have shown
   * @param ageMs age of the task at the poll that showed the end
   */
  learn(kind: TaskKind, watch: TaskWatch | undefined, ageMs: number): void {
    const afterMs = Math.min(ageMs, watch?.ageMs ?? 0);
    this.#modelOf(kind).learn(afterMs, ageMs);
    this.#all.learn(afterMs, ageMs);
    if (watch !== undefined) this.#classOf(kind.broader).progress.learn(watch.seen, (afterMs + ageMs) / 2);
  }

  /**
   * Returns the milliseconds until the next poll of a task.
   *
   * @param sinceMs age of the task; negative where the clock was set back after its submission
   * @param watch what earlier polls of the task have shown; undefined where there was no poll
   */
  nextMs(kind: TaskKind, sinceMs: number, watch?: TaskWatch): number {
    const ageMs = Math.max(0, sinceMs);
    const { minMs, maxMs } = this.#bounds;
    const model = this.#modelOf(kind);
    const { progress } = this.#classOf(kind.broader);
    const next = model.nextAge(ageMs, watch?.seen ?? [], progress);
    // An unknown class may take as long as others, or almost no time: polls use the geometric mean of both.
    const isForeign = !model.isKnown && this.#all.isKnown;
    const wish = (isForeign ? Math.sqrt(next * this.#all.nextAge(ageMs, [], progress)) : next) - ageMs;
    return Math.round(Math.min(maxMs, Math.max(minMs, wish)));
  }

  #classOf(name: string): { readonly model: KindModel; readonly progress: ProgressMap } {
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const fresh = { model: new KindModel(), progress: new ProgressMap() };
    this.#classes.set(name, fresh);
    return fresh;
  }

  #modelOf({ name, broader }: TaskKind): KindModel {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known.model;
    const { model } = this.#classOf(broader);
    if (this.#kinds.size >= maxKinds) return model;
    const fresh = { model: new KindModel(model), broader };
    this.#kinds.set(name, fresh);
    return fresh.model;
  }
}
