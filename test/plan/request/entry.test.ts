import { describe, expect, test } from 'vitest';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import { Scene } from '../scene.ts';
import { line } from '../simulated-state.ts';
import { files } from './entry-rig.ts';

describe('an album of remixes', () => {
  const album = `
    steps:
      words: { describe: { image: a.png, language: en } }
      one: { imagine: { prompt: "{{ steps.words.prompts[0] }} --v 6.1", images: [a.png] }, path: "U1..U2" }
      best: { gather: one/*, blend: { dimensions: SQUARE } }
      note: { generate: { model: m, prompt: "{{ steps.words.text }}" } }`;

  test('works end to end', async () => {
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

  test('fails only the slot that reads a missing suggestion', async () => {
    const scene = await Scene.of(album.replace('prompts[0]', 'prompts[3]'), files);
    scene.state.described(scene.at('words'), ['a red fox']);
    expect(scene.at('one')).toMatchObject({ status: 'failed', error: { code: 'template.undefined' } });
    expect(scene.at('best').status).toBe('blocked');
    expect(scene.at('note').ready).toBe(true);
  });

  test('finishes a describe without files, because its record has the prompts', async () => {
    const scene = await Scene.of(album, files);
    scene.state.described(scene.at('words'), ['one'], { artifacts: [] });
    expect(scene.at('words').status).toBe('done');
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

  test('works end to end', async () => {
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

  test('still downloads a video that was not downloaded', async () => {
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

  test('has no image to show for a button that turns out to make a video', async () => {
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

describe('needed steps', () => {
  const text = `
    steps:
      other: { imagine: an owl }
      grid: { imagine: a fox, path: "U1..U2" }
      frame: { imagine: a frame }
      it: { from: grid/U1, edit: { image: steps.frame, prompt: a hat } }
      both: { blend: { images: [steps.it, steps.frame] }, when: '1 == 2' }`;

  test('are chosen by --only, and no others', async () => {
    const { plan } = await Scene.of(text);
    const chosen = chosenSteps(plan, ['it']);
    expect(chosen.ok ? [...chosen.value.steps] : []).toEqual(['grid', 'frame', 'it']);
    expect(chosen.ok ? chosen.value.places.size : 0).toBe(4);
  });

  test('decide by being skipped, failed or open', async () => {
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

  test('have prices under their kind, and slots that are counted like any other', async () => {
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
    for (const maxSlots of [1000, 1]) {
      const { total, steps } = await estimatePlan(plan, {}, undefined, { maxSlots });
      expect(steps.slice(0, 5).map(({ cost }) => cost)).toEqual([2, 4, 8, 16, 32]);
      expect(total.invalid).toBe(maxSlots === 1 ? 0 : 2);
    }
  });

  test('are enough to finish a whole cell', async () => {
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
