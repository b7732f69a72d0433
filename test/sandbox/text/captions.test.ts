import { describe, expect, it } from 'vitest';
import { imagineDrawing, upscaleDrawing } from '../../../src/sandbox/draw/lineage.ts';
import { drawPicture } from '../../../src/sandbox/draw/picture.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';
import { subjectOf } from '../../../src/sandbox/text/say/wishes.ts';
import { makePng } from '../../rig/png.ts';
import { useTexts, type Wire } from './answers-rig.ts';

const texts = useTexts();

const pictureOf = async (prompt: string): Promise<Buffer> =>
  await drawPicture(upscaleDrawing(imagineDrawing(parsePrompt(prompt)), 0), 64, () => Buffer.alloc(0));

/** What the sandbox says of images, at temperature 0. */
async function said(prompt: string, images: readonly Buffer[], seed: number): Promise<string> {
  const parts = [
    { text: prompt },
    ...images.map((image) => ({ inlineData: { mimeType: 'image/png', data: image.toString('base64') } })),
  ];
  const { status, body } = await texts.generate({
    contents: [{ role: 'user', parts }],
    generationConfig: { seed },
  });
  expect(status).toBe(200);
  return body['candidates'][0].content.parts.map((part: Wire) => part['text'] ?? '').join('');
}

const instructions = [
  'Caption this picture in one sentence. Name the animal.',
  'Language: German. Caption this image in one sentence.',
  'Write a caption in French. Tone: dry. Style: catalogue. Length: one sentence.',
  'Describe the image for a screen reader, in plain English, at most 40 words.',
];

describe('a caption', () => {
  it('describes the picture, and not the words about the form', async () => {
    const picture = await pictureOf('fox at the edge of a winter forest, ink drawing [broken] --v 6.1');
    for (const prompt of instructions) {
      for (let seed = 0; seed < 4; seed += 1) {
        const caption = await said(prompt, [picture], seed);
        expect(caption).toContain('a fox at the edge of a winter forest');
        expect(caption).not.toMatch(
          /german|french|english|language|caption|\btone:|style|catalogue|length|animal|reader|screen|broken/i,
        );
      }
    }
  });

  it('names the subject of each of several pictures', async () => {
    const pictures = await Promise.all([pictureOf('an owl in the rain'), pictureOf('Two boats')]);
    const caption = await said('Describe these pictures in one sentence.', pictures, 1);
    expect(caption).toContain(' of an owl in the rain');
    expect(caption).toContain(' of Two boats');
  });

  it('of any other picture has only a subject that the prompt names', async () => {
    const elsewhere = makePng(3);
    for (let seed = 0; seed < 4; seed += 1) {
      expect(
        await said('Language: German. Caption this image in one sentence.', [elsewhere], seed),
      ).not.toMatch(/picture of \D|german|language/i);
      expect(await said('Caption this image of a heron in Dutch.', [elsewhere], seed)).toContain('of heron');
    }
  });
});

it.each([
  ['Language: German', []],
  ['Translate "a red boat" into Spanish', ['red', 'boat']],
  ['Describe the fox in the snow. Format: JSON. Limit: 20 words', ['fox', 'snow']],
  ['Which of the frames, row by row, shows the best heron?', ['heron']],
])('the subject of %j has the words %j', (prompt, words) => {
  expect(subjectOf(prompt)).toEqual(words);
});
