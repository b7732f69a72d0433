import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { preparePlan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { framesOf } from '../../rig/frames.ts';
import { cellsOf, noFiles, pipelineOf, planOf } from '../../rig/pipeline-builder.ts';
import { gridButtons, line, SimulatedState } from '../simulated-state.ts';

const text = `
  matrix: { animal: [fox, owl], seed: [1, 2, 3] }
  steps:
    tale: { from: best/1, generate: { model: m, prompt: "{{ animal }} {{ seed }} {{ steps.score.json.x }} of {{ steps.idea.text }}" } }
    idea: { generate: { model: m, prompt: "{{ animal }} {{ seed }}" } }
    score: { from: idea, generate: { model: m, prompt: "{{ steps.idea.text }}", responseSchema: { type: object, properties: { x: { type: number } } } } }
    best: { best: { from: idea, by: "{{ steps.score.json.x }}", top: 2, over: [seed] } }
`;
const frames = `
  matrix: { animal: [fox] }
  steps:
    grid: { imagine: "a {{ animal }}", grid: split }
    score: { from: "grid/#*", generate: { model: m, prompt: how good?, images: [parent], responseSchema: { type: object, properties: { x: { type: number } } } } }
    best: { best: { from: "grid/#*", by: "{{ steps.score.json.x }}", top: 5 } }
    up: { from: best, click: U }
    say: { from: best/1, generate: { model: m, prompt: "frame {{ frame }} has {{ steps.score.json.x }}", images: [parent] } }
`;

class Scene {
  readonly state = new SimulatedState();
  readonly plan: Plan;
  readonly cells: readonly Cell[];

  constructor(plan: Plan, cells: readonly Cell[]) {
    this.plan = plan;
    this.cells = cells;
  }

  static async of(source: string): Promise<Scene> {
    const plan = await planOf(source);
    return new Scene(plan, await cellsOf(plan));
  }

  slots(cell: number): readonly Slot[] {
    return this.plan.resolve(this.cells[cell - 1] as Cell, this.state.lookup);
  }

  at(cell: number, name: string): Slot {
    const found = this.slots(cell).find(({ step, branch }) => [step, ...branch].join('/') === name);
    if (found === undefined) throw new Error(`cell ${cell} has no ${name}`);
    return found;
  }

  /** Answers the idea of a cell, and what a judge says of it. */
  score(cell: number, x: string): void {
    this.state.reply(this.at(cell, 'idea'), `idea ${cell}`);
    this.state.reply(this.at(cell, 'score'), `{"x": ${x}}`, true);
  }

  picked(cell: number): readonly string[] {
    return this.plan
      .picks(this.cells[cell - 1] as Cell, this.state.lookup)
      .map(
        ({ name, cell: at, step, branch, output }) =>
          `${name} ${at} ${[step, ...branch].join('/')} ${output}`,
      );
  }
}

describe('a step that picks over axes', () => {
  it('has no slot; what follows has one for each group, and waits for all of it', async () => {
    const scene = await Scene.of(text);
    expect(scene.cells.map(({ number }) => scene.slots(number).map(line))).toEqual([
      ['idea pending!', 'score pending'],
      ['idea pending!', 'score pending'],
      ['idea pending!', 'score pending', 'tale/1 pending'],
      ['idea pending!', 'score pending'],
      ['idea pending!', 'score pending'],
      ['idea pending!', 'score pending', 'tale/1 pending'],
    ]);
    for (const cell of [1, 3]) scene.score(cell, '5');
    expect(scene.at(3, 'tale/1')).toMatchObject({ ready: false, group: { vars: { animal: 'fox' } } });
    expect(scene.picked(3)).toEqual([]);
    scene.score(2, '7.5');
    expect(scene.at(3, 'tale/1')).toMatchObject({
      ready: true,
      prompt: 'fox 2 7.5 of idea 2',
      cell: 3,
      group: { vars: { animal: 'fox', seed: 2 }, repeat: 1 },
      job: { parent: scene.at(2, 'idea').job?.key },
    });
    // Of equal numbers the first cell is picked.
    expect(scene.picked(3)).toEqual(['best/1 2 idea 0', 'best/2 1 idea 0']);
    expect(scene.picked(1)).toEqual([]);
  });

  it('makes what follows anew where another one wins, and nothing where none does', async () => {
    const scene = await Scene.of(text);
    for (const [cell, x] of [
      [1, '1'],
      [2, '9'],
      [3, '2'],
    ] as const)
      scene.score(cell, x);
    const first = scene.at(3, 'tale/1').job?.key;
    const { id } = scene.at(3, 'tale/1');
    scene.score(1, '3');
    expect(scene.at(3, 'tale/1').job?.key).toBe(first);
    scene.score(3, '10');
    expect(scene.at(3, 'tale/1')).toMatchObject({ id, prompt: 'fox 3 10 of idea 3' });
    expect(scene.at(3, 'tale/1').job?.key).not.toBe(first);
  });

  it.each([
    ['8', 8],
    ['2.0', 2],
    ['"0.8"', 0.8],
    ['".8"', 0.8],
    ['8e-1', 0.8],
    ['"8e-1"', 0.8],
    ['" 7 "', 7],
    ['-3', -3],
    ['"8/10"', undefined],
    ['"score: 9"', undefined],
    ['"There are 5 reasons for 9"', undefined],
    ['"NaN"', undefined],
    ['"0x1f"', undefined],
    ['"1,5"', undefined],
    ['null', undefined],
    ['true', undefined],
    ['""', undefined],
    ['"1e400"', undefined],
    ['"Infinity"', undefined],
  ] as const)('reads %s as %s', async (written, number) => {
    const scene = await Scene.of(text);
    scene.score(1, '-4');
    scene.score(2, written);
    scene.score(3, String((number ?? 0) - 1e-9));
    const { status, error } = scene.at(3, 'tale/1');
    const said = error && { code: error.code, isNamed: error.message.startsWith('cell 2, idea: `by` is "') };
    expect([status, said, scene.picked(3)[0]]).toEqual(
      number === undefined
        ? ['failed', { code: 'best.no-number', isNamed: true }, undefined]
        : ['pending', undefined, 'best/1 2 idea 0'],
    );
  });

  it.each([
    ['json.x | times: -1', ['"n/a"', '""', 'null', 'true', '"8 points"'], '"3"'],
    ['json.x | times: 1 | plus: 2 | divided_by: 2, true', ['"n/a"'], '" 7.5 "'],
    ['json.x | sum', ['[1, null]', '["7", "n/a"]'], '[1, "7"]'],
    ["json.x | sum: 'y'", ['[{ "y": "" }]', '[{ "z": 1 }]'], '[{ "y": 2 }]'],
  ])('calculates with no %s that is no number', async (by, others, number) => {
    for (const written of [...others, number]) {
      const scene = await Scene.of(
        text
          .replace('steps.score.json.x }}", top', `steps.score.${by} }}", top`)
          .replace('"{{ animal }} {{ seed }} {{ steps.score.json.x }} of {{ steps.idea.text }}"', 'tale')
          .replace('x: { type: number }', 'x: {}'),
      );
      for (const cell of [1, 3]) scene.score(cell, number);
      scene.score(2, written);
      const { status, error } = scene.at(3, 'tale/1');
      const isNamed = error?.message.includes('cell 2, idea: ');
      expect([written, status, error?.code, isNamed]).toEqual(
        written === number
          ? [written, 'pending', undefined, undefined]
          : [written, 'failed', 'best.no-number', true],
      );
    }
  });

  it('is blocked by one that failed, which its error names with its cell, or leaves it out', async () => {
    const scene = await Scene.of(text);
    scene.score(1, '1');
    scene.state.fail(scene.at(2, 'idea'), 'text.blocked');
    expect(scene.at(3, 'tale/1')).toMatchObject({
      status: 'blocked',
      error: { message: 'blocked by cell 2, idea: text.blocked' },
    });
    const lenient = await Scene.of(text.replace('over: [seed]', 'over: [seed], failed: ignore'));
    lenient.score(1, '1');
    lenient.state.fail(lenient.at(2, 'idea'), 'text.blocked');
    expect(lenient.at(3, 'tale/1')).toMatchObject({ status: 'pending', ready: false });
    lenient.score(3, '"none"');
    expect(lenient.at(3, 'tale/1')).toMatchObject({ ready: true, prompt: 'fox 1 1 of idea 1' });
    expect(lenient.picked(3)).toEqual(['best/1 1 idea 0']);
  });

  it('leaves out what is skipped, and skips the places that are left over', async () => {
    const source = text
      .replace('idea: {', 'idea: { when: seed == 2 and animal == "fox",')
      .replace('best/1', 'best');
    const scene = await Scene.of(source);
    scene.score(2, '1');
    expect(scene.at(3, 'tale/1')).toMatchObject({ ready: true, prompt: 'fox 2 1 of idea 2' });
    expect(scene.at(3, 'tale/2')).toMatchObject({
      status: 'skipped',
      error: { code: 'best.fewer', message: 'there is only 1 to pick from, so there is no best/2' },
    });
    expect(scene.at(6, 'tale/1')).toMatchObject({ status: 'skipped', error: { code: 'ancestor.skipped' } });
  });

  it('keeps the cell of what was picked where another step picks from the picks', async () => {
    const scene = await Scene.of(`${text.trimEnd()}
    last: { best: { from: best, by: "{{ steps.score.json.x | times: -1 }}" } }
    end: { from: last, generate: { model: m, prompt: "{{ seed }}" } }`);
    for (const cell of [1, 2, 3]) scene.score(cell, String([5, 9, 7][cell - 1]));
    expect(scene.at(3, 'end/1')).toMatchObject({
      prompt: '3',
      group: { vars: { animal: 'fox', seed: 3 }, repeat: 1 },
    });
  });

  it('begins nothing while a number is made anew', async () => {
    const scene = await Scene.of(text);
    for (const cell of [1, 2, 3]) scene.score(cell, String(cell));
    const score = scene.at(1, 'score');
    const { record } = score;
    if (record === undefined) throw new Error('no record');
    const { artifacts, text: reply } = record;
    const former = { artifacts, ...(reply && { text: reply }) } as never;
    scene.state.put(score, 'pending', { ...record, status: 'pending', former });
    expect(scene.at(3, 'tale/1')).toMatchObject({ status: 'pending', ready: false });
    scene.state.put(score, 'done', { ...record, redone: { count: 1 } as never });
    expect(scene.at(3, 'tale/1')).toMatchObject({ status: 'pending', ready: true });
  });

  it('is counted by groups, whether all slots are examined or counts are multiplied', async () => {
    const { plan } = await Scene.of(text.replace('best/1', 'best'));
    for (const maxSlots of [1000, 1]) {
      const { steps } = await estimatePlan(plan, {}, undefined, { maxSlots });
      expect(Object.fromEntries(steps.map(({ step, slots }) => [step, slots]))).toEqual({
        tale: 4,
        idea: 6,
        score: 6,
      });
    }
  });

  it('is counted by no number of a group, when it picks from single cells', async () => {
    const source = `${text.trimEnd().replace('by: "{{ steps.score', 'by: "{{ steps.sum')}
    sum: { gather: { step: score, over: [seed] }, generate: { model: m, prompt: sum, responseSchema: { type: object, properties: { x: { type: number } } } } }`;
    await expect(planOf(source)).rejects.toThrow(
      'Step "best" picks from jobs of each cell, but step "sum" has one for each group over "seed".',
    );
  });

  it('compares at most 10,000 cells', async () => {
    const source = text.replace('[1, 2, 3]', '{ from: 1, to: 10001 }');
    const plan = await preparePlan(await pipelineOf(source), { files: noFiles, serviceId: 's' });
    const message = 'Step "best" picks from 10001 cells over seed; at most 10000 are compared together.';
    expect(plan).toMatchObject({ ok: false, error: [{ code: 'plan.too-large', message }] });
  });
});

describe('a step that picks frames of a cell', () => {
  it('presses their buttons, sees their number and their results, and skips what is not there', async () => {
    const scene = await Scene.of(frames);
    const grid = scene.at(1, 'grid');
    scene.state.done(grid, gridButtons, { frames: { files: framesOf('g', {}) } });
    for (const [frame, x] of [
      [1, 4],
      [2, 8],
      [3, 8],
      [4, 1],
    ] as const)
      scene.state.reply(scene.at(1, `score/#${frame}`), `{"x": ${x}}`, true);
    expect(scene.picked(1)).toEqual([
      'best/1 1 grid 2',
      'best/2 1 grid 3',
      'best/3 1 grid 1',
      'best/4 1 grid 4',
    ]);
    const ups = [1, 2, 3, 4, 5].map((place) =>
      scene.slots(1).find(({ step, branch }) => step === 'up' && branch[0] === `${place}`),
    );
    expect(ups[4]?.error?.code).toBe('best.fewer');
    expect(JSON.stringify(ups.map((slot) => slot?.job?.request)).match(/U\d/g)).toEqual([
      'U2',
      'U3',
      'U1',
      'U4',
    ]);
    expect(scene.at(1, 'say/1')).toMatchObject({
      prompt: 'frame 2 has 8',
      job: { parent: grid.job?.key, request: { images: [{ job: grid.job?.key, output: 3 }] } },
    });
  });

  it('counts what is read once in the cell by its item or its frame', async () => {
    const items = await Scene.of(`
      matrix: { animal: [fox], list: [[{ r: 2 }, { r: 5 }, { r: 3 }]] }
      steps:
        idea: { each: "{{ list }}", generate: { model: m, prompt: "{{ item.r }}" } }
        best: { best: { from: idea, by: "{{ item.r }}" } }
        tale: { from: best, generate: { model: m, prompt: "tale of {{ item.r }}" } }`);
    for (const place of [1, 2, 3]) items.state.reply(items.at(1, `idea/[${place}]`), 'idea');
    expect(items.at(1, 'tale/1').prompt).toBe('tale of 5');
    const judged = await Scene.of(
      frames
        .replace('from: "grid/#*", generate', 'gather: "grid/#*", generate')
        .replace(
          'images: [parent], responseSchema: { type: object, properties: { x: { type: number } } }',
          'responseSchema: { type: object, properties: { x: { type: array } } }',
        )
        .replace('json.x }}", top', 'json.x[frame] }}", top')
        .replace('{{ steps.score.json.x }}', 'it'),
    );
    judged.state.done(judged.at(1, 'grid'), gridButtons, { frames: { files: framesOf('g', {}) } });
    judged.state.reply(judged.at(1, 'score'), '{"x": [0, 3, 9, 4, 1]}', true);
    expect(judged.picked(1)[0]).toBe('best/1 1 grid 2');
  });

  it('fails what follows where the grid was not cut', async () => {
    const scene = await Scene.of(frames);
    scene.state.done(scene.at(1, 'grid'), [], {
      frames: { files: [], error: { code: 'frames.no-grid', message: 'no' } },
    });
    expect(scene.at(1, 'say/1')).toMatchObject({ status: 'failed', error: { code: 'output.not-cut' } });
  });
});
