import type { TaskWatch } from '../../machine/job.ts';
import { KindModel } from './kind-model.ts';
import { learnedPolls, learnedPollsText } from './learned-polls.ts';
import { ProgressMap } from './progress-map.ts';
import type { TaskKind } from './task-kind.ts';

/** The most kinds that are told apart; tasks of any further kind go by the estimate of their class. */
const mostKinds = 200;
/**
 * When to poll a task again. No service says how often to poll (gateway 9.4): a pace learns how long each kind of task takes, and how
 * its progress goes with the time, and polls at the moments at which an end is likely.
 */
export class PollPace {
  readonly #bounds: { readonly minMs: number; readonly maxMs: number };
  readonly #kinds = new Map<string, { readonly model: KindModel; readonly broader: string }>();
  readonly #classes = new Map<string, { readonly model: KindModel; readonly progress: ProgressMap }>();

  /** All tasks of this run, of whatever class. */
  readonly #all = new KindModel();

  /** @param learned what an earlier run has learned */
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

  /** What is known, to be kept for the next run; undefined: nothing. */
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
   * Notes the end of a task, as a poll has shown it.
   *
   * @param watch what the polls before have shown
   * @param ageMs its age at the poll that showed the end
   */
  learn(kind: TaskKind, watch: TaskWatch | undefined, ageMs: number): void {
    const afterMs = Math.min(ageMs, watch?.ageMs ?? 0);
    this.#modelOf(kind).learn(afterMs, ageMs);
    this.#all.learn(afterMs, ageMs);
    if (watch !== undefined) this.#classOf(kind.broader).progress.learn(watch.seen, (afterMs + ageMs) / 2);
  }

  /**
   * Milliseconds until the next poll of a task of this age.
   *
   * @param sinceMs its age; less than nothing where the clock was set back since it was submitted
   * @param watch what its polls have shown; undefined: it was not polled yet
   */
  nextMs(kind: TaskKind, sinceMs: number, watch?: TaskWatch): number {
    const ageMs = Math.max(0, sinceMs);
    const { minMs, maxMs } = this.#bounds;
    const model = this.#modelOf(kind);
    const { progress } = this.#classOf(kind.broader);
    const next = model.nextAge(ageMs, watch?.seen ?? [], progress);
    // Tasks of an unknown class may take as long as the others, or an instant: the moment between the two, by ratio.
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
    if (this.#kinds.size >= mostKinds) return model;
    const fresh = { model: new KindModel(model), broader };
    this.#kinds.set(name, fresh);
    return fresh.model;
  }
}
