import { describe, expect, it } from 'vitest';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import { inputsOf } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { preparePlan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, noFiles, pipelineOf, planOf } from '../../rig/pipeline-builder.ts';
import { Directory, estimate } from '../estimate/estimate-rig.ts';
import { line, SimulatedState } from '../simulated-state.ts';

const text = `
  matrix: { animal: [fox, owl], seed: [1, 2, 3] }
  steps:
    best:
      gather: { step: score, over: [seed] }
      generate: { model: m, prompt: "{{ animal }}:{% for one in gathered %} {{ one.seed }}={{ one.json.x }} {{ one.text }}{% endfor %}" }
    score: { generate: { model: m, prompt: "{{ animal }} {{ seed }}", responseSchema: { type: object, properties: { x: { type: number } } } } }
    tale: { from: best, generate: { model: m, prompt: "of {{ steps.best.text }}" } }
    all: { gather: { step: best, over: [animal] }, generate: { model: m, prompt: "{{ gathered | map: 'animal' | join }}" } }
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

  at(cell: number, step: string): Slot {
    return this.slots(cell).find((slot) => slot.step === step) as Slot;
  }

  score(cell: number, x = cell): void {
    this.state.reply(this.at(cell, 'score'), `{"x": ${x}}`, true);
  }
}

describe('a step that gathers over axes', () => {
  it('has one slot in the last cell of each group, after all others, with the variables of the group', async () => {
    const scene = await Scene.of(text);
    expect(scene.cells.map(({ number }) => scene.slots(number).map(line))).toEqual([
      ['score pending!'],
      ['score pending!'],
      ['score pending!', 'best pending', 'tale pending'],
      ['score pending!'],
      ['score pending!'],
      ['score pending!', 'best pending', 'tale pending', 'all pending'],
    ]);
    expect(['best', 'tale', 'all'].map((step) => scene.at(6, step).group)).toEqual([
      { vars: { animal: 'owl' }, repeat: 1 },
      { vars: { animal: 'owl' }, repeat: 1 },
      { vars: {}, repeat: 1 },
    ]);
  });

  it('waits for all cells of its group, reads each with its variables, and has their jobs as inputs', async () => {
    const scene = await Scene.of(text);
    for (const cell of [3, 1]) scene.score(cell);
    expect(scene.at(3, 'best')).toMatchObject({ status: 'pending', ready: false });
    scene.score(2);
    const best = scene.at(3, 'best');
    expect(best).toMatchObject({ status: 'pending', ready: true });
    expect(best.prompt).toBe('fox: 1=1 {"x": 1} 2=2 {"x": 2} 3=3 {"x": 3}');
    expect(inputsOf(best.job as NonNullable<typeof best.job>)).toEqual(
      [1, 2, 3].map((cell) => scene.at(cell, 'score').job?.key),
    );
    expect(best.job?.request).not.toHaveProperty('images');
    scene.state.reply(best, 'a fox');
    expect(scene.at(3, 'tale')).toMatchObject({ ready: true, prompt: 'of a fox' });
    expect(scene.at(6, 'all').status).toBe('pending');
    for (const cell of [4, 5, 6]) scene.score(cell);
    scene.state.reply(scene.at(6, 'best'), 'an owl');
    expect(scene.at(6, 'all')).toMatchObject({ ready: true, prompt: 'fox owl' });
  });

  it('is a new job where the job of one cell changes, and the same one whatever changes in another group', async () => {
    const keysWith = async (source: string): Promise<readonly (string | undefined)[]> => {
      const scene = await Scene.of(source);
      for (const { number } of scene.cells) scene.score(number, 1);
      const last = scene.cells.length;
      return [scene.at(last / 2, 'best').job?.key, scene.at(last, 'best').job?.key];
    };
    const [fox, owl] = await keysWith(text);
    const [wolf, same] = await keysWith(text.replace('[fox,', '[wolf,'));
    const [more, other] = await keysWith(text.replace('3]', '3, 4]'));
    expect(same).toBe(owl);
    expect(new Set([fox, owl, wolf, more, other]).size).toBe(5);
  });

  it('is blocked by one that failed, which its error names with its cell, or leaves it out', async () => {
    for (const [change, status] of [
      ['[seed] }', 'blocked'],
      ['[seed], failed: ignore }', 'pending'],
    ] as const) {
      const scene = await Scene.of(text.replace('[seed] }', change));
      scene.score(1);
      scene.state.fail(scene.at(2, 'score'), 'text.blocked');
      expect(scene.at(3, 'best')).toMatchObject(
        status === 'blocked'
          ? { status, error: { message: 'blocked by cell 2, score: text.blocked' } }
          : { status, ready: false },
      );
      scene.score(3);
      const best = scene.at(3, 'best');
      expect(best.status).toBe(status);
      if (status === 'blocked') continue;
      expect([best.ready, best.prompt]).toEqual([true, 'fox: 1=1 {"x": 1} 3=3 {"x": 3}']);
      scene.state.fail(scene.at(4, 'score'), 'text.blocked');
      scene.state.fail(scene.at(5, 'score'), 'text.blocked');
      scene.state.fail(scene.at(6, 'score'), 'text.blocked');
      expect(scene.at(6, 'best')).toMatchObject({ status: 'blocked' });
    }
  });

  it('leaves out what is skipped, and is skipped where all is', async () => {
    const scene = await Scene.of(text.replace('score: {', 'score: { when: seed > 1 and animal == "fox",'));
    for (const cell of [2, 3]) scene.score(cell);
    expect(scene.at(3, 'best')).toMatchObject({ ready: true, prompt: 'fox: 2=2 {"x": 2} 3=3 {"x": 3}' });
    expect(scene.at(6, 'best').status).toBe('skipped');
  });

  it('writes all that it gathers without the JSON of replies that are none', async () => {
    const scene = await Scene.of(`
  matrix: { seed: [1, 2] }
  steps:
    say: { generate: { model: m, prompt: "{{ seed }}" } }
    sum: { gather: { step: say, over: [seed] }, generate: { model: m, prompt: "{{ gathered | json }}" } }
    bad: { gather: { step: say, over: [seed] }, generate: { model: m, prompt: "{{ gathered | map: 'json' | json }}" } }
`);
    scene.state.reply(scene.at(1, 'say'), 'one');
    scene.state.reply(scene.at(2, 'say'), '{"x": 2}', true);
    const { job } = scene.at(2, 'sum');
    const gathered = JSON.parse(job?.request.fields['prompt'] as string) as readonly unknown[];
    expect(gathered).toMatchObject([
      { seed: 1, text: 'one' },
      { seed: 2, json: { x: 2 } },
    ]);
    expect(gathered[0]).not.toHaveProperty('json');
    expect(scene.at(2, 'bad').error?.code).toBe('template.no-json');
  });

  it('is outdated once the job of another cell of its group was redone, and waits while it is', async () => {
    const scene = await Scene.of(text);
    for (const cell of [1, 2, 3]) scene.score(cell);
    scene.state.reply(scene.at(3, 'best'), 'a fox');
    const first = scene.at(1, 'score');
    const { record } = first;
    if (record === undefined) throw new Error('no record');
    const { artifacts, text: reply } = record;
    scene.state.put(first, 'pending', {
      ...record,
      status: 'pending',
      former: { artifacts, ...(reply && { text: reply }) } as never,
    });
    expect(scene.at(3, 'best')).toMatchObject({ status: 'done', waitsForRedo: true });
    scene.state.put(first, 'done', { ...record, redone: { count: 1 } as never });
    expect(scene.at(3, 'best')).toMatchObject({ status: 'done', outdated: true, ready: true });
  });

  it('is counted by groups, whether all slots are examined or counts are multiplied', async () => {
    const { plan } = await Scene.of(text);
    const countsOf = async (selection: Selection, maxSlots?: number): Promise<Record<string, number>> => {
      const report = await estimatePlan(
        plan,
        selection,
        undefined,
        maxSlots === undefined ? {} : { maxSlots },
      );
      return Object.fromEntries(report.steps.map(({ step, slots }) => [step, slots]));
    };
    for (const [selection, counts] of [
      [{}, { best: 2, score: 6, tale: 2, all: 1 }],
      [{ limit: 5 }, { best: 1, score: 5, tale: 1, all: 0 }],
      [{ filters: [{ axis: 'seed', value: '3' }] }, { best: 2, score: 2, tale: 2, all: 1 }],
      [{ shard: { index: 1, of: 2 } }, { best: 2, score: 6, tale: 2, all: 1 }],
    ] as const) {
      expect(await countsOf(selection)).toEqual(counts);
      expect(await countsOf(selection, 1)).toEqual(counts);
    }
  });

  it('is no submission while a selection leaves out what it gathers, and is held while that is in doubt', async () => {
    const { plan, cells } = await Scene.of(
      'matrix: { animal: [fox], seed: [1, 2] }\nsteps: { grid: { imagine: "{{ seed }}" }, sheet: { gather: { step: grid, over: [seed] }, imagine: { prompt: all } } }',
    );
    const state = new Directory();
    const counts = async (selection: Selection): Promise<readonly number[]> => {
      const { submits, waiting, held } = (await estimate(plan, selection, state)).total;
      return [submits, waiting, held];
    };
    const last: Selection = { filters: [{ axis: 'seed', value: '2' }] };
    expect([await counts({}), await counts(last)]).toEqual([
      [3, 0, 0],
      [1, 1, 0],
    ]);
    const [grid] = plan.resolve(cells[0] as Cell, state.lookup);
    state.put(grid as Slot, 'in-doubt', { error: { code: 'task.lost', message: 'no' } as never });
    expect([await counts({}), await counts(last)]).toEqual([
      [1, 0, 1],
      [1, 1, 0],
    ]);
    state.done(grid as Slot);
    expect([await counts({}), await counts(last)]).toEqual([
      [2, 0, 0],
      [2, 0, 0],
    ]);
  });

  it('gathers at most 10,000 cells', async () => {
    const source = text.replace('[1, 2, 3]', '{ from: 1, to: 10001 }');
    const plan = await preparePlan(await pipelineOf(source), { files: noFiles, serviceId: 's' });
    expect(plan).toMatchObject({
      ok: false,
      error: [
        {
          code: 'plan.too-large',
          line: 5,
          message: 'Step "best" gathers 10001 cells over seed; at most 10000 are gathered together.',
        },
        { code: 'plan.too-large', line: 9 },
      ],
    });
  });
});
