import type { Cell } from '../../../src/plan/cell.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { line, SimulatedState } from '../simulated-state.ts';

/** One cell of a plan and what happens to its jobs. */
export class Scene {
  readonly state = new SimulatedState();
  readonly plan: Plan;
  readonly cell: Cell;

  constructor(plan: Plan, cell: Cell) {
    this.plan = plan;
    this.cell = cell;
  }

  static async of<S extends Scene>(
    this: new (
      plan: Plan,
      cell: Cell,
    ) => S,
    text: string,
    index = 0,
  ): Promise<S> {
    const plan = await planOf(text);
    return new this(plan, (await cellsOf(plan))[index] as Cell);
  }

  slots(): readonly Slot[] {
    return this.plan.resolve(this.cell, this.state.lookup);
  }

  lines(): string[] {
    return this.slots().map(line);
  }

  at(name: string): Slot {
    const slot = this.slots().find((slot) => [slot.step, ...slot.branch].join('/') === name);
    if (slot === undefined) throw new Error(`no slot ${name} in ${this.lines().join(', ')}`);
    return slot;
  }

  done(...names: string[]): void {
    for (const name of names) this.state.done(this.at(name));
  }
}
