import { describe, expect, test } from 'vitest';
import { Scene } from '../scene.ts';

const ideas = `
    matrix: { theme: [sea, forest] }
    steps:
      ideas: { generate: { model: m, prompt: "scenes of {{ theme }}", responseSchema: { type: object, properties: { scenes: { type: array, items: { type: string } } } } } }
      draw: { imagine: "{{ theme }}: {{ item }}", each: "{{ steps.ideas.json.scenes }}", max: 3, path: U1 }
      caption: { from: draw/U1, generate: { model: m, prompt: "{{ item_index }}. {{ item }}?", images: [parent] } }`;

/** Has the step `ideas` answer with these scenes. */
const answer = (scene: Scene, scenes: unknown): void =>
  scene.state.reply(scene.at('ideas'), JSON.stringify({ scenes }), true);

describe('each', () => {
  test('has one slot before the list is known, then one for each item, in its order', async () => {
    const scene = await Scene.of(ideas);
    expect(scene.lines()).toEqual([
      'ideas pending!',
      'draw/[n] pending',
      'draw/[n]/U1 pending',
      'caption/[n]/U1 pending',
    ]);
    expect(scene.slots().map(({ bound }) => bound)).toEqual([undefined, 3, 3, 3]);
    expect(scene.plan.slotsPerCell).toBe(10);
    answer(scene, ['a storm', 'a calm']);
    expect(scene.lines()).toEqual([
      'ideas done',
      'draw/[1] pending!',
      'draw/[1]/U1 pending',
      'draw/[2] pending!',
      'draw/[2]/U1 pending',
      'caption/[1]/U1 pending',
      'caption/[2]/U1 pending',
    ]);
    expect(scene.at('draw/[2]').job?.request.fields.prompt).toBe('sea: a calm');
    expect(scene.at('caption/[2]/U1').job?.request.fields.prompt).toBe('2. a calm?');
    expect(scene.at('caption/[2]/U1').job?.parent).toBe(scene.key('draw/[2]/U1'));
    expect(scene.slots().every(({ bound }) => bound === undefined)).toBe(true);
  });

  test('an edited item is one new job, a new order none, equal items are one', async () => {
    const scene = await Scene.of(ideas);
    const keys = (scenes: readonly string[]): readonly string[] => {
      answer(scene, scenes);
      return scenes.map((_, index) => scene.key(`draw/[${index + 1}]`));
    };
    const [storm, calm] = keys(['a storm', 'a calm']);
    expect(keys(['a calm', 'a storm'])).toEqual([calm, storm]);
    expect(keys(['a storm', 'a fog'])[0]).toBe(storm);
    expect(new Set(keys(['a fog', 'a storm', 'a fog'])).size).toBe(2);
  });

  test('is skipped with all below it for an empty list, and fails for what is no list', async () => {
    const scene = await Scene.of(ideas);
    answer(scene, []);
    expect(scene.lines().slice(1)).toEqual([
      'draw/[n] skipped',
      'draw/[n]/U1 skipped',
      'caption/[n]/U1 skipped',
    ]);
    expect(scene.at('draw/[n]').error?.code).toBe('each.empty');
    answer(scene, 'a storm');
    expect(scene.lines().slice(1)).toEqual([
      'draw/[n] failed',
      'draw/[n]/U1 blocked',
      'caption/[n]/U1 blocked',
    ]);
    expect(scene.at('draw/[n]').error).toEqual({
      code: 'each.no-list',
      message: '`each` takes a list, but here it is "a storm".',
    });
  });

  test('drops what is beyond max, and warns at the row of the list', async () => {
    const scene = await Scene.of(ideas);
    answer(scene, ['a', 'b', 'c', 'd', 'e']);
    expect(scene.lines().filter((line) => line.startsWith('caption'))).toHaveLength(3);
    expect(scene.at('ideas')).toMatchObject({
      status: 'done',
      error: {
        code: 'each.dropped',
        message: 'The list has 5 items, of which the first 3 are used: `max` allows no more.',
      },
    });
  });

  test('takes the values of a variable and the lines of a text; a condition on an item decides for each', async () => {
    const scene = await Scene.of(`
      matrix: { theme: [{ parts: [x, y] }] }
      steps:
        said: { chat: { model: m, prompt: lines? } }
        part: { each: "{{ theme.parts }}", when: item == "y", imagine: "a {{ item }}" }
        line: { each: "{{ steps.said.text | lines }}", chat: { model: m, prompt: "{{ item }}" } }`);
    expect(scene.lines()).toEqual([
      'said pending!',
      'part/[1] skipped',
      'part/[2] pending!',
      'line/[n] pending',
    ]);
    scene.state.reply(scene.at('said'), ' one\n\ntwo \r\n');
    expect(
      scene.slots().flatMap(({ step, job }) => (step === 'line' ? [job?.request.fields.prompt] : [])),
    ).toEqual(['one', 'two']);
  });

  test('is nested by the items of an item, and gathered as one job', async () => {
    const scene = await Scene.of(`
      matrix: { themes: [[[{ parts: [a, b] }, { parts: [c] }]]] }
      steps:
        outer: { each: "{{ themes[0] }}", max: 2, imagine: "{{ item.parts | join: ' ' }}" }
        inner: { from: outer, each: "{{ item.parts }}", max: 3, imagine: "{{ item }}" }
        all: { gather: inner, imagine: all of them }`);
    const lines = ['outer/[1] pending!', 'outer/[2] pending!'];
    expect(scene.lines()).toEqual([
      ...lines,
      'inner/[1]/[1] pending',
      'inner/[1]/[2] pending',
      'inner/[2]/[1] pending',
      'all pending',
    ]);
    scene.done('outer/[1]', 'outer/[2]', 'inner/[1]/[1]', 'inner/[1]/[2]', 'inner/[2]/[1]');
    expect(scene.at('all').ready).toBe(true);
    expect(scene.at('all').job?.inputs).toEqual(
      ['inner/[1]/[1]', 'inner/[1]/[2]', 'inner/[2]/[1]'].map((name) => scene.key(name)),
    );
  });

  test('begins no item while its list is made anew; what stays an item is not made again', async () => {
    const scene = await Scene.of(ideas);
    answer(scene, ['a storm', 'a calm']);
    scene.done('draw/[1]', 'draw/[1]/U1');
    const ideasSlot = scene.at('ideas');
    const { text } = scene.state.records.get(scene.key('ideas')) ?? {};
    scene.state.put(ideasSlot, 'running', { former: { resubmits: 0, ...(text && { text }) } });
    expect(scene.lines()).toEqual([
      'ideas running',
      'draw/[1] done',
      'draw/[1]/U1 done',
      'draw/[2] pending',
      'draw/[2]/U1 pending',
      'caption/[1]/U1 pending',
      'caption/[2]/U1 pending',
    ]);
    const first = { count: 1, first: {} };
    scene.state.reply(ideasSlot, JSON.stringify({ scenes: ['a fog', 'a storm'] }), true, { redone: first });
    expect(scene.lines().filter((line) => /^draw\/\[\d\] /.test(line))).toEqual([
      'draw/[1] pending!',
      'draw/[2] done',
    ]);
    expect(scene.at('draw/[2]').outdated).toBeUndefined();
  });
});
