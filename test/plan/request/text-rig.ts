import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { ImageFiles } from '../../../src/plan/request/image-files.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { gridButtons, line, SimulatedState } from '../simulated-state.ts';

/** Files by path: what they hold, or the code of what is wrong with them. */
export const filesOf = (texts: Readonly<Record<string, string>>): ImageFiles => ({
  facts: (path) => {
    const text = texts[path];
    return text === undefined || text.startsWith('input.')
      ? { error: { code: text ?? 'input.missing', message: `no ${path}` } }
      : { sha256: `sha of ${text}`, bytes: text.length };
  },
});

export class Scene {
  readonly state = new SimulatedState();
  readonly plan: Plan;
  readonly cell: Cell;

  constructor(plan: Plan, cell: Cell) {
    this.plan = plan;
    this.cell = cell;
  }

  static async of(text: string, images?: ImageFiles): Promise<Scene> {
    const plan = await planOf(text, undefined, images);
    return new Scene(plan, (await cellsOf(plan))[0] as Cell);
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

  done(name: string, changes: Partial<JobRecord> = {}): void {
    this.state.done(this.at(name), gridButtons, changes);
  }

  answer(name: string, text: string, isJson = false, changes: Partial<JobRecord> = {}): void {
    this.state.answer(this.at(name), text, isJson, changes);
  }

  request(name: string): TextRequest {
    return this.at(name).job?.request as TextRequest;
  }

  key(name: string): string {
    const { job } = this.at(name);
    if (job === undefined) throw new Error(`${name} has no job`);
    return job.key;
  }
}
