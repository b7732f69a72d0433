import { describe, expect, test } from 'vitest';
import { Scene } from '../scene.ts';
import { button } from '../simulated-state.ts';
import { files, step } from './entry-rig.ts';

const keyOf = async (body: string): Promise<string> => (await step(body)).key('it');

describe('the key', () => {
  test('includes images by content and order, not by name', async () => {
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

  test('differs for another operation, an end image, a mask and its inversion', async () => {
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

  test('comes with the files of image and mask, each once', async () => {
    const scene = await step('{ edit: { image: a.png, prompt: x, mask: mask.png } }');
    expect(scene.at('it').job).toMatchObject({
      request: { images: [{ sha256: 'sha of a' }], mask: { sha256: 'sha of mask' } },
      files: { 'sha of a': 'a.png', 'sha of mask': 'mask.png' },
    });
  });

  test('is the same for gathering one job and continuing it', async () => {
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
  ])('is the same for fields with the same meaning: %s', async (fields, dimensions) => {
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

  test('has numbers and booleans from a table, not their texts', async () => {
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
  ])('is missing in a cell with a value that no service accepts: %s', async (operation) => {
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

describe('the number of images', () => {
  test('counts one image for each slot, even if slots share a job', async () => {
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
  ])('is checked for a wildcard that finds %i, before these are paid', async (count, status) => {
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

  test('is checked for slots that may be skipped, once that is known', async () => {
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
  ])('is checked for a text job that made %i, by its result', async (count, both, say) => {
    const scene = await Scene.of(drawn, files);
    expect(scene.lines()).toEqual(['draw pending!', 'both pending', 'say pending']);
    scene.state.reply(scene.at('draw'), 'here', false, images(count));
    expect(scene.lines()).toEqual(['draw done', both, say]);
    const { error, job } = scene.at('both');
    expect(job).toBeDefined();
    expect(error?.code).toBe(both.endsWith('!') ? undefined : count === 0 ? 'input.missing' : 'blend.count');
    const wanted = say.endsWith('!') ? undefined : count === 0 ? 'input.missing' : 'image.count';
    expect(scene.at('say').error?.code).toBe(wanted);
  });

  test('does not affect a finished result, whatever happens to its inputs', async () => {
    const scene = await Scene.of(drawn, files);
    scene.state.reply(scene.at('draw'), 'here', false, images(2));
    scene.done('both');
    scene.state.reply(scene.at('draw'), 'here', false, images(9));
    expect(scene.at('both').status).toBe('done');
  });
});

test.each([
  'imagine: { prompt: a }',
  'describe: { image: "https://x.test/a.png" }',
  'generate: { model: m, prompt: p }',
  'chat: { model: m, prompt: p }',
])('an empty `extra` of %s does not change the key', async (operation) => {
  const keyOf = async (extra: string): Promise<string | undefined> =>
    (await Scene.of(`{ steps: { s: { ${operation}${extra} } } }`)).at('s').job?.key;
  expect(await keyOf(', extra: {}')).toBe(await keyOf(''));
  expect(await keyOf(', extra: { a: 1 }')).not.toBe(await keyOf(''));
});
