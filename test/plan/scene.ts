import type { JobErrorCode } from '../../src/pipeline/diagnostics/job-errors.ts';
import type { Cell } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { JobRequest } from '../../src/plan/job-request.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { ImageFiles } from '../../src/plan/request/image-files.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { gridButtons, line, SimulatedState } from './simulated-state.ts';

/** Files by path: what they hold, or the code of what is wrong with them. */
export const filesOf = (texts: Readonly<Record<string, string>>): ImageFiles => ({
  facts: (path) => {
    const text = texts[path];
    return text === undefined || text.startsWith('input.')
      ? { error: { code: (text ?? 'input.missing') as JobErrorCode, message: `no ${path}` } }
      : { sha256: `sha of ${text}`, bytes: text.length };
  },
});

/** One cell of a plan and what happens to its jobs. */
export class Scene {
  readonly state = new SimulatedState();
  readonly plan: Plan;
  readonly cell: Cell;

  constructor(plan: Plan, cell: Cell) {
    this.plan = plan;
    this.cell = cell;
  }

  /** @param index of the cell among those of the matrix */
  static async of<S extends Scene>(
    this: new (
      plan: Plan,
      cell: Cell,
    ) => S,
    text: string,
    images?: ImageFiles,
    index = 0,
  ): Promise<S> {
    const plan = await planOf(text, undefined, images);
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
    for (const name of names) this.state.done(this.at(name), gridButtons);
  }

  /** Done, with this of its record otherwise. */
  doneWith(name: string, changes: Partial<JobRecord>): void {
    this.state.done(this.at(name), gridButtons, changes);
  }

  request(name: string): JobRequest | undefined {
    return this.at(name).job?.request;
  }

  key(name: string): string {
    const { job } = this.at(name);
    if (job === undefined) throw new Error(`${name} has no job`);
    return job.key;
  }
}
