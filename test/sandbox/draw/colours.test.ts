import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { coloursNamed } from '../../../src/sandbox/draw/canvas/colour.ts';
import type { Drawing, Frame } from '../../../src/sandbox/draw/canvas/drawing.ts';
import { themeOf } from '../../../src/sandbox/draw/canvas/theme.ts';
import {
  frameAt,
  imagineDrawing,
  repaintDrawing,
  rewordedDrawing,
  strongDrawing,
} from '../../../src/sandbox/draw/lineage.ts';
import { drawPicture } from '../../../src/sandbox/draw/picture.ts';
import { composeScene } from '../../../src/sandbox/draw/scene/compose.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';
import { describedPrompts } from '../../../src/sandbox/tasks/desks/describing.ts';

const grid = (prompt: string): Drawing => imagineDrawing(parsePrompt(prompt));

/** One frame's scene with other words and everything else as it is. */
const sceneOf = (frame: Frame, text: string) => composeScene({ ...frame, text });

/** Share of pixels that are clearly more blue than red. */
async function blueness(drawing: Drawing, masks: (sha256: string) => Buffer = () => Buffer.alloc(0)) {
  const png = await drawPicture(drawing, 128, masks);
  const data = await sharp(png).removeAlpha().raw().toBuffer();
  let blue = 0;
  for (let at = 0; at < data.length; at += 3) {
    if ((data[at + 2] ?? 0) > (data[at] ?? 0) + 70 && (data[at + 2] ?? 0) > (data[at + 1] ?? 0) + 40)
      blue += 1;
  }
  return blue / (data.length / 3);
}

describe('the colour of a subject', () => {
  test.each([
    ['a blue fox in the snow', 'blue'],
    ['portrait of a Blue  Fox', 'blue'],
    ['a blue arctic fox', 'blue'],
    ['two red baby owls', 'red'],
    ['a bluish-grey cat', 'grey'],
    ['a reddish wolf', undefined],
    ['a green lighthouse', 'green'],
    ['a fox with blue fur', 'blue'],
    ['a fox, then a blue fox', 'blue'],
    ['a fox', undefined],
    ['a fox with a red scarf', undefined],
    ['a fox in a blue forest', undefined],
    ['a blue forest with a fox', undefined],
    ['a blue forest, fox', undefined],
    ['a blue-eyed fox', undefined],
    ['a blue eyed fox', undefined],
    ['a white-tailed deer', undefined],
    ['a red house and a fox', undefined],
    ['a golden hour portrait of a fox', undefined],
  ])('%s', (text, name) => {
    expect(themeOf(text).colour).toBe(name === undefined ? undefined : coloursNamed(name)[0]);
  });

  test('has shades', () => {
    const [plain, light, dark] = ['blue fox', 'light blue fox', 'dark blue fox'].map(
      (text) => themeOf(text).colour,
    );
    expect(new Set([plain, light, dark]).size).toBe(3);
  });
});

test.each(['fox', 'owl', 'bear', 'lion', 'boat', 'castle', 'mountain', 'rose', 'oak'])(
  '%s: a blue one is the same one, dyed, and nothing else of the picture changes',
  (subject) => {
    for (const frame of grid(`a ${subject} at night --seed 3`).frames) {
      const plain = sceneOf(frame, `a ${subject} at night`);
      const blue = sceneOf(frame, `a blue ${subject} at night`);
      const forms = ({ shapes }: typeof plain) =>
        shapes.map(({ kind, role, points }) => [kind, role, points]);
      expect(forms(blue)).toEqual(forms(plain));
      const rest = ({ shapes }: typeof plain) => shapes.filter(({ role }) => role !== 'subject');
      expect(rest(blue)).toEqual(rest(plain));
      expect(blue).not.toEqual(plain);
      expect(sceneOf(frame, `a ${subject} at night, a blue ribbon`)).toEqual(plain);
    }
  },
);

test('a remix with another colour shows that colour', async () => {
  const parent = grid('portrait of a fox in the snow --v 6.1');
  const remixed = (text: string): Drawing => strongDrawing(rewordedDrawing(parent, text), 0, 'variation');
  const [before, after] = [
    await blueness(remixed('portrait of a fox in the snow')),
    await blueness(remixed('portrait of a blue fox in the snow')),
  ];
  expect(after).toBeGreaterThan(before + 0.04);
});

test('a prompt without a known word is drawn in the colour that it names', async () => {
  expect(await blueness(grid('a blue zzz'))).toBeGreaterThan((await blueness(grid('a zzz'))) + 0.08);
});

test('a region where a fox stands is painted with that fox in its new colour', async () => {
  const mask = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  const bounds = { x: 0, y: 0, width: 1, height: 1 };
  const painted = (text: string): Drawing =>
    repaintDrawing({ size: 'whole', frames: [frameAt(grid('a fox in the snow'), 2)] }, text, {
      sha256: 'm',
      bounds,
    });
  const blue = await blueness(painted('a blue fox'), () => mask);
  const cloth = await blueness(painted('a fox with a blue scarf'), () => mask);
  expect(blue).toBeGreaterThan(0.05);
  // Cloth fills its region; a fox leaves the land to be seen.
  expect(cloth).toBeGreaterThan(2 * blue);
});

test('a describe names the colour of the subject', () => {
  for (const prompt of describedPrompts('a blue fox in the snow', 1)) expect(prompt).toContain('a blue fox');
});
