import { describe, expect, test } from 'vitest';
import { filesOf, Scene } from '../scene.ts';
import { button, line } from '../simulated-state.ts';

const files = filesOf({
  'masks/neck.png': 'neck',
  'masks/copy.png': 'neck',
  'masks/hat.png': 'hat',
  'masks/text.png': 'input.not-image',
});

/** Of a describe (gateway 5.4). */
const describeButtons = ['1️⃣', '2️⃣', '3️⃣', '4️⃣'].map((emoji, n) => ({
  customId: `MJ::Job::PicReader::${n + 1}`,
  label: '',
  emoji,
}));

/** The repaint step of the pipeline that uses every part of the language. */
const repaint = `
  matrix: { animal: [fox] }
  steps:
    grid: { keep: false, imagine: "{{ animal }} at dusk", path: "U1..U2" }
    repaint:
      from: grid/U1
      click: Vary (Region)
      prompt: a red scarf
      mask: masks/neck.png`;

const name = 'repaint/U1/Vary (Region)';

describe('a click with a mask', () => {
  test('waits for the file of its parent, whose size it needs', async () => {
    const scene = await Scene.of(repaint, files);
    expect(scene.at(name).job).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'click',
      request: {
        kind: 'click',
        press: [{ kind: 'text', text: 'Vary (Region)' }],
        fields: { prompt: 'a red scarf' },
        mask: { sha256: 'sha of neck' },
      },
      parent: scene.key('grid/U1'),
      files: { 'sha of neck': 'masks/neck.png' },
    });
    expect(scene.slots().map(({ keep }) => keep)).toEqual([false, true, false, true]);
    scene.done('grid');
    scene.doneWith('grid/U1', { artifacts: [], keep: false });
    expect(scene.at('grid/U1')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at(name)).toMatchObject({ status: 'pending', ready: false, prompt: 'a red scarf' });
    scene.done('grid/U1');
    expect(scene.at(name).ready).toBe(true);
    scene.done(name);
    expect(scene.slots().map(line)).toEqual([
      'grid done',
      'grid/U1 done',
      'grid/U2 pending!',
      `${name} done`,
    ]);
  });

  test('does not need the file of its parent without a mask', async () => {
    const scene = await Scene.of(
      repaint.replace('mask: masks/neck.png', 'remix: true').replace('(Region)', '(Subtle)'),
    );
    expect(scene.at('grid/U1').keep).toBe(false);
    scene.done('grid');
    scene.doneWith('grid/U1', { artifacts: [] });
    expect(scene.at('repaint/U1/Vary (Subtle)').ready).toBe(true);
  });

  test('is the same job in a path and in a step', async () => {
    const path = await Scene.of(
      `
      steps:
        grid:
          keep: false
          imagine: fox at dusk
          path: [U1, { button: Vary (Region), prompt: a red scarf, mask: masks/neck.png }]`,
      files,
    );
    const step = await Scene.of(repaint, files);
    expect(path.key('grid/U1/Vary (Region)')).toBe(step.key(name));
    expect(path.at('grid/U1').keep).toBe(true);
    expect(path.at('grid').keep).toBe(false);
  });

  test('keeps the files of a branch of a wildcard that is named before it is found', async () => {
    const scene = await Scene.of(repaint.replace('U1..U2', 'U*'), files);
    scene.done('grid');
    expect(scene.at('grid/U1').keep).toBe(true);
    scene.doneWith('grid/U1', { artifacts: [] });
    expect(scene.at(name).ready).toBe(false);
    scene.done('grid/U1');
    expect(scene.at(name).ready).toBe(true);
  });

  test('fails if its parent has no image', async () => {
    const scene = await Scene.of(repaint, files);
    scene.done('grid');
    scene.doneWith('grid/U1', { artifacts: [], result: { buttons: [] } });
    expect(scene.at(name)).toMatchObject({
      status: 'failed',
      error: { code: 'input.missing', message: 'grid/U1 made no image to mask.' },
    });
  });
});

describe('the mask of a job', () => {
  const keyWith = async (mask: string): Promise<string> =>
    (await Scene.of(repaint.replace('masks/neck.png', mask), files)).key(name);

  test('changes the key by its content, inversion and shapes, but not by its file name', async () => {
    const same = [
      'masks/neck.png',
      'masks/copy.png',
      '{ file: masks/neck.png }',
      '{ file: masks/neck.png, invert: false }',
      '"masks/{{ \'neck\' }}.png"',
    ];
    const keys = await Promise.all(same.map(keyWith));
    expect(new Set(keys).size).toBe(1);
    const others = [
      'masks/hat.png',
      '{ file: masks/neck.png, invert: true }',
      '{ shapes: [{ ellipse: [0, 0, 1, 0.5] }] }',
      '{ shapes: [{ rectangle: [0, 0, 1, 0.5] }] }',
      '{ shapes: [{ rectangle: [0, 0, 1, 0.5] }], invert: true }',
      '{ shapes: [{ rectangle: [0, 0, 1, 0.6] }] }',
      '{ shapes: [{ rectangle: [0, 0, 1, 0.5] }, { ellipse: [0, 0, 1, 0.5] }] }',
    ];
    const all = [...keys, ...(await Promise.all(others.map(keyWith)))];
    expect(new Set(all).size).toBe(1 + others.length);
    const moved = await Scene.of(repaint.replace('neck.png', 'copy.png'), files);
    expect(moved.at(name).job?.files).toEqual({ 'sha of neck': 'masks/copy.png' });
  });

  test('may have numbers from the matrix, as numbers or as texts of a table', async () => {
    const drawn = (matrix: string, shape: string): Promise<Scene> =>
      Scene.of(
        repaint
          .replace('animal: [fox]', `animal: [fox], ${matrix}`)
          .replace('masks/neck.png', `{ shapes: [${shape}], invert: true }`),
        files,
      );
    const wanted = { shapes: [{ rectangle: [0, 0.5, 1, 0.5] }], invert: true };
    const scenes = await Promise.all([
      drawn('x: [1]', '{ rectangle: [0, 0.5, 1.0, 5e-1] }'),
      drawn('top: [0.50]', '{ rectangle: [0, "{{ top }}", 1, "{{ top }}"] }'),
      drawn('top: [" .5"]', '{ rectangle: [0, "{{ top }}", 1, "{{ top }}"] }'),
      drawn('box: [[0, 0.5, 1, 0.5]]', '{ rectangle: "{{ box }}" }'),
    ]);
    for (const scene of scenes) expect(scene.request(name)).toMatchObject({ mask: wanted });
    expect(new Set(scenes.map((scene) => scene.key(name))).size).toBe(1);
    expect(scenes[0]?.at(name).job).not.toHaveProperty('files');
  });

  test.each([
    ['top: [0.6]', '{ ellipse: [0, "{{ top }}", 1, "{{ top }}"] }'],
    ['top: [half]', '{ ellipse: [0, "{{ top }}", 1, 1] }'],
    ['top: [[0, 0, 1]]', '{ ellipse: "{{ top }}" }'],
    ['top: [0]', '{ ellipse: [0, 0, "{{ top }}", 1] }'],
  ])(
    'fails before anything is paid if a box of the cell extends beyond the image: %s',
    async (matrix, shape) => {
      const scene = await Scene.of(
        repaint
          .replace('animal: [fox]', `animal: [fox], ${matrix}`)
          .replace('masks/neck.png', `{ shapes: [${shape}] }`),
        files,
      );
      expect(scene.at(name)).toMatchObject({ status: 'failed', error: { code: 'template.range' } });
    },
  );

  test.each([
    ['masks/{{ animal }}.png', 'input.missing'],
    ['masks/{{ "text" }}.png', 'input.not-image'],
    ['{{ "https://images.test/x.png" }}', 'mask.address'],
    ['{{ "data:image/png;base64,AAAA" }}', 'mask.address'],
    ["{{ animal | remove: 'fox' }}", 'template.empty'],
  ])('%s fails with %s before anything is paid', async (mask, code) => {
    const scene = await Scene.of(repaint.replace('masks/neck.png', `'${mask.replaceAll("'", "''")}'`), files);
    expect(scene.at(name)).toMatchObject({ status: 'failed', error: { code } });
    expect(scene.at(name)).not.toHaveProperty('job');
  });
});

describe('the prompt that confirms a modal', () => {
  const requestOf = async (fields: string): Promise<unknown> => {
    const scene = await Scene.of(
      `
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        vary: { from: grid/U1, click: Vary (Subtle), ${fields} }`,
      files,
    );
    const { prompt, job } = scene.at('vary/U1/Vary (Subtle)');
    return { prompt, fields: job?.request.fields };
  };

  test.each([
    ['remix: true', { remix: true, prompt: 'a fox' }, 'a fox'],
    ['remix: true, prompt: an owl', { remix: true, prompt: 'an owl' }, 'an owl'],
    ['remix: false', { remix: false }, 'a fox'],
    ['mask: masks/neck.png', { prompt: 'a fox' }, 'a fox'],
    ['keep: true', {}, 'a fox'],
  ])('is the own or the nearest prompt: %s', async (declared, fields, prompt) => {
    expect(await requestOf(declared)).toEqual({ prompt, fields });
  });

  test('is the nearest one for a wildcard, with the same jobs', async () => {
    const text = (button: string): string => `
      steps:
        grid: { imagine: a fox, path: [{ button: "${button}", remix: true }] }`;
    const wild = await Scene.of(text('V*'));
    const named = await Scene.of(text('V1'));
    wild.done('grid');
    expect(wild.request('grid/V1')).toMatchObject({ fields: { remix: true, prompt: 'a fox' } });
    expect(wild.key('grid/V1')).toBe(named.key('grid/V1'));
  });

  test('is sent even if it is known only in the run', async () => {
    const scene = await Scene.of(`
      steps:
        seed: { imagine: a coin }
        grid: { imagine: "like {{ steps.seed.task_id }}", path: [{ button: V1, remix: true }] }`);
    expect(scene.at('grid/V1').job).toBeUndefined();
    scene.done('seed');
    const { prompt } = scene.at('grid');
    expect(prompt).toMatch(/^like T\d+$/);
    expect(scene.request('grid/V1')).toMatchObject({ fields: { prompt } });
  });

  test('is the suggestion of a describe for its buttons, not the prompt of its image', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: U1 }
        words: { from: grid/U1, describe: { image: parent }, path: [{ button: prompt 1, remix: true }] }
        own:
          from: words
          click: prompt 2
          prompt: "{{ steps.words.prompts[1] }}"
          path: V1`);
    expect(scene.at('words/U1').prompt).toBe('a fox');
    expect(scene.at('words/U1/prompt 1')).not.toHaveProperty('prompt');
    expect(scene.request('words/U1/prompt 1')?.fields).toEqual({ remix: true });
    scene.done('grid', 'grid/U1');
    scene.state.described(scene.at('words/U1'), ['one', 'two']);
    expect(scene.at('own/U1/prompt 2').prompt).toBe('two');
    expect(scene.at('own/U1/prompt 2/V1').prompt).toBe('two');
  });

  test.each(['prompt 2', '2️⃣'])(
    'is the suggestion of a describe for its button %s and below, but in no key',
    async (press) => {
      const scene = await Scene.of(`
      steps:
        words: { describe: { image: "https://images.test/fox.jpg" }, path: [${press}, { button: V1, remix: true }] }
        own: { from: words, click: ${press}, prompt: mine }`);
      const drawn = `words/${press}`;
      const before = [scene.key(drawn), scene.key(`${drawn}/V1`)];
      expect(scene.at(drawn)).not.toHaveProperty('prompt');
      scene.state.described(scene.at('words'), ['one', 'two'], {
        result: { prompts: ['one', 'two'], buttons: describeButtons },
      });
      expect(scene.at('words')).not.toHaveProperty('prompt');
      expect([drawn, `${drawn}/V1`, `own/${press}`].map((name) => scene.at(name).prompt)).toEqual([
        'two',
        'two',
        'mine',
      ]);
      expect([scene.key(drawn), scene.key(`${drawn}/V1`)]).toEqual(before);
      expect(scene.request(drawn)).toMatchObject({ fields: {} });
    },
  );

  test('is not shown for a missing suggestion, or for another button', async () => {
    const scene = await Scene.of(`
      steps:
        words: { describe: { image: "https://images.test/fox.jpg" }, path: "prompt 1, 2️⃣, 🔄" }`);
    scene.state.described(scene.at('words'), ['one'], {
      result: { prompts: ['one'], buttons: [...describeButtons, button('', '🔄')] },
    });
    const prompts = scene.slots().map(({ branch, prompt }) => [branch.join('/'), prompt]);
    expect(prompts).toEqual([
      ['', undefined],
      ['prompt 1', 'one'],
      ['2️⃣', undefined],
      ['🔄', undefined],
    ]);
  });
});
