import { describe, expect, test } from 'vitest';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import { framesOf } from '../../rig/frames.ts';
import { Scene } from '../scene.ts';

const whole = {
  output: 1,
  file: 'images/x.png',
  bytes: 1,
  sha256: 'x',
  mime: 'image/png',
  width: 8,
  height: 8,
};
const caption = (from: string, prompt = 'Caption it.'): string =>
  `{ from: "${from}", generate: { model: m, images: [parent], prompt: "${prompt}" } }`;

/** A scene whose grid is done and cut. */
const cutScene = async (steps: string): Promise<Scene> => {
  const scene = await Scene.of(steps);
  scene.doneWith('grid', { artifacts: [whole], frames: { files: framesOf('g', whole) } });
  return scene;
};

const imagesAt = (scene: Scene, name: string): unknown => scene.at(name).job?.request.images;

describe('the frames of a grid that is cut', () => {
  const steps = `
    steps:
      grid: { imagine: a fox, grid: split, keep: false }
      cap: ${caption('grid/#*')}
      blind: { from: grid/#*, chat: { model: m, prompt: Say hi. } }
      numbered: { from: grid/#*, chat: { model: m, prompt: "Say {{ frame }}." } }
      after: { from: cap, chat: { model: m, prompt: "Frame {{ frame }}: {{ steps.cap.text }}" } }
      up: { from: "grid/#2", click: U }
      plain: { from: grid, click: U2 }
      mix: { gather: grid/#*, blend: { dimensions: square } }`;

  test('have a slot of each step that starts from them, and none of their own', async () => {
    const scene = await Scene.of(steps);
    expect(scene.plan.slotsPerCell).toBe(20);
    expect(scene.lines()).toEqual([
      'grid pending!',
      ...['cap', 'blind', 'numbered', 'after'].flatMap((step) =>
        [1, 2, 3, 4].map((frame) => `${step}/#${frame} pending`),
      ),
      'up/#2/U pending',
      'plain/U2 pending',
      'mix pending',
    ]);
    expect(scene.plan.hasWildcards).toBe(false);
    expect(scene.at('grid').keep).toBe(true);
  });

  test('wait for the cut, except for presses', async () => {
    const scene = await Scene.of(steps);
    scene.doneWith('grid', { artifacts: [whole] });
    expect(scene.at('grid')).toMatchObject({ status: 'saving', uncut: true });
    expect(scene.lines().filter((line) => line.endsWith('!'))).toEqual([
      'up/#2/U pending!',
      'plain/U2 pending!',
    ]);
    expect(scene.at('cap/#1').job).toBeUndefined();
  });

  test('are shown by their output number, and their buttons are those of the grid', async () => {
    const scene = await cutScene(steps);
    const grid = scene.key('grid');
    expect([1, 2, 3, 4].map((frame) => imagesAt(scene, `cap/#${frame}`))).toEqual(
      [2, 3, 4, 5].map((output) => [{ job: grid, output }]),
    );
    expect(imagesAt(scene, 'mix')).toEqual([2, 3, 4, 5].map((output) => ({ job: grid, output })));
    expect(scene.at('mix').job?.inputs).toEqual([grid, grid, grid, grid]);
    expect(scene.key('up/#2/U')).toBe(scene.key('plain/U2'));
    expect(scene.lines().every((line) => !line.endsWith('pending') || line.startsWith('after'))).toBe(true);
  });

  test('make one job where the request neither shows nor numbers them', async () => {
    const scene = await cutScene(steps);
    const keys = (step: string): Set<string> => new Set([1, 2, 3, 4].map((n) => scene.key(`${step}/#${n}`)));
    expect([keys('blind').size, keys('numbered').size, keys('cap').size]).toEqual([1, 4, 4]);
  });

  test('are seen as frame by what follows from them', async () => {
    const scene = await cutScene(steps);
    scene.state.reply(scene.at('cap/#3'), 'an owl');
    expect(scene.at('after/#3').prompt).toBe('Frame 3: an owl');
    expect(scene.at('numbered/#4').prompt).toBe('Say 4.');
  });

  test('need their grid, and no other place, where --only names what starts from them', async () => {
    const { plan } = await Scene.of(steps);
    const chosen = chosenSteps(plan, ['up']);
    expect(chosen.ok && [...chosen.value.steps]).toEqual(['grid', 'up']);
    expect([...(plan.slotGraph.templates.find(({ step }) => step.name === 'up')?.needs ?? [])]).toEqual([0]);
  });
});

describe('outputs in a path', () => {
  test('are passed over: only what is pressed below them has slots', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, grid: split, path: "#1..#2 → U → Upscale (Subtle)" }
        all: { from: grid/**, click: Zoom Out 2x }
        some: { from: grid/#*/U, click: Zoom Out 2x }
        one: { from: "grid/#2/U", click: Zoom Out 2x }
        same: { imagine: a fox, path: U1 }`);
    expect(scene.lines()).toEqual([
      'grid pending!',
      'grid/#1/U pending',
      'grid/#1/U/Upscale (Subtle) pending',
      'grid/#2/U pending',
      'grid/#2/U/Upscale (Subtle) pending',
      'all/#1/U/Upscale (Subtle)/Zoom Out 2x pending',
      'all/#2/U/Upscale (Subtle)/Zoom Out 2x pending',
      'some/#1/U/Zoom Out 2x pending',
      'some/#2/U/Zoom Out 2x pending',
      'one/#2/U/Zoom Out 2x pending',
      'same pending!',
      'same/U1 pending',
    ]);
    expect(scene.key('grid/#1/U')).toBe(scene.key('same/U1'));
    expect(scene.key('one/#2/U/Zoom Out 2x')).toBe(scene.key('some/#2/U/Zoom Out 2x'));
  });

  test('may be numbered by a variable', async () => {
    const scene = await cutScene(`
      matrix: { n: [3] }
      steps:
        grid: { imagine: a fox, grid: split, path: "#{{ n }} → V" }
        cap: ${caption('grid/#{{ n }}')}`);
    expect(scene.lines()).toEqual(['grid done', 'grid/#3/V pending!', 'cap/#3 pending!']);
    expect(scene.request('grid/#3/V')).toMatchObject({ press: [{ text: 'V3' }] });
  });
});

describe('an output that a result names', () => {
  const steps = `
    steps:
      grid: { imagine: a fox, grid: split }
      judge: { from: grid, chat: { model: m, prompt: Which?, response_format: { type: json_object } } }
      best: { from: "grid/#{{ steps.judge.json.best }}", click: U }
      cap: ${caption('grid/#{{ steps.judge.json.best }}', '{{ frame }}: {{ steps.each.text }}')}
      each: ${caption('grid/#*')}`;

  test('is one slot, which waits for the result', async () => {
    const scene = await cutScene(steps);
    expect(scene.lines().filter((line) => /^(best|cap)/.test(line))).toEqual([
      'best/#{{ steps.judge.json.best }}/U pending',
      'cap/#{{ steps.judge.json.best }} pending',
    ]);
    const needs = scene.at('best/#{{ steps.judge.json.best }}/U').needs ?? [];
    expect([...needs]).toEqual([0, 'judge']);
    scene.state.reply(scene.at('judge'), '{"best": 3}', true);
    scene.state.reply(scene.at('each/#3'), 'an owl');
    expect(scene.request('best/#3/U')).toMatchObject({ press: [{ text: 'U3' }] });
    expect(scene.at('cap/#3')).toMatchObject({ prompt: '3: an owl', ready: true });
  });

  test.each([
    ['no whole number', '{"best": 1.5}', 'output.number'],
    ['a word', '{"best": "left"}', 'output.number'],
    ['zero', '{"best": 0}', 'output.number'],
    ['nothing', '{}', 'template.undefined'],
  ])('that is %s fails what starts from it', async (_, reply, code) => {
    const scene = await cutScene(steps);
    scene.state.reply(scene.at('judge'), reply, true);
    for (const step of ['best', 'cap']) {
      const slot = scene.slots().find((one) => one.step === step);
      expect(slot).toMatchObject({ status: 'failed', error: { code } });
      expect(slot?.job).toBeUndefined();
    }
  });

  test('that is not there fails what needs its file', async () => {
    const scene = await cutScene(steps);
    scene.state.reply(scene.at('judge'), '{"best": 9}', true);
    expect(scene.at('cap/#9')).toMatchObject({
      status: 'failed',
      error: { code: 'output.missing', message: 'grid has no output #9; it has #1, #2, #3, #4.' },
    });
  });

  test('is skipped with the step that would name it', async () => {
    const scene = await cutScene(
      steps.replace('Which?,', 'Which?,').replace('judge: { from', 'judge: { when: "1 == 2", from'),
    );
    expect(scene.slots().find(({ step }) => step === 'best')).toMatchObject({ status: 'skipped' });
  });
});

describe('a grid that was not cut', () => {
  test('fails what needs a frame, and no press', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, grid: split }
        cap: ${caption('grid/#1')}
        up: { from: "grid/#1", click: U }`);
    scene.doneWith('grid', { artifacts: [{ ...whole, width: 7 }] });
    expect(scene.at('cap/#1')).toMatchObject({ status: 'failed', error: { code: 'output.not-cut' } });
    expect(scene.lines()).toContain('up/#1/U pending!');
  });

  test('has the outputs of its task where that made several images', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, grid: split }
        cap: ${caption('grid/#*')}`);
    scene.doneWith('grid', { artifacts: [whole, { ...whole, output: 2 }] });
    expect(imagesAt(scene, 'cap/#2')).toEqual([{ job: scene.key('grid'), output: 2 }]);
    expect(scene.at('cap/#3')).toMatchObject({ status: 'failed', error: { code: 'output.missing' } });
  });
});

describe('the outputs of what is no grid', () => {
  const steps = `
    steps:
      film: { video: { image: "https://x.test/a.png", prompt: p } }
      longer: { from: film/#*, click: U }
      one: { from: "film/#2", click: U }
      tell: { from: "film/#2", chat: { model: m, prompt: "Video {{ frame }}" } }`;

  test('are counted once their job is done', async () => {
    const scene = await Scene.of(steps);
    expect(scene.lines()).toEqual([
      'film pending!',
      'longer/#*/U pending',
      'one/#2/U pending',
      'tell/#2 pending',
    ]);
    expect(scene.plan.hasWildcards).toBe(true);
    const video = { ...whole, mime: 'video/mp4' };
    scene.doneWith('film', { artifacts: [video, { ...video, output: 2 }] });
    expect(scene.lines()).toEqual([
      'film done',
      'longer/#1/U pending!',
      'longer/#2/U pending!',
      'one/#2/U pending!',
      'tell/#2 pending!',
    ]);
    expect(scene.key('one/#2/U')).toBe(scene.key('longer/#2/U'));
  });

  test('an image of a reply has its output number', async () => {
    const scene = await Scene.of(`
      steps:
        draw: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [TEXT, IMAGE] } } }
        cap: ${caption('draw/#2')}
        text: ${caption('draw/#1')}`);
    scene.state.reply(scene.at('draw'), 'here', false, { artifacts: [{ ...whole, output: 2 }] });
    expect(imagesAt(scene, 'cap/#2')).toEqual([{ job: scene.key('draw'), output: 2 }]);
    expect(scene.at('text/#1').error?.code).toBe('output.missing');
  });
});

test('a redo of the grid makes what shows a frame anew, and keeps its key until then', async () => {
  const scene = await cutScene(`
    steps:
      grid: { imagine: a fox, grid: split }
      cap: ${caption('grid/#2')}`);
  const key = scene.key('cap/#2');
  scene.state.reply(scene.at('cap/#2'), 'a fox');
  scene.state.put(scene.at('grid'), 'running', {
    artifacts: [whole],
    frames: { files: framesOf('g', whole) },
    former: { resubmits: 0, taskId: 'T1', result: { buttons: [] } },
  });
  expect(scene.at('cap/#2')).toMatchObject({ status: 'done', waitsForRedo: true, job: { key } });
});

describe('steps that name the same output', () => {
  const judged = `judge: { from: grid, chat: { model: m, prompt: Which?, response_format: { type: json_object } } }`;
  const naming = [
    caption('grid/#3', '{{ frame }}'),
    caption('grid/#*'),
    '{ from: "grid/#{{ steps.judge.json.best }}", click: U }',
    '{ gather: grid/#*, blend: { dimensions: square } }',
    '{ from: grid/#2, click: V }',
  ].map((step, index) => `s${index}: ${step}`);
  const orders = naming.flatMap((_, at) => {
    const turned = [...naming.slice(at), ...naming.slice(0, at)];
    return [turned, turned.toReversed()];
  });

  /** Slots and keys by step, in the manifest's order within each; with the verdict given, and while it is made anew. */
  const seen = async (steps: readonly string[]): Promise<unknown> => {
    const scene = await cutScene(`
    steps:
      grid: { imagine: a fox, grid: split }
      ${[judged, ...steps].join('\n      ')}`);
    const state = (): unknown =>
      scene
        .slots()
        .map(({ step, branch, status, ready, job }) => [step, branch, status, ready, job?.key] as const)
        .toSorted(([a], [b]) => a.localeCompare(b));
    scene.state.reply(scene.at('judge'), '{"best": 2}', true);
    const given = state();
    const { text } = scene.at('judge').record ?? {};
    if (text === undefined) throw new Error('The judge has no reply.');
    scene.state.put(scene.at('judge'), 'running', { text, former: { resubmits: 0, text } });
    return [given, state()];
  };

  test('have the same jobs, and wait for the same, in whatever order they stand', async () => {
    const [first, ...others] = await Promise.all(orders.map(seen));
    for (const other of others) expect(other).toEqual(first);
  });

  test.each([[], ['two: { from: grid/#2, click: V }']])(
    'press it only on the verdict as it is now, beside %j',
    async (...others) => {
      const [given, remade] = (await seen([...others, naming[2] as string])) as [unknown[][], unknown[][]];
      const pressed = (slots: unknown[][]): unknown => slots.find(([step]) => step === 's2')?.[3];
      expect([pressed(given), pressed(remade)]).toEqual([true, false]);
    },
  );
});

describe('the outputs of a grid that is pressed anew', () => {
  const steps = `
    steps:
      grid: { imagine: a fox }
      again: { from: grid, click: reroll, grid: split, keep: false }
      up: { from: "again/#*", click: U }
      cap: { from: "again/#*", chat: { model: m, prompt: "Frame {{ frame }}" } }
      one: { from: "again/#1", click: U }`;

  test('are kept to be counted, and number nothing before', async () => {
    const scene = await Scene.of(steps);
    expect(scene.lines().filter((line) => /failed/.test(line))).toEqual([]);
    scene.done('grid');
    expect(scene.at('again/reroll').keep).toBe(true);
    const pressed = await Scene.of(steps.replace(/(up|cap): .*/g, ''));
    pressed.done('grid');
    expect(pressed.at('again/reroll').keep).toBe(false);
  });

  test('whose download failed are not waited for, except by number', async () => {
    const scene = await Scene.of(steps);
    scene.done('grid');
    scene.state.put(scene.at('again/reroll'), 'failed', {
      result: { buttons: [] },
      taskId: 'T2',
      error: { code: 'download.status', message: 'no' },
    });
    expect(scene.lines()).toEqual([
      'grid done',
      'again/reroll failed',
      'up/reroll/#*/U blocked',
      'cap/reroll/#* blocked',
      'one/reroll/#1/U pending!',
    ]);
  });
});

test('the words of a reply are none of its outputs', async () => {
  const scene = await Scene.of(`
    steps:
      draw: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [TEXT, IMAGE] } } }
      cap: ${caption('draw/#*')}`);
  const words = { output: 1, file: 'a.txt', bytes: 1, sha256: 'x', mime: 'text/plain' };
  scene.state.reply(scene.at('draw'), 'here', false, { artifacts: [words, { ...whole, output: 2 }] });
  expect(scene.lines()).toEqual(['draw done', 'cap/#2 pending!']);
});
