import { describe, expect, test } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { cellsOf } from '../../rig/pipeline-builder.ts';
import { filesOf } from '../scene.ts';
import { TextScene } from './text-rig.ts';

const files = filesOf({ '1.png': 'one', '2.png': 'two', 'a.png': 'a' });

/** The two cells of one plan, which share all that the plan keeps. */
async function twoCells(steps: string): Promise<readonly [TextScene, TextScene]> {
  const first = await TextScene.of(
    `\n      matrix: { n: [1, 2] }\n      steps:\n        ${steps.replaceAll('\n', '\n        ')}`,
    files,
  );
  return [first, new TextScene(first.plan, (await cellsOf(first.plan))[1] as Cell)];
}

/** The request of the slot `it`, whatever the branch is called. */
const requestOf = (scene: TextScene) => scene.slots().find(({ step }) => step === 'it')?.job?.request;

describe('a request belongs to its own cell, whichever part of it varies', () => {
  test.each<readonly [string, string, object, object]>([
    [
      'the prompt of an imagine',
      'it: { imagine: "{{ n }}" }',
      { fields: { prompt: '1' } },
      { fields: { prompt: '2' } },
    ],
    [
      'extra of an imagine alone',
      'it: { imagine: a, extra: { n: "{{ n }}" } }',
      { extra: { n: 1 } },
      { extra: { n: 2 } },
    ],
    [
      'the images of an imagine alone',
      'it: { imagine: { prompt: a, images: ["{{ n }}.png"] } }',
      { images: [{ sha256: 'sha of one' }] },
      { images: [{ sha256: 'sha of two' }] },
    ],
    [
      'the mask of an edit alone',
      'it: { edit: { image: a.png, prompt: a, mask: "{{ n }}.png" } }',
      { mask: { sha256: 'sha of one' } },
      { mask: { sha256: 'sha of two' } },
    ],
    [
      'extra of a text call alone',
      'it: { generate: { model: m, prompt: a }, extra: { n: "{{ n }}" } }',
      { extra: { n: 1 } },
      { extra: { n: 2 } },
    ],
    [
      'the images of a text call alone',
      'it: { chat: { model: m, prompt: a, images: ["{{ n }}.png"] } }',
      { images: [{ sha256: 'sha of one' }] },
      { images: [{ sha256: 'sha of two' }] },
    ],
    [
      'the label of a button alone',
      'g: { imagine: a }\nit: { from: g, click: "U{{ n }}" }',
      { press: [{ text: 'U1' }] },
      { press: [{ text: 'U2' }] },
    ],
    [
      'extra of a click alone',
      'g: { imagine: a }\nit: { from: g, click: U1, extra: { n: "{{ n }}" } }',
      { extra: { n: 1 } },
      { extra: { n: 2 } },
    ],
    [
      'the mask of a click alone',
      'g: { imagine: a }\nit: { from: g, click: Vary (Region), prompt: a, mask: "{{ n }}.png" }',
      { mask: { sha256: 'sha of one' } },
      { mask: { sha256: 'sha of two' } },
    ],
    [
      'the prompt above a remix alone',
      'g: { imagine: "{{ n }}" }\nit: { from: g, click: V1, remix: true }',
      { fields: { prompt: '1' } },
      { fields: { prompt: '2' } },
    ],
  ])('%s', async (_, steps, one, two) => {
    const [first, second] = await twoCells(steps);
    expect(requestOf(first)).toMatchObject(one);
    expect(requestOf(second)).toMatchObject(two);
    expect(requestOf(first)).toMatchObject(one);
  });

  test.each<readonly [string, string, (reply: string) => object]>([
    ['a prompt', 'it: { imagine: "{{ steps.say.text }}" }', (reply) => ({ fields: { prompt: reply } })],
    [
      'extra of an imagine',
      'it: { imagine: a, extra: { x: "{{ steps.say.text }}" } }',
      (x) => ({ extra: { x } }),
    ],
    [
      'the images of an imagine',
      'it: { imagine: { prompt: a, images: ["{{ steps.say.text }}.png"] } }',
      (n) => ({ images: [{ sha256: `sha of ${n === '1' ? 'one' : 'two'}` }] }),
    ],
    [
      'the mask of an edit',
      'it: { edit: { image: a.png, prompt: a, mask: "{{ steps.say.text }}.png" } }',
      (n) => ({ mask: { sha256: `sha of ${n === '1' ? 'one' : 'two'}` } }),
    ],
    [
      'a text prompt',
      'it: { chat: { model: m, prompt: "{{ steps.say.text }}" } }',
      (prompt) => ({ fields: { prompt } }),
    ],
    [
      'extra of a text call',
      'it: { chat: { model: m, prompt: a }, extra: { x: "{{ steps.say.text }}" } }',
      (x) => ({ extra: { x } }),
    ],
    [
      'the images of a text call',
      'it: { chat: { model: m, prompt: a, images: ["{{ steps.say.text }}.png"] } }',
      (n) => ({ images: [{ sha256: `sha of ${n === '1' ? 'one' : 'two'}` }] }),
    ],
    [
      'the label of a button',
      'g: { imagine: a }\nit: { from: g, click: "U{{ steps.say.text }}" }',
      (n) => ({ press: [{ text: `U${n}` }] }),
    ],
    [
      'extra of a click',
      'g: { imagine: a }\nit: { from: g, click: U1, extra: { x: "{{ steps.say.text }}" } }',
      (x) => ({ extra: { x } }),
    ],
    [
      'the mask of a click',
      'g: { imagine: a }\nit: { from: g, click: Vary (Region), prompt: a, mask: "{{ steps.say.text }}.png" }',
      (n) => ({ mask: { sha256: `sha of ${n === '1' ? 'one' : 'two'}` } }),
    ],
  ])('and waits for the result that it reads: %s', async (_, steps, wanted) => {
    const cells = await twoCells(`say: { generate: { model: m, prompt: "say {{ n }}" } }\n${steps}`);
    for (const scene of cells) expect(requestOf(scene)).toBeUndefined();
    for (const [at, scene] of cells.entries()) scene.reply('say', String(at + 1));
    for (const [at, scene] of cells.entries()) expect(requestOf(scene)).toMatchObject(wanted(String(at + 1)));
  });
});

test('members of extra keep their types, even with the names of fields', async () => {
  const extra = '{ batchSize: 3, motion: Wild, loop: yes, prompt: 7, model: 5 }';
  const sent = { batchSize: 3, motion: 'Wild', loop: 'yes', prompt: 7, model: 5 };
  for (const operation of ['imagine: a', 'chat: { model: m, prompt: a }']) {
    const [scene] = await twoCells(`it: { ${operation}, extra: ${extra} }`);
    expect(requestOf(scene)?.extra).toEqual(sent);
  }
  const [click] = await twoCells(`g: { imagine: a }\nit: { from: g, click: U1, extra: ${extra} }`);
  expect(requestOf(click)?.extra).toEqual(sent);
});

test('every accepted finish reason is kept, in the order of the file', async () => {
  const [scene] = await twoCells('it: { generate: { model: m, prompt: a, accept: [MAX_TOKENS, SAFETY] } }');
  expect(scene.at('it').job?.call).toEqual({ stream: false, accept: ['MAX_TOKENS', 'SAFETY'] });
});

describe('the prompt of a slot is shown', () => {
  test.each([
    [
      'an edit whose image is not there',
      'it: { edit: { image: "{{ n }}0.png", prompt: a hat } }',
      'input.missing',
    ],
    [
      'an edit whose mask is not there',
      'it: { edit: { image: a.png, prompt: a hat, mask: "{{ n }}0.png" } }',
      'input.missing',
    ],
    [
      'a click whose mask is not there',
      'g: { imagine: a }\nit: { from: g, click: Vary (Region), prompt: a hat, mask: "{{ n }}0.png" }',
      'input.missing',
    ],
  ])('for %s, which has no job', async (_, steps, code) => {
    const [scene] = await twoCells(steps);
    const slot = scene.slots().at(-1);
    expect(slot).toMatchObject({ status: 'failed', prompt: 'a hat', error: { code } });
    expect(slot).not.toHaveProperty('job');
  });

  test.each([
    ['an imagine', 'it: { imagine: { prompt: a hat, images: [steps.late] } }'],
    ['an edit', 'it: { edit: { image: steps.late, prompt: a hat } }'],
    ['a text call', 'it: { chat: { model: m, prompt: a hat, images: [steps.late] } }'],
    ['a text call that continues', 'it: { generate: { model: m, prompt: a hat, continue: late } }'],
  ])('for %s that waits for the key of another job', async (_, step) => {
    const late = step.includes('continue')
      ? 'late: { generate: { model: m, prompt: "{{ steps.say.text }}" } }'
      : 'late: { imagine: "{{ steps.say.text }}" }';
    const [scene] = await twoCells(`say: { generate: { model: m, prompt: say } }\n${late}\n${step}`);
    expect(scene.at('it')).toMatchObject({ status: 'pending', prompt: 'a hat' });
    expect(scene.at('it')).not.toHaveProperty('job');
  });
});

test('a text step in native form below an image has its own prompt, even an empty one', async () => {
  const [scene] = await twoCells(`g: { imagine: a fox }
it: { from: g, generate: { model: m, contents: [{ role: user, parts: [{ inlineData: { mimeType: image/png, data: AAAA } }] }] } }`);
  expect(scene.at('g').prompt).toBe('a fox');
  expect(scene.at('it')).not.toHaveProperty('prompt');
});

test('a video of an image may have only parameters as its prompt', async () => {
  const [scene] = await twoCells('it: { video: { image: a.png, prompt: "--raw {{ n }}" } }');
  expect(scene.at('it')).toMatchObject({ status: 'pending', ready: true });
});
