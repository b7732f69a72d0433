import { Random } from '../draw/scene/random.ts';
import { themeOf } from '../draw/scene/theme.ts';

const looks = [
  'soft light',
  'long shadows',
  'a muted palette',
  'a limited palette',
  'fine detail',
  'bold shapes',
  'deep colours',
];
const views = [
  'seen from afar',
  'a close view',
  'from a low angle',
  'centred',
  'with wide open space',
  'in the style of a children’s book',
];

/** Four prompts for a picture of which these words are known (protocol.md 1.4); the first is the words themselves. */
export function describedPrompts(words: string, aspect: number, again = ''): readonly string[] {
  const random = new Random(`describe ${words} ${again}`);
  const ratio = ratioOf(aspect);
  const shape = ratio === '1:1' ? '' : ` --ar ${ratio}`;
  const { style } = themeOf(words);
  const medium = style === undefined || style === 'illustration' ? 'illustration' : '';
  const dressed = (): string =>
    [words, random.pick(views), random.pick(looks), medium].filter((part) => part !== '').join(', ');
  const first = again === '' ? words : dressed();
  const prompts = new Set([first]);
  for (let attempt = 0; prompts.size < 4; attempt += 1)
    prompts.add(attempt < 40 ? dressed() : `${dressed()}, ${attempt}`);
  return [...prompts].map((prompt) => `${prompt}${shape}`);
}

/** `properties.finalPrompt` as a describe shows it. */
export const finalPromptOf = (prompts: readonly string[]): string =>
  prompts.map((prompt, index) => `${index + 1}\u{FE0F}\u{20E3} ${prompt}`).join('\n\n');

/** The nearest of the ratios that pictures usually have. */
function ratioOf(aspect: number): string {
  const usual = ['1:1', '5:4', '4:3', '3:2', '16:9', '2:1', '21:9', '4:5', '3:4', '2:3', '9:16', '1:2'];
  const distance = (ratio: string): number => {
    const [width, height] = ratio.split(':').map(Number);
    return Math.abs(Math.log(aspect / ((width ?? 1) / (height ?? 1))));
  };
  return usual.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}
