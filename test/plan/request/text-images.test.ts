import { describe, expect, test } from 'vitest';
import { filesOf } from '../scene.ts';
import { TextScene } from './text-rig.ts';

describe('the images that a text step shows', () => {
  test('are files by content, addresses as declared and jobs by key, in order', async () => {
    const scene = await TextScene.of(
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

  test('are files if a template yields their names', async () => {
    const scene = await TextScene.of(
      `
      matrix: { a: [parent] }
      steps:
        grid: { imagine: a fox }
        ask: { from: grid, generate: { model: m, prompt: x, images: ["{{ a }}"] } }`,
      filesOf({ parent: 'a fox' }),
    );
    expect(scene.request('ask').images).toEqual([{ sha256: 'sha of a fox' }]);
  });

  test('are all gathered jobs, unless the step names its images', async () => {
    const scene = await TextScene.of(
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
    'fail their slot if a file is %s, before anything above it is paid',
    async (code) => {
      const scene = await TextScene.of(
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

  test('fail without access to files', async () => {
    const scene = await TextScene.of(`
      matrix: { a: [x] }
      steps:
        ask: { generate: { model: m, prompt: x, images: ["{{ a }}.png"] } }`);
    expect(scene.at('ask')).toMatchObject({ status: 'failed', error: { code: 'input.missing' } });
  });

  test('are not checked for a slot that may be skipped', async () => {
    const scene = await TextScene.of(`
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

describe('images of other jobs', () => {
  const text = `
    steps:
      grid: { imagine: a fox, keep: false, path: "U1,U2" }
      lone: { imagine: a cat, keep: false }
      draw: { keep: false, generate: { model: m, prompt: draw, generationConfig: { responseModalities: [TEXT, IMAGE] } } }
      rest: { keep: false, generate: { model: m, prompt: rest } }
      ask: { from: grid/U1, generate: { model: m, prompt: which?, images: [parent] } }
      all: { generate: { model: m, prompt: which?, images: [steps.lone, steps.draw] } }`;
  const ready = (scene: TextScene): string[] =>
    scene.slots().flatMap(({ step, ready }) => (ready ? [step] : []));

  test('are kept if one slot shows them', async () => {
    const scene = await TextScene.of(text);
    const kept = scene
      .slots()
      .flatMap(({ step, branch, keep }) => (keep ? [[step, ...branch].join('/')] : []));
    expect(kept).toEqual(['grid/U1', 'lone', 'draw', 'ask/U1', 'all']);
  });

  test("are kept for gathered jobs and a wildcard's branches", async () => {
    const scene = await TextScene.of(`
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
    scene.doneWith('grid/U1', { artifacts: [] });
    expect(scene.at('grid/U1')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('one/U1').ready).toBe(false);
    scene.done('grid/U1');
    expect(scene.at('one/U1').ready).toBe(true);
  });

  test('are not needed for clicks, but for steps that show them', async () => {
    const scene = await TextScene.of(`${text}
      up: { from: grid/U1, click: Upscale }`);
    scene.done('grid');
    scene.doneWith('grid/U1', { artifacts: [] });
    scene.done('lone');
    scene.reply('draw', '', false, { artifacts: [] });
    expect(scene.at('grid/U1')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('up/U1/Upscale').ready).toBe(true);
    expect(ready(scene)).not.toContain('ask');
    scene.done('grid/U1');
    expect(ready(scene)).toContain('ask');
  });

  test('cannot be shown if the job made none', async () => {
    const scene = await TextScene.of(text);
    scene.done('lone');
    scene.reply('draw', 'no');
    expect(scene.at('all')).toMatchObject({
      status: 'failed',
      ready: false,
      error: { code: 'input.missing', message: 'draw made no image to show.' },
    });
  });

  test('can be made again if they are lost', async () => {
    const scene = await TextScene.of(text);
    scene.done('lone');
    const part = { inlineData: { mimeType: 'image/png', output: 1 } };
    const changes = { artifacts: [], text: { candidates: [{ text: '', isJson: false, parts: [part] }] } };
    scene.reply('draw', '', false, changes);
    const { status, error } = scene.at('all');
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'input.missing' });
    expect(error?.message).toContain(`--redo ${scene.key('draw')}`);
    scene.state.put(scene.at('draw'), 'pending');
    expect(scene.at('all').status).toBe('pending');
    scene.reply('draw', '', false, {
      artifacts: [
        { output: 1, file: 'images/d.png', bytes: 1, sha256: 'd', mime: 'image/png', candidate: 1 },
      ],
    });
    expect(scene.at('all')).toMatchObject({ status: 'pending', ready: true });
    scene.reply('all', 'both');
    scene.reply('draw', 'none this time', false, { artifacts: [] });
    expect(scene.at('all').status).toBe('done');
  });
});
