import type { Slot } from '../../src/plan/slot.ts';
import { Scene } from './scene.ts';

/** One cell of a plan whose step `judge` gathers, and what happens to its jobs. */
export class GatherScene extends Scene {
  get judge(): Slot {
    return this.at('judge');
  }

  keys(...names: string[]): (string | undefined)[] {
    return names.map((name) => this.at(name).job?.key);
  }

  fail(name: string, code?: string): void {
    this.state.fail(this.at(name), code);
  }
}

export const text = `
  steps:
    judge: { gather: grid/*, imagine: the best }
    grid: { imagine: a fox, path: "U1..U3" }`;
