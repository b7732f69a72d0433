import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { splitPrompts } from '../../../src/service/image/prompts.ts';

const four = ['a cat --ar 5:4', 'a cat in ink, 3. of May', 'two cats, 1.5 m apart', 'no cat'];
const keycaps = ['1️⃣', '2️⃣', '3️⃣', '4️⃣'];

describe('the prompts of a describe task', () => {
  test.each([
    ['as gateway 4.5 shows them', (p: string, i: number) => `${keycaps[i]} ${p}`, '\n\n'],
    ['on one line each', (p: string, i: number) => `${keycaps[i]} ${p}`, '\n'],
    ['all on one line', (p: string, i: number) => `${keycaps[i]} ${p}`, ' '],
    ['key caps without a variation selector', (p: string, i: number) => `${i + 1}\u20E3${p}`, '\n\n'],
    ['Windows line ends', (p: string, i: number) => `${keycaps[i]} ${p}`, '\r\n\r\n'],
    ['numbers', (p: string, i: number) => `${i + 1}. ${p}`, '\n'],
    ['brackets', (p: string, i: number) => `${i + 1}) ${p}`, '\n\n'],
    ['bold numbers', (p: string, i: number) => `**${i + 1}.** ${p}`, '\n\n'],
    ['Chinese numbers', (p: string, i: number) => `${i + 1}、${p}`, '\n'],
    ['bold key caps', (p: string, i: number) => `> ${keycaps[i]} ${p}`, '\n'],
    ['a list of key caps', (p: string, i: number) => `- ${keycaps[i]} ${p}`, '\n'],
    ['headings', (p: string, i: number) => `### ${i + 1}. ${p}`, '\n\n'],
    ['colons', (p: string, i: number) => `${i + 1}: ${p}`, '\n'],
    ['blank lines alone', (p: string) => p, '\n  \n'],
  ])('%s', (_what, item, between) => {
    expect(splitPrompts(four.map(item).join(between))).toEqual(four);
  });

  test.each(['．', '。', '：', '、', '）'])('are split at numbers before %s', (mark) => {
    expect(splitPrompts(four.map((prompt, i) => `${i + 1}${mark}${prompt}`).join('\n'))).toEqual(four);
  });

  test.each([
    ['words before the first', '**Prompts:**\n\n1️⃣ a\n\n2️⃣ b', ['a', 'b']],
    ['a prompt over several lines', '1️⃣ a\n  and b\n2️⃣ c', ['a and b', 'c']],
    ['a prompt of paragraphs', '1. a\n\nand b\n\n2. c', ['a and b', 'c']],
    ['a number in the middle', '1️⃣ a\n\n7. of May\n\n2️⃣ c', ['a 7. of May', 'c']],
    ['an empty one', '1️⃣ a\n\n2️⃣ \n\n3️⃣ c', ['a', 'c']],
    ['a single one', '1️⃣ a fox', ['a fox']],
    ['a single one with a number further down', 'a fox\n\n1. of May', ['a fox', '1. of May']],
    ['a single one that is announced', 'Here it is:\n\n1. a fox', ['a fox']],
    ['a single one with a key cap below words', 'As asked\n1️⃣ a fox', ['a fox']],
    ['a single one without a number', 'a fox --ar 3:2', ['a fox --ar 3:2']],
    ['one that begins with a number', '35mm photo of a fox', ['35mm photo of a fox']],
    ['one that begins with a year', '1984. A film', ['1984. A film']],
    ['numbers that begin at 2', '2. a\n3. b', ['2. a 3. b']],
    [
      'eleven',
      Array.from({ length: 11 }, (_, i) => `${i + 1}. p${i}`).join('\n'),
      Array.from({ length: 11 }, (_, i) => `p${i}`),
    ],
    [
      'ten key caps',
      `${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n}️⃣ p${n}`).join('\n')}\n🔟 p10`,
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => `p${n}`),
    ],
    [
      'ten key caps on one line',
      `${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n}️⃣ p${n}`).join(' ')} 🔟 p10`,
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => `p${n}`),
    ],
    ['a key cap inside of a single prompt', 'a jersey with 1️⃣ on its back', ['a jersey with 1️⃣ on its back']],
    ['control characters', '1️⃣ a\u0007b\n2️⃣ c\td', ['ab', 'c d']],
    ['nothing', ' \n ', []],
  ])('%s', (_what, text, prompts) => {
    expect(splitPrompts(text)).toEqual(prompts);
  });

  test('are limited in number and length', () => {
    const many = splitPrompts(Array.from({ length: 5_000 }, (_, i) => `p${i}`).join('\n\n'));
    expect(many).toHaveLength(25);
    // Only prompts are counted, not the gaps between them.
    const apart = Array.from({ length: 25 }, (_, i) => `p${i}`);
    expect(splitPrompts(apart.join('\n\n\n\n'))).toEqual(apart);
    const [long] = splitPrompts(`${'x'.repeat(7_999)}😀`);
    expect(long).toBe('x'.repeat(7_999));
  });

  test('are returned whole, whatever words they contain', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9,:-]{0,8}$/);
    const prompt = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.array(prompt, { minLength: 1, maxLength: 9 }), (prompts) => {
        const text = prompts.map((p, i) => `${i + 1}️⃣ ${p}`).join('\n\n');
        expect(splitPrompts(text)).toEqual(prompts);
      }),
      { seed: 20261121 },
    );
  });

  test('of any text are found in bounded time, each on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        for (const prompt of splitPrompts(text)) {
          expect(prompt).toBe(prompt.trim());
          expect(prompt).not.toMatch(/\n|^$/);
        }
      }),
      { seed: 20261121 },
    );
    expect(splitPrompts('1. '.repeat(300_000))).toHaveLength(1);
    expect(splitPrompts(`${'-'.repeat(500_000)}x`)).toHaveLength(1);
  });
});
