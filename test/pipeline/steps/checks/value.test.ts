import { describe, expect, it } from 'vitest';
import { diagnose } from '../../diagnose.ts';

const matrix = 'm: [{ name: ink, of: [1] }, { name: oil, of: [2] }], plain: [a, b], mixed: [x, { y: 1 }]';
const file = (step: string, settings = matrix): string =>
  `name: t\nmatrix: { ${settings} }\nsteps:\n  g: { ${step} }\n  all: { imagine: "{{ m.name }} {{ plain }} {{ mixed | json }}" }\n`;

/** Where values are said to be no text. */
const found = async (step: string, settings?: string, files = {}): Promise<readonly string[]> =>
  (await diagnose(file(step, settings), files)).filter((code) => code.startsWith('template.object'));

describe('a mapping or a list that would be written as text', () => {
  it.each([
    ['imagine: "{{ m }}"', 4],
    ['imagine: "{{ plain }}, {{ m }}"', 4],
    ['imagine: "{{ m.of }}"', 4],
    ['imagine: "{{ mixed }}"', 4],
    ['imagine: { prompt: "a {{ m }}" }', 4],
    ['imagine: a, path: "U{{ m }}"', 4],
    ['imagine: a, path: ["U1", { button: V1, remix: true, prompt: "{{ m }}" }]', 4],
    ['imagine: a, extra: { note: "a {{ m }}" }', 4],
    ['generate: { model: x, prompt: p, system: "{{ m }}" }', 4],
    ['generate: { model: x, contents: [{ parts: [{ text: "a {{ m }}" }] }] }', 4],
    ['imagine: "{{ plain | split: \'\' }}"', 4],
    ['imagine: "{% if plain == \'a\' %}{{ m }}{% endif %}"', 4],
    ['imagine: "{{ m }}", when: plain == "a"', 4],
  ])('is an error: %s', async (step) => {
    expect(await found(step)).toEqual([expect.stringMatching(/^template\.object 4:/)]);
  });

  it.each([
    ['imagine: "{{ m.name }} {{ plain }}"'],
    ['imagine: "{{ m | json }}"'],
    ['imagine: "{{ m.of | join }}"'],
    ['imagine: "{{ mixed }}", when: mixed == "x"'],
    ['imagine: "{% if mixed == \'x\' %}{{ mixed }}{% endif %}"'],
    ['imagine: a, extra: { note: "{{ m }}" }'],
    ['generate: { model: x, prompt: p, contents: "{{ m }}" }'],
  ])('is not an error: %s', async (step) => {
    expect(await found(step)).toEqual([]);
  });

  it('is found next to values that only a table, a range or the run gives', async () => {
    const files = { 't.csv': 'scene\nx\n' };
    const more = `${matrix}, rows: t.csv, n: { from: 1, to: 3 }`;
    expect(await found('imagine: "{{ m }} {{ scene }} {{ n }}"', more, files)).toHaveLength(1);
    expect(await found('imagine: "{{ m }} {{ steps.all.prompt }}"', more, files)).toHaveLength(1);
    // Whether it is reached, only the table tells.
    expect(await found('imagine: "{% if scene == 1 %}{{ m }}{% endif %}"', more, files)).toEqual([]);
    expect(await found('imagine: "{{ m.name }} {{ scene }} {{ n }}"', more, files)).toEqual([]);
  });

  it('is not an error if no cell certainly has it', async () => {
    expect(await found('imagine: "{{ mixed }}"', `${matrix}, exclude: [{ mixed: { y: 1 } }]`)).toEqual([]);
    expect(await found('imagine: "{{ mixed }}"', `${matrix}, sample: { count: 1 }`)).toEqual([]);
    expect(await found('imagine: "{{ m }}"', `${matrix}, sample: { count: 1 }`)).toHaveLength(1);
  });
});
