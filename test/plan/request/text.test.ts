import { describe, expect, test } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { ImageFiles } from '../../../src/plan/request/image-files.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { gridButtons, line, SimulatedState } from '../simulated-state.ts';

/** Files by path: what they hold, or the code of what is wrong with them. */
const filesOf = (texts: Readonly<Record<string, string>>): ImageFiles => ({
  facts: (path) => {
    const text = texts[path];
    return text === undefined || text.startsWith('input.')
      ? { error: { code: text ?? 'input.missing', message: `no ${path}` } }
      : { sha256: `sha of ${text}`, bytes: text.length };
  },
});

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
  test('end to end', async () => {
    const scene = await Scene.of(judged);
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

describe('what is asked for', () => {
  test('declared fields: texts are texts, native trees keep their types, nothing else is in it', async () => {
    const scene = await Scene.of(`
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

  test('the prompt of a conversation is what its last turn says', async () => {
    const scene = await Scene.of(`
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
    const scene = await Scene.of(`
      matrix: { a: [{ none: "", o: { p: 1 } }, { x: 1, o: t }], sample: { count: 9 } }
      steps:
        ask: { generate: { model: m, ${fields} } }`);
    expect(scene.at('ask')).toMatchObject({ status: 'failed', error: { code } });
    expect(scene.at('ask').job).toBeUndefined();
  });

  test('a text that has run away is not sent', async () => {
    const scene = await Scene.of(`
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

describe('what is shown', () => {
  test('files by content, addresses as declared, jobs by key; in order', async () => {
    const scene = await Scene.of(
      `
      matrix: { animal: [fox] }
      steps:
        grid: { imagine: a fox, path: U1 }
        other: { imagine: an owl }
        ask:
          from: grid/U1
          generate:
            model: m
            prompt: which?
            images:
              - "{{ animal }}.png"
              - parent
              - https://images.test/{{ animal }}.png
              - copy.png
              - steps.other
              - data:image/png;base64,AAAA
              - steps.grid`,
      filesOf({ 'fox.png': 'a fox', 'copy.png': 'a fox' }),
    );
    expect(scene.request('ask/U1').images).toEqual([
      { sha256: 'sha of a fox' },
      { job: scene.key('grid/U1') },
      { url: 'https://images.test/fox.png' },
      { sha256: 'sha of a fox' },
      { job: scene.key('other') },
      { url: 'data:image/png;base64,AAAA' },
      { job: scene.key('grid') },
    ]);
    expect(scene.at('ask/U1').job?.files).toEqual({ 'sha of a fox': 'fox.png' });
    expect(scene.at('ask/U1').depth).toBe(2);
  });

  test('what a template yields is a file, whatever it is called', async () => {
    const scene = await Scene.of(
      `
      matrix: { a: [parent] }
      steps:
        grid: { imagine: a fox }
        ask: { from: grid, generate: { model: m, prompt: x, images: ["{{ a }}"] } }`,
      filesOf({ parent: 'a fox' }),
    );
    expect(scene.request('ask').images).toEqual([{ sha256: 'sha of a fox' }]);
  });

  test('a step that gathers shows all it gathers, unless it names its images', async () => {
    const scene = await Scene.of(
      `
      steps:
        grid: { imagine: a fox, path: "U1,U2" }
        all: { gather: grid/*, generate: { model: m, prompt: x } }
        more: { gather: grid/*, generate: { model: m, prompt: x, images: [a.png] } }
        none: { gather: grid/*, generate: { model: m, prompt: x, images: [] } }
        one: { gather: grid/*, generate: { model: m, prompt: x, images: [steps.grid] } }`,
      filesOf({ 'a.png': 'a' }),
    );
    const both = [{ job: scene.key('grid/U1') }, { job: scene.key('grid/U2') }];
    expect(scene.request('all').images).toEqual(both);
    expect(scene.request('more').images).toEqual([{ sha256: 'sha of a' }]);
    expect(scene.request('none')).not.toHaveProperty('images');
    expect(scene.request('one').images).toEqual([{ job: scene.key('grid') }]);
    const inputs = both.map(({ job }) => job);
    for (const name of ['all', 'more', 'none', 'one']) expect(scene.at(name).job?.inputs).toEqual(inputs);
  });

  test.each(['input.missing', 'input.outside', 'input.not-image', 'input.too-large'])(
    'a file that is %s fails its slot, before anything above it is paid',
    async (code) => {
      const scene = await Scene.of(
        `
        matrix: { a: [bad] }
        steps:
          grid: { imagine: a fox }
          ask: { from: grid, generate: { model: m, prompt: which?, images: [parent, "{{ a }}.png"] } }
          after: { from: ask, chat: { model: m, prompt: why? } }`,
        filesOf({ 'bad.png': code }),
      );
      expect(scene.at('ask')).toMatchObject({ status: 'failed', error: { code }, prompt: 'which?' });
      expect(scene.at('ask').job).toBeUndefined();
      expect(scene.at('after')).toMatchObject({ status: 'blocked', error: { code: 'ancestor.failed' } });
    },
  );

  test('without anything that knows of files there is none', async () => {
    const scene = await Scene.of(`
      matrix: { a: [x] }
      steps:
        ask: { generate: { model: m, prompt: x, images: ["{{ a }}.png"] } }`);
    expect(scene.at('ask')).toMatchObject({ status: 'failed', error: { code: 'input.missing' } });
  });

  test('what may be skipped is not judged by its files', async () => {
    const scene = await Scene.of(`
      matrix: { a: [x] }
      steps:
        off: { imagine: a fox, when: a == "y" }
        maybe: { imagine: an owl, path: "U9?" }
        from: { from: maybe/U9, generate: { model: m, prompt: x, images: ["{{ a }}.png"] } }
        shows: { generate: { model: m, prompt: x, images: [steps.off, "{{ a }}.png"] } }`);
    expect(scene.lines()).toEqual([
      'off skipped',
      'maybe pending!',
      'maybe/U9 pending',
      'from/U9 pending',
      'shows skipped',
    ]);
    scene.done('maybe');
    scene.state.fail(scene.at('maybe/U9'), 'button.missing');
    expect(scene.at('from/U9').status).toBe('skipped');
  });
});

describe('images of other jobs must lie in the run directory', () => {
  const text = `
    steps:
      grid: { imagine: a fox, keep: false, path: "U1,U2" }
      lone: { imagine: a cat, keep: false }
      draw: { keep: false, generate: { model: m, prompt: draw, generationConfig: { responseModalities: [TEXT, IMAGE] } } }
      rest: { keep: false, generate: { model: m, prompt: rest } }
      ask: { from: grid/U1, generate: { model: m, prompt: which?, images: [parent] } }
      all: { generate: { model: m, prompt: which?, images: [steps.lone, steps.draw] } }`;
  const ready = (scene: Scene): string[] => scene.slots().flatMap(({ step, ready }) => (ready ? [step] : []));

  test('one slot that shows them is enough to keep them', async () => {
    const scene = await Scene.of(text);
    const kept = scene
      .slots()
      .flatMap(({ step, branch, keep }) => (keep ? [[step, ...branch].join('/')] : []));
    expect(kept).toEqual(['grid/U1', 'lone', 'draw', 'ask/U1', 'all']);
  });

  test('of all that a step gathers, and of what a wildcard finds', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, keep: false, path: "U*" }
        one: { from: grid/U1, generate: { model: m, prompt: x, images: [parent] } }
        more: { imagine: an owl, keep: false, path: "U*" }
        all: { gather: more/*, generate: { model: m, prompt: x } }
        few: { imagine: a cat, keep: false, path: U1 }
        none: { gather: few/*, generate: { model: m, prompt: x, images: [] } }`);
    scene.done('grid');
    scene.done('more');
    expect(scene.slots().filter(({ keep, branch }) => keep && branch.length > 0).length).toBe(9);
    expect(['grid', 'more', 'few', 'few/U1'].map((name) => scene.at(name).keep)).toEqual(
      Array(4).fill(false),
    );
    scene.done('grid/U1', { artifacts: [] });
    expect(scene.at('grid/U1')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('one/U1').ready).toBe(false);
    scene.done('grid/U1');
    expect(scene.at('one/U1').ready).toBe(true);
  });

  test('a job that was made without its files is done for what presses it, not for what shows it', async () => {
    const scene = await Scene.of(`${text}
      up: { from: grid/U1, click: Upscale }`);
    scene.done('grid');
    scene.done('grid/U1', { artifacts: [] });
    scene.done('lone');
    scene.answer('draw', '', false, { artifacts: [] });
    expect(scene.at('grid/U1')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('up/U1/Upscale').ready).toBe(true);
    expect(ready(scene)).not.toContain('ask');
    scene.done('grid/U1');
    expect(ready(scene)).toContain('ask');
  });

  test('a job that made none leaves nothing to show', async () => {
    const scene = await Scene.of(text);
    scene.done('lone');
    scene.answer('draw', 'no');
    expect(scene.at('all')).toMatchObject({
      status: 'failed',
      ready: false,
      error: { code: 'input.missing', message: 'draw made no image to show.' },
    });
  });

  test('a job whose images are lost can be made again', async () => {
    const scene = await Scene.of(text);
    scene.done('lone');
    const part = { inlineData: { mimeType: 'image/png', output: 1 } };
    const changes = { artifacts: [], text: { candidates: [{ text: '', isJson: false, parts: [part] }] } };
    scene.answer('draw', '', false, changes);
    const { status, error } = scene.at('all');
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'input.missing' });
    expect(error?.message).toContain(`--redo ${scene.key('draw')}`);
    scene.state.put(scene.at('draw'), 'pending');
    expect(scene.at('all').status).toBe('pending');
    scene.answer('draw', '', false, {
      artifacts: [
        { output: 1, file: 'images/d.png', bytes: 1, sha256: 'd', mime: 'image/png', candidate: 1 },
      ],
    });
    expect(scene.at('all')).toMatchObject({ status: 'pending', ready: true });
    scene.answer('all', 'both');
    scene.answer('draw', 'none this time', false, { artifacts: [] });
    expect(scene.at('all').status).toBe('done');
  });
});

describe('a conversation that goes on', () => {
  const text = `
    steps:
      grid: { imagine: a fox }
      ask: { from: grid, generate: { model: m, prompt: what?, images: [parent] } }
      why: { from: grid, generate: { model: m, prompt: why?, continue: ask } }
      how: { from: why, generate: { model: m, prompt: how?, continue: why } }
      last: { generate: { model: m, prompt: sure?, continue: how } }`;

  test('waits for the earlier job, and names it by its key', async () => {
    const scene = await Scene.of(text);
    expect(scene.request('why')).toEqual({
      kind: 'generate',
      fields: { model: 'm', prompt: 'why?' },
      continues: scene.key('ask'),
    });
    expect(scene.request('how').continues).toBe(scene.key('why'));
    expect(scene.request('last').continues).toBe(scene.key('how'));
    expect(scene.at('last').job).not.toHaveProperty('inputs');
    expect(scene.slots().map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4]);
    scene.done('grid');
    expect(scene.at('why').ready).toBe(false);
    scene.answer('ask', 'a fox');
    expect(scene.at('why').ready).toBe(true);
    scene.answer('why', 'because');
    scene.answer('how', 'like that');
    expect(scene.lines().at(-1)).toBe('last pending!');
  });

  test('is blocked, or skipped, with it', async () => {
    const scene = await Scene.of(text);
    scene.done('grid');
    scene.state.fail(scene.at('ask'), 'text.blocked');
    expect(scene.lines().slice(2)).toEqual(['why blocked', 'how blocked', 'last blocked']);
    expect(scene.at('last').error?.message).toBe('blocked by ask: text.blocked');
    const off = await Scene.of(text.replace('ask: { from', 'ask: { when: repeat == 2, from'));
    off.done('grid');
    expect(off.lines().slice(1)).toEqual(['ask skipped', 'why skipped', 'how skipped', 'last skipped']);
  });

  test('one that may yet be skipped gives no key to what continues it', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1?" }
        ask: { from: grid/U1, generate: { model: m, prompt: what? } }
        why: { generate: { model: m, prompt: why?, continue: ask } }`);
    expect(scene.at('why').job).toBeUndefined();
    scene.done('grid');
    scene.done('grid/U1');
    expect(scene.request('why').continues).toBe(scene.key('ask/U1'));
  });
});

describe('templates on answers', () => {
  const text = (template: string): string => `
    steps:
      pick: { generate: { model: m, prompt: which?, generationConfig: { responseMimeType: application/json } } }
      next: { generate: { model: m, prompt: ${JSON.stringify(template)} } }`;

  test.each([
    ['{{ steps.pick.text }}', '{"id": 12345678901234567890}', '{"id": 12345678901234567890}'],
    ['{{ steps.pick.json.id }}', '{"id": 12345678901234567890}', '12345678901234567890'],
    ['{{ steps.pick.json.list[1].x }} {{ steps.pick.json.list.size }}', '{"list": [1, {"x": 6.0}]}', '6.0 2'],
    ['{{ steps.pick.json.x }}', '{"x": 1, "x": 2}', '2'],
    ['{{ steps.pick.json.x }}', '{"__proto__": {"x": 7}, "x": 8}', '8'],
    ['{{ steps.pick.parts[0].text }}', 'true', 'true'],
    ['{{ steps.pick.usage.total }}', 'true', '15'],
  ])('%s of %s', async (template, answer, wanted) => {
    const scene = await Scene.of(text(template));
    expect(scene.at('next')).toMatchObject({ status: 'pending', ready: false });
    expect(scene.at('next').job).toBeUndefined();
    scene.answer('pick', answer, true);
    expect(scene.at('next').prompt).toBe(wanted);
  });

  test.each([
    ['prompt: "{{ steps.pick.json.best }}"', ''],
    ['prompt: "{{ steps.pick.json.best | plus: 1 }}"', ''],
    ['prompt: x', 'when: steps.pick.json.best > 2'],
  ])('an answer that is no JSON has no members: %s %s', async (fields, when) => {
    const scene = await Scene.of(`
      steps:
        pick: { generate: { model: m, prompt: which?, responseSchema: { type: object, properties: { best: { type: integer } } } } }
        next:
          generate: { model: m, ${fields} }
          ${when}`);
    scene.answer('pick', 'the third', false);
    expect(scene.at('next')).toMatchObject({
      status: 'failed',
      error: { code: 'template.no-json', message: expect.stringContaining('"pick"') },
    });
  });

  test('what no such member is told', async () => {
    const scene = await Scene.of(text('{{ steps.pick.json.none }}'));
    scene.answer('pick', '{"a": 1}', true);
    expect(scene.at('next').error?.code).toBe('template.undefined');
    const deep = await Scene.of(text('{{ steps.pick.json.none }}'));
    deep.answer('pick', `${'['.repeat(101)}${']'.repeat(101)}`, true);
    expect(deep.at('next').error?.code).toBe('template.limit');
    const deeper = await Scene.of(text('{{ steps.pick.json.none }}'));
    deeper.answer('pick', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, true);
    expect(deeper.at('next').error?.code).toBe('template.limit');
  });

  test.each([
    [3, 'skipped'],
    [4, 'pending'],
  ])('when: the best is %i', async (best, status) => {
    const scene = await Scene.of(`
      steps:
        pick: { generate: { model: m, prompt: which?, responseSchema: { type: object, properties: { best: { type: integer } } } } }
        grid: { imagine: a fox, when: steps.pick.json.best > 3 }`);
    scene.answer('pick', `{"best": ${best}}`, true);
    expect(scene.at('grid').status).toBe(status);
  });
});

describe('what is one job, and what is not', () => {
  test('a step from one job, and one that gathers it alone, ask for the same if they show the same', async () => {
    const scene = await Scene.of(`
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
  const keyOf = async (text: string): Promise<string> => (await Scene.of(text, filesOf(files))).key('ask');

  test.each([
    ['a file by another name', 'a.png', 'b.png'],
    ['how the answer comes', 'prompt: x', 'prompt: x, stream: true'],
    ['which ends are accepted', 'prompt: x', 'prompt: x, accept: [MAX_TOKENS]'],
    ['keep', 'ask: { from', 'ask: { keep: false, from'],
    ['limits', '\n    steps', '\n    limits: { text: 5/s, tokens: 100/min }\n    steps'],
    ['an empty extra', 'ask: { from', 'ask: { extra: {}, from'],
  ])('not part of a key: %s', async (_, from, to) => {
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
  ])('part of a key: %s', async (_, from, to) => {
    expect(base).toContain(from);
    const changed = base.replace(from, to).replace(/(chat: .*), continue: talk/, '$1');
    expect(await keyOf(changed)).not.toBe(await keyOf(base));
  });

  test("repeat makes a text of one's own again, and what follows from it differs by that", async () => {
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

test('--only takes what a text step shows, continues and reads', async () => {
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
  const names = plan.slotGraph.places.flatMap(({ index, step, branch }) =>
    chosen.value.places.has(index) ? [[step.name, ...branch].join('/')] : [],
  );
  expect(names).toEqual(['grid', 'grid/U1', 'shown', 'talk', 'read', 'ask/U1']);
});

describe('thinking that a model does not take', () => {
  const pipeline = (head: string): string => `
    ${head}
    matrix: { row: [{ m: gemini-2.5-flash, t: 512 }], s: { from: 1, to: 2 } }
    steps:
      a: { generate: { model: "{{ row.m }}", prompt: p, thinking: "{% if s == 1 %}low{% else %}{{ row.t }}{% endif %}" } }
      b: { from: a, generate: { model: m, prompt: p } }`;

  test('fails its slot in the cells where it turns out so, and nothing is asked', async () => {
    const scene = await Scene.of(pipeline('description: x'));
    const [slot, below] = scene.slots();
    expect(slot).toMatchObject({ status: 'failed', error: { code: 'thinking.generation' } });
    expect(slot?.job).toBeUndefined();
    expect(below).toMatchObject({ status: 'blocked' });
    const second = new Scene(scene.plan, (await cellsOf(scene.plan))[1] as Cell);
    expect(second.at('a')).toMatchObject({ status: 'pending', ready: true });
  });

  test('is none where the pipeline says that it takes it', async () => {
    const scene = await Scene.of(pipeline('models: { gemini-2.5-flash: { thinking: level } }'));
    expect(scene.at('a')).toMatchObject({ status: 'pending', ready: true });
  });

  test('is looked for in native fields too, and a range', async () => {
    const scene = await Scene.of(`
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

describe('an answer that was not kept', () => {
  const drawn = {
    text: {
      candidates: [
        { text: '', isJson: false, parts: [{ inlineData: { mimeType: 'image/png', output: 1 } }] },
      ],
    },
    artifacts: [],
  };

  test('is to be written when its slot wants it; what follows does not wait for that', async () => {
    const scene = await Scene.of(
      'steps: { a: { generate: { model: m, prompt: p } }, b: { imagine: "{{ steps.a.text }}" } }',
    );
    scene.answer('a', 'a fox', false, { artifacts: [] });
    expect(scene.at('a')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('b')).toMatchObject({ status: 'pending', ready: true, prompt: 'a fox' });
    scene.answer('a', ' ', false, { artifacts: [] });
    expect(scene.at('a').status).toBe('done');
  });

  test('with images is done, can neither be shown nor continued, and says how to have it', async () => {
    const scene = await Scene.of(`
      steps:
        a: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [TEXT, IMAGE] } }, keep: false }
        b: { generate: { model: m, prompt: q, continue: a } }
        c: { generate: { model: m, prompt: q, images: [steps.a] } }`);
    scene.answer('a', '', false, drawn);
    expect(scene.at('a')).toMatchObject({ status: 'done' });
    for (const name of ['b', 'c'])
      expect(scene.at(name)).toMatchObject({
        status: 'failed',
        ready: false,
        error: { code: 'input.missing', message: expect.stringContaining(`--redo ${scene.key('a')}`) },
      });
    const artifact = { output: 1, file: 'images/x.png', bytes: 1, sha256: 'x', mime: 'image/png' };
    scene.answer('a', '', false, { ...drawn, artifacts: [artifact] });
    for (const name of ['b', 'c']) expect(scene.at(name)).toMatchObject({ status: 'pending', ready: true });
  });
});
