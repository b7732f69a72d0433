import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/plan/cell.ts';
import type { ImageFiles } from '../../src/plan/image-files.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { gridButtons, line, SimulatedState } from './simulated-state.ts';

class Scene {
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

  answer(name: string, text: string, isJson = false): void {
    this.state.answer(this.at(name), text, isJson);
  }
}

/** The example of DESIGN.md section 3. */
const design = `
  matrix: { animal: [fox] }
  steps:
    grid: { imagine: "{{ animal }}", path: "U1..U4 → Vary (Strong)" }
    pick:
      from: grid
      generate:
        model: text-pro
        prompt: Which of the four frames (1 to 4) shows the sharpest {{ animal }}?
        images: [parent]
        responseSchema: { type: object, properties: { best: { type: integer } }, required: [best] }
    best:
      from: grid
      click: "U{{ steps.pick.json.best }}"
      path: Upscale (Subtle) | Upscale (2x)
    caption:
      from: best/**
      generate: { model: text-pro, prompt: Caption this image in one sentence., images: [parent] }`;

describe('a judge that picks', () => {
  test('end to end', async () => {
    const scene = await Scene.of(design);
    const grid = scene.at('grid');
    expect(scene.at('pick').job).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'generate',
      request: {
        kind: 'generate',
        fields: {
          model: 'text-pro',
          prompt: 'Which of the four frames (1 to 4) shows the sharpest fox?',
          responseSchema: { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] },
        },
        images: [{ job: grid.job?.key }],
      },
      parent: grid.job?.key,
      call: { stream: false, accept: [] },
    });
    expect(scene.at('pick').ready).toBe(false);
    expect(scene.at('best/U{{ steps.pick.json.best }}').job).toBeUndefined();
    scene.done('grid');
    expect(scene.at('pick').ready).toBe(true);
    scene.answer('pick', '{"best": 3}', true);
    const best = scene.at('best/U{{ steps.pick.json.best }}');
    expect(best).toMatchObject({ ready: true, job: { request: { press: [{ kind: 'text', text: 'U3' }] } } });
    scene.done('best/U{{ steps.pick.json.best }}');
    const last = 'U{{ steps.pick.json.best }}/Upscale (Subtle) | Upscale (2x)';
    expect(scene.at(`caption/${last}`).ready).toBe(false);
    scene.done(`best/${last}`);
    expect(scene.at(`caption/${last}`).ready).toBe(true);
    scene.answer(`caption/${last}`, 'A fox.');
    expect(scene.at(`caption/${last}`).status).toBe('done');
  });
});
