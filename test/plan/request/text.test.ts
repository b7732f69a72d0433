import { describe, expect, test } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { filesOf } from '../scene.ts';
import { TextScene } from './text-rig.ts';

/** Like the pipeline that uses every part of the language, without the repainting. */
const judged = `
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
  test('works end to end', async () => {
    const scene = await TextScene.of(judged);
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
    scene.reply('pick', '{"best": 3}', true);
    const best = scene.at('best/U{{ steps.pick.json.best }}');
    expect(best).toMatchObject({ ready: true, job: { request: { press: [{ kind: 'text', text: 'U3' }] } } });
    scene.done('best/U{{ steps.pick.json.best }}');
    const last = 'U{{ steps.pick.json.best }}/Upscale (Subtle) | Upscale (2x)';
    expect(scene.at(`caption/${last}`).ready).toBe(false);
    scene.done(`best/${last}`);
    expect(scene.at(`caption/${last}`).ready).toBe(true);
    scene.reply(`caption/${last}`, 'A fox.');
    expect(scene.at(`caption/${last}`).status).toBe('done');
  });
});

describe('a text request', () => {
  test('contains only declared fields: texts as texts, native trees with their types', async () => {
    const scene = await TextScene.of(`
      matrix: { year: [2024], heat: [1.0], schema: [{ type: object }] }
      steps:
        ask:
          generate:
            model: "{{ year }}"
            prompt: "{{ year }}"
            system: "{{ year }}"
            thinking: low
            stream: true
            accept: [MAX_TOKENS]
            search: false
            functions: { year: { answer: "{{ year }}" } }
            rounds: 3
            generationConfig: { temperature: "{{ heat }}", candidateCount: "{{ year }}", seed: 1 }
          extra: { labels: { year: "{{ year }}" } }
        talk:
          chat:
            model: m
            messages: [{ role: user, content: "say {{ year }}" }]
            max_tokens: 10`);
    expect(scene.at('ask').job).toMatchObject({
      kind: 'generate',
      request: {
        kind: 'generate',
        fields: {
          model: '2024',
          prompt: '2024',
          system: '2024',
          thinking: 'low',
          search: false,
          functions: { year: { answer: 2024 } },
          rounds: 3,
          generationConfig: { temperature: 1, candidateCount: 2024, seed: 1 },
        },
        extra: { labels: { year: 2024 } },
      },
      call: { stream: true, accept: ['MAX_TOKENS'] },
    });
    expect(Object.keys(scene.request('ask'))).toEqual(['kind', 'fields', 'extra']);
    expect(Object.keys(scene.request('ask').fields)).not.toContain('stream');
    expect(scene.at('ask')).toMatchObject({ prompt: '2024', depth: 0, ready: true });
    expect(scene.at('talk').job).toMatchObject({
      request: {
        kind: 'chat',
        fields: { model: 'm', messages: [{ role: 'user', content: 'say 2024' }], max_tokens: 10 },
      },
      call: { stream: false, accept: [] },
    });
    expect(scene.at('talk').job).not.toHaveProperty('parent');
  });

  test('has the last turn of a conversation as its prompt', async () => {
    const scene = await TextScene.of(`
      steps:
        ask:
          generate:
            model: m
            contents:
              - { role: user, parts: [{ text: one }] }
              - { role: model, parts: [{ text: two }] }
              - { role: user, parts: [{ text: three }, { inlineData: { mimeType: image/png, data: AAAA } }, { text: four }] }
        talk: { chat: { model: m, messages: [{ role: user, content: five }] } }
        look: { chat: { model: m, messages: [{ role: user, content: [{ type: text, text: six }] }] } }
        grid: { imagine: a fox }
        mute: { from: grid, chat: { model: m, messages: [{ role: user, content: [{ type: x }] }] } }`);
    expect(['ask', 'talk', 'look', 'mute'].map((name) => scene.at(name).prompt)).toEqual([
      'three\nfour',
      'five',
      'six',
      undefined,
    ]);
  });

  test.each([
    ['prompt: "{{ a.x }}"', 'template.undefined'],
    ['prompt: "{{ a.none }}"', 'template.empty'],
    ['prompt: x, system: "{{ a.none }}"', 'template.empty'],
    ['prompt: "{{ a.o }}"', 'template.object'],
    ['prompt: x, images: ["{{ a.none }}"]', 'template.empty'],
  ])('{ %s } fails for one cell with %s', async (fields, code) => {
    const scene = await TextScene.of(`
      matrix: { a: [{ none: "", o: { p: 1 } }, { x: 1, o: t }], sample: { count: 9 } }
      steps:
        ask: { generate: { model: m, ${fields} } }`);
    expect(scene.at('ask')).toMatchObject({ status: 'failed', error: { code } });
    expect(scene.at('ask').job).toBeUndefined();
  });

  test('is not sent with a text that is too long', async () => {
    const scene = await TextScene.of(`
      matrix: { a: ["${'x'.repeat(100_000)}"] }
      steps:
        long: { generate: { model: m, prompt: "{{ a }}{{ a }}" } }
        runaway: { chat: { model: m, system: "{{ a }}{{ a }}{{ a }}", prompt: x } }`);
    expect(scene.at('long').ready).toBe(true);
    expect(scene.at('runaway').error).toMatchObject({
      code: 'template.limit',
      message: expect.stringContaining('the system instruction has 300000 characters'),
    });
  });
});

test.each(['prompt', 'system', 'model'])(
  'the longest %s that is sent has 262,144 characters',
  async (field) => {
    const statusOf = async (length: number) => {
      const fields = { model: 'm', prompt: 'p', [field]: '{{ x }}' };
      const scene = await TextScene.of(
        JSON.stringify({ matrix: { x: ['x'.repeat(length)] }, steps: { t: { generate: fields } } }),
      );
      const { status, error } = scene.at('t');
      return [status, error?.code];
    };
    expect(await statusOf(262_144)).toEqual(['pending', undefined]);
    expect(await statusOf(262_145)).toEqual(['failed', 'template.limit']);
  },
);

describe('the identity of a text job', () => {
  test('is the same for continuing one job and gathering it alone, if they show the same', async () => {
    const scene = await TextScene.of(`
      steps:
        grid: { imagine: a fox, path: "U1,U2" }
        one: { from: grid/U1, generate: { model: m, prompt: x, images: [parent] } }
        same: { gather: grid/U1, generate: { model: m, prompt: x } }
        blind: { from: grid/U1, generate: { model: m, prompt: x } }
        other: { from: grid/U2, generate: { model: m, prompt: x } }
        none: { gather: grid/*, generate: { model: m, prompt: x, images: [] } }`);
    expect(scene.at('same').job).toEqual(scene.at('one/U1').job);
    expect(scene.at('same').job).toMatchObject({ parent: scene.key('grid/U1') });
    const keys = ['one/U1', 'blind/U1', 'other/U2', 'none'].map((name) => scene.key(name));
    expect(new Set(keys).size).toBe(4);
  });

  const base = `
    steps:
      grid: { imagine: a fox }
      talk: { generate: { model: m, prompt: hi } }
      more: { generate: { model: m, prompt: hello } }
      ask: { from: grid, generate: { model: m, prompt: x, images: [a.png, parent], continue: talk } }`;
  const files = { 'a.png': 'a', 'b.png': 'a', 'c.png': 'c' };
  const keyOf = async (text: string): Promise<string> =>
    (await TextScene.of(text, filesOf(files))).key('ask');

  test.each([
    ['a file by another name', 'a.png', 'b.png'],
    ['how the answer comes', 'prompt: x', 'prompt: x, stream: true'],
    ['which ends are accepted', 'prompt: x', 'prompt: x, accept: [MAX_TOKENS]'],
    ['keep', 'ask: { from', 'ask: { keep: false, from'],
    ['limits', '\n    steps', '\n    limits: { text: 5/s, tokens: 100/min }\n    steps'],
    ['an empty extra', 'ask: { from', 'ask: { extra: {}, from'],
  ])('is not changed by %s', async (_, from, to) => {
    expect(base).toContain(from);
    expect(await keyOf(base.replace(from, to))).toBe(await keyOf(base));
  });

  test.each([
    ['a file with other content', 'a.png', 'c.png'],
    ['the order of images', 'a.png, parent', 'parent, a.png'],
    ['fewer images', 'a.png, parent', 'parent'],
    ['another conversation', 'continue: talk', 'continue: more'],
    ['none', ', continue: talk', ''],
    ['a declared default', 'prompt: x', 'prompt: x, search: false'],
    ['the endpoint', 'generate: { model: m, prompt: x', 'chat: { model: m, prompt: x'],
    ['the job that is shown', 'imagine: a fox', 'imagine: an owl'],
  ])('is changed by %s', async (_, from, to) => {
    expect(base).toContain(from);
    const changed = base.replace(from, to).replace(/(chat: .*), continue: talk/, '$1');
    expect(await keyOf(changed)).not.toBe(await keyOf(base));
  });

  test('includes the repeat of a root, and so differs for later jobs too', async () => {
    const plan = await planOf(`
      matrix: { repeat: 2 }
      steps:
        ask: { generate: { model: m, prompt: x } }
        next: { from: ask, generate: { model: m, prompt: y } }`);
    const keys = (await cellsOf(plan)).flatMap((cell) =>
      plan.resolve(cell, () => undefined).map(({ job }) => job?.key),
    );
    expect(new Set(keys).size).toBe(4);
  });
});

test('--only includes the steps that a text step shows, continues and reads', async () => {
  const plan = await planOf(`
    steps:
      idle: { imagine: a dog }
      grid: { imagine: a fox, path: "U1,U2" }
      shown: { imagine: an owl, path: U3 }
      talk: { generate: { model: m, prompt: hi } }
      read: { generate: { model: m, prompt: ho } }
      ask:
        from: grid/U1
        generate: { model: m, prompt: "{{ steps.read.text }}", images: [parent, steps.shown], continue: talk }`);
  const chosen = chosenSteps(plan, ['ask']);
  if (!chosen.ok) throw new Error(chosen.error.message);
  const names = plan.slotGraph.templates.flatMap(({ index, step, branch }) =>
    chosen.value.places.has(index) ? [[step.name, ...branch].join('/')] : [],
  );
  expect(names).toEqual(['grid', 'grid/U1', 'shown', 'talk', 'read', 'ask/U1']);
});

describe('thinking that a model does not accept', () => {
  const pipeline = (head: string): string => `
    ${head}
    matrix: { row: [{ m: gemini-2.5-flash, t: 512 }], s: { from: 1, to: 2 } }
    steps:
      a: { generate: { model: "{{ row.m }}", prompt: p, thinking: "{% if s == 1 %}low{% else %}{{ row.t }}{% endif %}" } }
      b: { from: a, generate: { model: m, prompt: p } }`;

  test('fails its slot in the affected cells, and nothing is sent', async () => {
    const scene = await TextScene.of(pipeline('description: x'));
    const [slot, below] = scene.slots();
    expect(slot).toMatchObject({ status: 'failed', error: { code: 'thinking.generation' } });
    expect(slot?.job).toBeUndefined();
    expect(below).toMatchObject({ status: 'blocked' });
    const second = new TextScene(scene.plan, (await cellsOf(scene.plan))[1] as Cell);
    expect(second.at('a')).toMatchObject({ status: 'pending', ready: true });
  });

  test('is accepted if the pipeline declares it', async () => {
    const scene = await TextScene.of(pipeline('models: { gemini-2.5-flash: { thinking: level } }'));
    expect(scene.at('a')).toMatchObject({ status: 'pending', ready: true });
  });

  test('is found in native fields too, and for a range', async () => {
    const scene = await TextScene.of(`
      matrix: { n: { from: 100, to: 101 } }
      steps:
        a:
          generate:
            model: gemini-2.5-pro
            prompt: p
            generationConfig: { thinkingConfig: { thinkingBudget: "{{ n }}" } }`);
    expect(scene.at('a')).toMatchObject({ status: 'failed', error: { code: 'thinking.range' } });
  });
});

describe('a reply that was not kept', () => {
  const drawn = {
    text: {
      candidates: [
        { text: '', isJson: false, parts: [{ inlineData: { mimeType: 'image/png', output: 1 } }] },
      ],
    },
    artifacts: [],
  };

  test('is done, because its record has the text, and later steps continue', async () => {
    const scene = await TextScene.of(
      'steps: { a: { generate: { model: m, prompt: p } }, b: { imagine: "{{ steps.a.text }}" } }',
    );
    scene.reply('a', 'a fox', false, { artifacts: [] });
    expect(scene.at('a')).not.toHaveProperty('unsaved');
    expect(scene.at('a').status).toBe('done');
    expect(scene.at('b')).toMatchObject({ status: 'pending', ready: true, prompt: 'a fox' });
    scene.reply('a', ' ', false, { artifacts: [] });
    expect(scene.at('a').status).toBe('done');
  });

  test('with images is done, but cannot be shown or continued, and a hint says how to get it', async () => {
    const scene = await TextScene.of(`
      steps:
        a: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [TEXT, IMAGE] } }, keep: false }
        b: { generate: { model: m, prompt: q, continue: a } }
        c: { generate: { model: m, prompt: q, images: [steps.a] } }`);
    scene.reply('a', '', false, drawn);
    expect(scene.at('a')).toMatchObject({ status: 'done' });
    for (const name of ['b', 'c'])
      expect(scene.at(name)).toMatchObject({
        status: 'failed',
        ready: false,
        error: { code: 'input.missing', message: expect.stringContaining(`--redo ${scene.key('a')}`) },
      });
    const artifact = { output: 1, file: 'images/x.png', bytes: 1, sha256: 'x', mime: 'image/png' };
    scene.reply('a', '', false, { ...drawn, artifacts: [artifact] });
    for (const name of ['b', 'c']) expect(scene.at(name)).toMatchObject({ status: 'pending', ready: true });
  });
});
