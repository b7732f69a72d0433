import { Random } from '../../draw/canvas/random.ts';
import { themeOf } from '../../draw/canvas/theme.ts';
import { parsePrompt } from '../../prompt/flags.ts';

const styles = [
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

/** Makes the four prompts of a describe (gateway 4.5). `words`: the picture in words, the first prompt unless `again` is given. */
export function describedPrompts(words: string, aspect: number, again = ''): readonly string[] {
  const random = new Random(`describe ${words} ${again}`);
  const ratio = ratioOf(aspect);
  const shape = ratio === '1:1' ? '' : ` --ar ${ratio}`;
  const { style } = themeOf(words);
  const medium = style === undefined || style === 'illustration' ? 'illustration' : '';
  const dressed = (): string =>
    [words, random.pick(views), random.pick(styles), medium].filter((part) => part !== '').join(', ');
  const first = again === '' ? words : dressed();
  const prompts = new Set([first]);
  for (let attempt = 0; prompts.size < 4; attempt += 1)
    prompts.add(attempt < 40 ? dressed() : `${dressed()}, ${attempt}`);
  return [...prompts].map((prompt) => `${prompt}${shape}`);
}

/** Returns `properties.finalPrompt` of a describe. */
export const finalPromptOf = (prompts: readonly string[]): string =>
  prompts.map((prompt, index) => `${index + 1}\u{FE0F}\u{20E3} ${prompt}`).join('\n\n');

/** Words without a meaning of their own. */
const small = /^(?:an?|the|of|in|on|at|with|and|or|to|is|very|from|by|for)$/i;

/** Shortens a prompt (gateway 4.5): its important words, and up to five prompts, each shorter than the one before, with its flags. */
export function shortened(prompt: string): {
  readonly words: readonly string[];
  readonly prompts: readonly string[];
} {
  const { text } = parsePrompt(prompt);
  const at = prompt.search(/(?:^|\s)(?:--|—|–)\w/);
  const flags = at < 0 ? '' : prompt.slice(at).trim();
  const all = text.split(/\s+/).filter((word) => word !== '');
  const strong = all.filter((word) => !small.test(word));
  const words = strong.length === 0 ? all : strong;
  const counts = [1, 0.8, 0.6, 0.4, 0.2].map((share) => Math.max(1, Math.ceil(words.length * share)));
  const prompts = [...new Set(counts)].map((count) => words.slice(0, count).join(' '));
  return { words, prompts: prompts.map((short) => (flags === '' ? short : `${short} ${flags}`)) };
}

/** Returns `properties.finalPrompt` of a shorten. */
export const shortenedPromptOf = (prompt: string, prompts: readonly string[]): string =>
  `## Important tokens\n${shortened(prompt).words.join(', ')}\n\n## Shortened prompts\n${finalPromptOf(prompts)}`;

function ratioOf(aspect: number): string {
  const usual = ['1:1', '5:4', '4:3', '3:2', '16:9', '2:1', '21:9', '4:5', '3:4', '2:3', '9:16', '1:2'];
  const distance = (ratio: string): number => {
    const [width, height] = ratio.split(':').map(Number);
    return Math.abs(Math.log(aspect / ((width ?? 1) / (height ?? 1))));
  };
  return usual.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}
