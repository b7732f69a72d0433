import { type Draft, draft } from '../input.ts';
import type { Random } from '../random.ts';
import { oddValue } from './json.ts';
import { odd } from './oddity.ts';

/** Modals, masks and steps that begin from images, their fields odd, missing or elsewhere. */
export function pictures(random: Random): Draft {
  const value = (): string => JSON.stringify(oddValue(random));
  const or = (good: string): string => (random.happens(0.08) ? value() : good);
  const text = (): string =>
    or(
      JSON.stringify(
        random.pick([
          'a red scarf',
          'a fox --zoom 1.5 --ar 1:1',
          '--zoom 7',
          '{{ a }}',
          '{{ steps.words.prompts[1] }}',
          '{{ steps.words.text }}',
          '{{ steps.film.video_url }}',
          '{{ steps.grid.image_url }}',
          odd(random),
        ]),
      ),
    );
  const number = (): string => or(random.pick(['0', '0.1', '0.5', '1', '"{{ n }}"', '-1', '1e-9']));
  const box = (): string => or(`[${number()}, ${number()}, ${number()}, ${number()}]`);
  const shape = (): string => `{ ${random.pick(['rectangle', 'ellipse', 'circle'])}: ${box()} }`;
  const mask = (): string =>
    or(
      random.pick([
        'masks/m.png',
        '{ file: masks/m.png, invert: true }',
        `{ shapes: [${random.some(1, 4, shape).join(', ')}] }`,
        `{ shapes: [${random.some(1, 4, shape).join(', ')}], invert: ${or('false')} }`,
        '{ file: m.png, shapes: [] }',
        'parent',
        '"{{ a }}.png"',
      ]),
    );
  const image = (): string =>
    or(
      random.pick([
        'parent',
        'steps.grid',
        'steps.words',
        'steps.film',
        'x.png',
        'https://a.example/x.png',
        '"{{ a }}"',
      ]),
    );
  const from = (): string =>
    random.pick([
      'from: grid/U1, ',
      'from: grid/U1, ',
      'from: grid/*, ',
      'from: grid, ',
      'from: film, ',
      'from: words, ',
      'gather: grid/*, ',
      'gather: grid/**, ',
      '',
    ]);
  const button = (): string =>
    JSON.stringify(
      random.pick([
        'Vary (Region)',
        'Custom Zoom',
        'V1',
        'reroll',
        'pan left',
        '/Inpaint/',
        'U1',
        '1️⃣',
        'Animate (Low motion)',
        odd(random),
      ]),
    );
  const answers = (): string =>
    random
      .some(0, 3, () => random.pick([`prompt: ${text()}`, `mask: ${mask()}`, `remix: ${or('true')}`]))
      .filter(
        (field, at, all) => all.findIndex((other) => other.split(':')[0] === field.split(':')[0]) === at,
      )
      .map((field) => `, ${field}`)
      .join('');
  const operations: readonly (() => string)[] = [
    () => `click: ${button()}${answers()}`,
    () => `click: ${button()}${answers()}`,
    () =>
      `blend: { ${random.pick(['', `dimensions: ${or('portrait')}`, `images: [${random.some(0, 7, image).join(', ')}]`])} }`,
    () => `describe: { image: ${image()} }`,
    () =>
      `video: { image: ${image()}, motion: ${or(random.pick(['low', 'high', '"{{ a }}"']))}, batchSize: ${or('2')}, loop: ${or('true')}, endImage: ${image()} }`,
    () => `video: { extend: ${or(random.pick(['1', '4', '9', '"{{ n }}"']))}, prompt: ${text()} }`,
    () => `edit: { image: ${image()}, prompt: ${text()}, mask: ${mask()} }`,
    () => `imagine: { prompt: ${text()}, images: [${random.some(0, 4, image).join(', ')}] }`,
  ];
  const path = (): string =>
    random.pick(['', '', `, path: [{ button: ${button()}${answers()} }]`, ', path: U1', ', path: U*']);
  const steps = Array.from(
    { length: random.whole(1, 6) },
    (_, at) => `  s${at}: { ${from()}${random.pick(operations)()}${path()} }`,
  );
  return draft(
    'yaml',
    'name: t\nmatrix: { a: [x, low], n: [0.1, 1] }\nsteps:\n  grid: { imagine: "{{ a }} {{ n }}", path: U1..U4 }\n' +
      '  words: { from: grid/U1, describe: { image: parent } }\n  film: { from: grid/U2, video: { image: parent } }\n',
    `${steps.join('\n')}\n`,
  );
}
