import { describe, expect, test } from 'vitest';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import { filesOf, Scene } from '../scene.ts';
import { button, line } from '../simulated-state.ts';

const files = filesOf({ 'a.png': 'a', 'b.png': 'b', 'c.png': 'c', 'copy.png': 'a', 'mask.png': 'mask' });

const step = (body: string): Promise<Scene> => Scene.of(`\n      steps:\n        it: ${body}`, files);
const keyOf = async (body: string): Promise<string> => (await step(body)).key('it');

describe('an album of remixes', () => {
  const album = `
    steps:
      words: { describe: { image: a.png, language: en } }
      one: { imagine: { prompt: "{{ steps.words.prompts[0] }} --v 6.1", images: [a.png] }, path: "U1..U2" }
      best: { gather: one/*, blend: { dimensions: SQUARE } }
      note: { generate: { model: m, prompt: "{{ steps.words.text }}" } }`;

  test('end to end', async () => {
    const scene = await Scene.of(album, files);
    expect(scene.lines()).toEqual([
      'words pending!',
      'one pending',
      'one/U1 pending',
      'one/U2 pending',
      'best pending',
      'note pending',
    ]);
    expect(scene.at('words').job).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'describe',
      request: { kind: 'describe', fields: { language: 'en' }, images: [{ sha256: 'sha of a' }] },
      files: { 'sha of a': 'a.png' },
    });
    expect(scene.at('one')).not.toHaveProperty('job');
    scene.state.described(scene.at('words'), ['a red fox', 'an owl']);
    expect(scene.at('one').job).toMatchObject({
      request: {
        kind: 'imagine',
        fields: { prompt: 'a red fox --v 6.1' },
        images: [{ sha256: 'sha of a' }],
      },
      files: { 'sha of a': 'a.png' },
    });
    expect(scene.at('note')).toMatchObject({ ready: true, prompt: 'a red fox\n\nan owl' });
    scene.done('one', 'one/U2');
    const keys = [scene.key('one/U1'), scene.key('one/U2')];
    expect(scene.at('best')).toMatchObject({
      ready: false,
      job: {
        inputs: keys,
        request: {
          kind: 'blend',
          fields: { dimensions: 'square' },
          images: keys.map((job) => ({ job })),
        },
      },
    });
    scene.done('one/U1');
    expect(scene.at('best').ready).toBe(true);
    scene.done('best');
    expect(scene.at('best').status).toBe('done');
  });

  test('a prompt that it did not suggest fails its reader alone', async () => {
    const scene = await Scene.of(album.replace('prompts[0]', 'prompts[3]'), files);
    scene.state.described(scene.at('words'), ['a red fox']);
    expect(scene.at('one')).toMatchObject({ status: 'failed', error: { code: 'template.undefined' } });
    expect(scene.at('best').status).toBe('blocked');
    expect(scene.at('note').ready).toBe(true);
  });

  test('a describe that nobody kept is kept when a slot wants it', async () => {
    const scene = await Scene.of(album, files);
    scene.state.described(scene.at('words'), ['one'], { artifacts: [] });
    expect(scene.at('words')).toMatchObject({ status: 'saving', unsaved: true });
    expect(scene.at('note').ready).toBe(true);
    const none = await Scene.of(album, files);
    none.state.described(none.at('words'), [], { artifacts: [] });
    expect(none.at('words').status).toBe('done');
  });
});

describe('an animated grid', () => {
  const animate = `
    steps:
      grid: { keep: false, imagine: a fox, path: U1 }
      move:
        from: grid/U1
        video: { image: parent, endImage: steps.last, prompt: it runs, motion: high, loop: true, batchSize: 2 }
        path: U1
      last: { keep: false, imagine: a fox asleep }
      longer: { from: move, video: { extend: 2 } }
      review: { from: move, chat: { model: m, prompt: "how is {{ steps.move.video_url }}?" } }`;

  test('end to end', async () => {
    const scene = await Scene.of(animate);
    const [grid, last] = [scene.key('grid/U1'), scene.key('last')];
    expect(scene.at('move/U1').job).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'video',
      request: {
        kind: 'video',
        fields: { prompt: 'it runs', motion: 'high', loop: true, batchSize: 2 },
        images: [{ job: grid }, { job: last }],
      },
      parent: grid,
    });
    expect(scene.slots().map(({ step, keep }) => [step, keep])).toEqual([
      ['grid', false],
      ['grid', true],
      ['move', true],
      ['move', true],
      ['last', true],
      ['longer', true],
      ['review', true],
    ]);
    expect(scene.at('longer/U1').job).toMatchObject({
      request: { kind: 'video', fields: { extend: 2 }, images: [] },
      parent: scene.key('move/U1'),
    });
    scene.done('grid', 'grid/U1');
    expect(scene.at('move/U1').ready).toBe(false);
    scene.doneWith('last', { artifacts: [] });
    expect(scene.at('move/U1').ready).toBe(false);
    scene.done('last');
    expect(scene.at('move/U1').ready).toBe(true);
    scene.state.filmed(scene.at('move/U1'), ['https://videos.test/1.mp4', 'https://videos.test/2.mp4']);
    expect(scene.at('review/U1')).toMatchObject({ ready: true, prompt: 'how is https://videos.test/1.mp4?' });
    expect(scene.at('longer/U1')).toMatchObject({ ready: true, prompt: 'it runs' });
    expect(scene.at('move/U1/U1')).toMatchObject({ ready: true, prompt: 'it runs' });
  });

  test('a video that was not fetched is still to be fetched', async () => {
    const text = (keep: boolean): string => `
      steps:
        move: { video: { image: a.png, prompt: it runs }, keep: ${keep} }
        say: { chat: { model: m, prompt: "{{ steps.move.video_url }}" } }`;
    for (const keep of [true, false]) {
      const scene = await Scene.of(text(keep), files);
      scene.state.filmed(scene.at('move'), ['https://videos.test/1.mp4'], { artifacts: [] });
      expect(scene.at('move').status).toBe(keep ? 'saving' : 'done');
      expect(scene.at('say').ready).toBe(true);
    }
  });

  test('a button that turns out to make a video has no image to show', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: U1 → U2 }
        again: { from: grid/U1/U2, describe: { image: parent } }`);
    scene.done('grid', 'grid/U1');
    scene.state.filmed(scene.at('grid/U1/U2'), ['https://videos.test/1.mp4']);
    expect(scene.at('again/U1/U2')).toMatchObject({
      status: 'failed',
      error: { code: 'input.missing', message: 'grid/U1/U2 made no image to show.' },
    });
  });
});

describe('what is in the key', () => {
  test('images by content and in their order, not by name', async () => {
    const keys = await Promise.all([
      keyOf('{ blend: { images: [a.png, b.png] } }'),
      keyOf('{ blend: { images: [copy.png, b.png] } }'),
      keyOf('{ blend: { images: [b.png, a.png] } }'),
      keyOf('{ blend: { images: [a.png, b.png, c.png] } }'),
      keyOf('{ imagine: { prompt: x, images: [a.png, b.png] } }'),
      keyOf('{ imagine: { prompt: x, images: [b.png, a.png] } }'),
      keyOf('{ imagine: { prompt: x } }'),
      keyOf('{ imagine: { prompt: x, images: [] } }'),
      keyOf('{ imagine: x }'),
    ]);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[7]).toBe(keys[6]);
    expect(keys[8]).toBe(keys[6]);
    expect(new Set(keys).size).toBe(6);
  });

  test('the same image for another operation, an end image, a mask and its inversion', async () => {
    const keys = await Promise.all(
      [
        '{ describe: { image: a.png } }',
        '{ video: { image: a.png, motion: low } }',
        '{ video: { image: a.png, motion: low, endImage: b.png } }',
        '{ video: { image: b.png, motion: low, endImage: a.png } }',
        '{ edit: { image: a.png, prompt: x } }',
        '{ edit: { image: a.png, prompt: x, mask: mask.png } }',
        '{ edit: { image: a.png, prompt: x, mask: { file: mask.png, invert: true } } }',
        '{ edit: { image: mask.png, prompt: x, mask: a.png } }',
        '{ edit: { image: a.png, prompt: x, mask: { shapes: [{ rectangle: [0, 0, 1, 0.5] }] } } }',
      ].map(keyOf),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('files of image and mask, each once', async () => {
    const scene = await step('{ edit: { image: a.png, prompt: x, mask: mask.png } }');
    expect(scene.at('it').job).toMatchObject({
      request: { images: [{ sha256: 'sha of a' }], mask: { sha256: 'sha of mask' } },
      files: { 'sha of a': 'a.png', 'sha of mask': 'mask.png' },
    });
  });

  test('gathering one job and continuing it ask for the same', async () => {
    const grid = 'grid: { imagine: a fox, path: U1 }';
    const gathered = await Scene.of(`
      steps:
        ${grid}
        it: { gather: grid/*, imagine: like this }`);
    const continued = await Scene.of(`
      steps:
        ${grid}
        it: { from: grid/U1, imagine: { prompt: like this, images: [parent] } }`);
    expect(gathered.at('it').job).toEqual(continued.at('it/U1').job);
  });

  test.each([
    ['dimensions: PORTRAIT', 'portrait'],
    ['dimensions: "{{ shape }}"', 'portrait'],
  ])('what means the same is the same: %s', async (fields, dimensions) => {
    const scene = await Scene.of(
      `
      matrix: { shape: [" Portrait"] }
      steps:
        it: { blend: { images: [a.png, b.png], ${fields} } }`,
      files,
    );
    expect(scene.request('it')?.fields).toEqual({ dimensions });
    expect(scene.key('it')).toBe(await keyOf('{ blend: { images: [a.png, b.png], dimensions: portrait } }'));
  });

  test('numbers and switches from a table are no texts', async () => {
    const scene = await Scene.of(
      `
      matrix: { size: ["2"], loop: ["true"] }
      steps:
        it: { video: { image: a.png, motion: low, batchSize: "{{ size }}", loop: "{{ loop }}" } }`,
      files,
    );
    expect(scene.request('it')?.fields).toEqual({ motion: 'low', batchSize: 2, loop: true });
    expect(scene.key('it')).toBe(
      await keyOf('{ video: { image: a.png, motion: low, batchSize: 2, loop: true } }'),
    );
  });

  test.each([
    ['video: { image: a.png, prompt: x, motion: "{{ x }}" }'],
    ['video: { image: a.png, prompt: x, loop: "{{ x }}" }'],
    ['video: { image: a.png, prompt: x, batchSize: "{{ x }}" }'],
    ['video: { image: a.png, prompt: x, animateMode: "{{ x }}" }'],
    ['blend: { images: [a.png, b.png], dimensions: "{{ x }}" }'],
  ])('what no service takes fails its cell: %s', async (operation) => {
    const scene = await Scene.of(
      `
      matrix: { x: ["3"] }
      steps:
        it: { ${operation} }`,
      files,
    );
    expect(scene.at('it')).toMatchObject({ status: 'failed', error: { code: 'template.range' } });
    expect(scene.at('it').error?.message).toContain('"3"');
  });
});

describe('how many images', () => {
  test('slots that share a job are one image each', async () => {
    const scene = await Scene.of(`
      matrix: { favourite: [U1] }
      steps:
        grid: { imagine: a fox, path: "U1,{{ favourite }}" }
        it: { gather: grid/*, blend: {} }`);
    const job = scene.key('grid/U1');
    expect(scene.request('it')).toMatchObject({ images: [{ job }, { job }] });
  });

  test.each([
    [1, 'failed'],
    [2, 'pending'],
    [5, 'pending'],
    [6, 'failed'],
  ])('of a wildcard that finds %i, before what it finds is paid', async (count, status) => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U*" }
        it: { gather: grid/*, blend: {} }`);
    expect(scene.at('it').status).toBe('pending');
    const buttons = Array.from({ length: count }, (_, at) => button(`U${at + 1}`));
    scene.state.done(scene.at('grid'), buttons);
    expect(scene.at('it').status).toBe(status);
    const images = count === 1 ? 'there is 1 image' : `there are ${count} images`;
    expect(scene.at('it').error).toEqual(
      status === 'failed'
        ? { code: 'blend.count', message: `For this cell ${images} to blend; a blend takes 2 to 5.` }
        : undefined,
    );
  });

  test('of what may be skipped, when it is known', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1,U9?" }
        it: { gather: grid/*, blend: {} }`);
    expect(scene.at('it')).toMatchObject({ status: 'pending' });
    scene.done('grid', 'grid/U1');
    scene.state.fail(scene.at('grid/U9'), 'button.missing');
    expect(scene.at('it')).toMatchObject({ status: 'failed', error: { code: 'blend.count' } });
  });

  const drawn = `
    steps:
      draw: { generate: { model: m, prompt: two foxes, generationConfig: { responseModalities: [TEXT, IMAGE] } } }
      both: { from: draw, blend: { images: [parent, a.png] } }
      say: { from: draw, describe: { image: parent } }`;
  const images = (
    count: number,
  ): { artifacts: { output: number; file: string; bytes: number; sha256: string; mime: string }[] } => ({
    artifacts: Array.from({ length: Math.max(1, count) }, (_, at) => ({
      output: at + 1,
      file: count === 0 ? 'text/x-1.txt' : `images/x-${at + 1}.png`,
      bytes: 1,
      sha256: 'x',
      mime: count === 0 ? 'text/plain' : 'image/png',
    })),
  });

  test.each([
    [1, 'both pending!', 'say pending!'],
    [4, 'both pending!', 'say failed'],
    [5, 'both failed', 'say failed'],
    [0, 'both failed', 'say failed'],
  ])('of a text job that made %i, by what it made', async (count, both, say) => {
    const scene = await Scene.of(drawn, files);
    expect(scene.lines()).toEqual(['draw pending!', 'both pending', 'say pending']);
    scene.state.answer(scene.at('draw'), 'here', false, images(count));
    expect(scene.lines()).toEqual(['draw done', both, say]);
    const { error, job } = scene.at('both');
    expect(job).toBeDefined();
    expect(error?.code).toBe(both.endsWith('!') ? undefined : count === 0 ? 'input.missing' : 'blend.count');
    const wanted = say.endsWith('!') ? undefined : count === 0 ? 'input.missing' : 'image.count';
    expect(scene.at('say').error?.code).toBe(wanted);
  });

  test('what was made stands, whatever becomes of what it was made of', async () => {
    const scene = await Scene.of(drawn, files);
    scene.state.answer(scene.at('draw'), 'here', false, images(2));
    scene.done('both');
    scene.state.answer(scene.at('draw'), 'here', false, images(9));
    expect(scene.at('both').status).toBe('done');
  });
});

describe('what they need', () => {
  const text = `
    steps:
      other: { imagine: an owl }
      grid: { imagine: a fox, path: "U1..U2" }
      frame: { imagine: a frame }
      it: { from: grid/U1, edit: { image: steps.frame, prompt: a hat } }
      both: { blend: { images: [steps.it, steps.frame] }, when: '1 == 2' }`;

  test('--only chooses it, and no more', async () => {
    const { plan } = await Scene.of(text);
    const chosen = chosenSteps(plan, ['it']);
    expect(chosen.ok ? [...chosen.value.steps] : []).toEqual(['grid', 'frame', 'it']);
    expect(chosen.ok ? chosen.value.places.size : 0).toBe(4);
  });

  test('one that is skipped, fails or is open decides', async () => {
    const scene = await Scene.of(text);
    expect(scene.at('both').status).toBe('skipped');
    scene.done('grid', 'grid/U1');
    expect(scene.at('it/U1').ready).toBe(false);
    scene.state.fail(scene.at('frame'));
    expect(scene.at('it/U1')).toMatchObject({
      status: 'blocked',
      error: { message: 'blocked by frame: task.failed' },
    });
  });

  test('its prices stand under its kind; its slots are counted like any other', async () => {
    const { plan } = await Scene.of(
      `
      prices: { imagine: 1, blend: 2, describe: 4, video: 8, edit: 16 }
      matrix: { n: [1, 2] }
      steps:
        grid: { imagine: "fox {{ n }}", path: "U1" }
        mix: { blend: { images: [a.png, steps.grid] } }
        say: { from: grid, describe: { image: parent } }
        move: { from: grid, video: { image: parent, motion: low } }
        hat: { from: grid, edit: { image: parent, prompt: a hat } }
        wrong: { from: grid, edit: { image: none.png, prompt: a hat, mask: { shapes: [{ ellipse: [0, 0, 1, 1] }] } } }`.replace(
        'none.png',
        '"{{ n }}.png"',
      ),
      files,
    );
    for (const mostSlots of [1000, 1]) {
      const { total, steps } = await estimatePlan(plan, {}, undefined, { mostSlots });
      expect(steps.slice(0, 5).map(({ cost }) => cost)).toEqual([2, 4, 8, 16, 32]);
      expect(total.invalid).toBe(mostSlots === 1 ? 0 : 2);
    }
  });

  test('a whole cell comes to its end', async () => {
    const scene = await Scene.of(text.replace("when: '1 == 2'", 'keep: true').replace('from: grid/U1, ', ''));
    scene.done('other', 'grid', 'grid/U1', 'grid/U2', 'frame', 'it', 'both');
    expect(
      scene
        .slots()
        .map(line)
        .every((text) => text.endsWith(' done')),
    ).toBe(true);
  });
});
