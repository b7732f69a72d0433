import { describe, expect, it } from 'vitest';
import { parse, placed } from '../diagnose.ts';

const pipeline = (when: string, prompt: string): string =>
  `name: t\nmatrix: { animal: [fox, owl] }\nsteps:\n  grid:\n    when: '${when}'\n    imagine: '${prompt}'\n`;

describe("an operator of another language is reported with Liquid's own", () => {
  it.each([
    ['animal == "fox" && not animal == "owl"', '"&&" is not an operator of Liquid.', 'Write "and".', '5:28'],
    ['animal == "fox" && animal == "owl"', '"&&" is not an operator of Liquid.', 'Write "and".', '5:28'],
    ['animal == "fox" || animal == "owl"', '"||" is not an operator of Liquid.', 'Write "or".', '5:28'],
    ['!animal', '"!" is not an operator of Liquid.', 'Write "not".', '5:12'],
    ['!(animal == "fox")', '"!" is not an operator of Liquid.', 'Write the opposite', '5:12'],
    ['animal === "fox"', '"===" is not an operator of Liquid.', 'Write "==".', '5:19'],
    ['animal <> "fox"', '"<>" is not an operator of Liquid.', 'Write "!=".', '5:19'],
    ['animal = "fox"', 'A single "=" does not compare.', 'Write "==".', '5:19'],
  ])('%s', async (when, message, hint, place) => {
    const { diagnostics } = await parse(pipeline(when, '{{ animal }}'));
    expect(diagnostics.map((one) => [placed(one), one.message])).toEqual([
      [`template.syntax ${place}`, message],
    ]);
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  it('is reported in a tag of a prompt too', async () => {
    const { diagnostics } = await parse(
      pipeline('true', '{% if animal == "fox" && animal %}{{ animal }}{% endif %}'),
    );
    expect(diagnostics.map((one) => one.message)).toEqual(['"&&" is not an operator of Liquid.']);
  });
});

describe('an opening in a template that is never closed', () => {
  it.each([
    [
      '{{ animal }, in snow',
      'The {{ that opens here is never closed.',
      'Close it with }}: {{ animal }}.',
      15,
    ],
    [
      'a {{ animal, in snow',
      'The {{ that opens here is never closed.',
      'Close it with }}: {{ animal }}.',
      17,
    ],
    [
      '{% if animal == "fox" } x',
      'The {% that opens here is never closed.',
      'Close it with %}: {% if animal == "fox" %}.',
      15,
    ],
    [
      '{% if animal %}{{ animal }}',
      'The tag "if" that begins here has no end.',
      'End it with {% endif %}.',
      15,
    ],
  ])('%s', async (prompt, message, hint, column) => {
    const { diagnostics } = await parse(pipeline('true', prompt));
    expect(diagnostics.map((one) => [one.code, one.line, one.column, one.message, one.hint])).toEqual([
      ['template.syntax', 6, column, message, hint],
    ]);
  });
});

describe('a name that is unknown in a template', () => {
  const files = { 't.csv': 'lang code,prompt\nde,Fuchs\n' };
  const reads = (text: string): string =>
    `name: t\nmatrix: { rows: t.csv }\nsteps: { grid: { imagine: '{{ prompt }} ${text.replaceAll("'", "''")}' } }\n`;

  it.each([
    ['{{ lang_code }}', `Did you mean "lang code"? It is written {{ ['lang code'] }}.`],
    ['{{ langCode }}', `Did you mean "lang code"? It is written {{ ['lang code'] }}.`],
    ['{{ row["lang code"] }}', `A column is a variable: write {{ ['lang code'] }}.`],
    ['{{ lang code }}', `A text needs quotes. Write a variable with a space in its name as ['lang code'].`],
    ['{{ zebra }}', `Write a name with other characters as {{ ['lang code'] }}.`],
    ['{{ env.HOME }}', 'A template cannot read the environment'],
  ])('%s gets a hint for columns with a space', async (text, hint) => {
    const { diagnostics } = await parse(reads(text), files);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  it.each([
    `{{ ['lang code'] }}`,
    `{{ ["lang code"] | upcase }}`,
    `{% if ['lang code'] == "de" %}x{% endif %}`,
  ])('is found as a column with a space: %s', async (text) => {
    const { pipeline: read, diagnostics } = await parse(reads(text), files);
    expect(diagnostics).toEqual([]);
    const prompt = read?.steps[0]?.request['prompt'] as { render(scope: object): string };
    const scope = { vars: { 'lang code': 'de', prompt: 'Fuchs' }, repeat: 1, steps: {} };
    expect(prompt.render(scope)).toMatch(/^Fuchs (?:de|DE|x)$/);
  });

  it('may be a value without quotes', async () => {
    const { diagnostics } = await parse(pipeline('animal == fox', '{{ animal }}'));
    expect(diagnostics.map(({ hint }) => hint)).toEqual(['"fox" is a value: a text needs quotes, "fox".']);
  });

  it('may be a filter: the hint lists the most common ones, then all', async () => {
    const { diagnostics } = await parse(pipeline('true', '{{ animal | shout }}'));
    expect(diagnostics[0]?.hint).toMatch(
      /^Filters for texts are capitalize, .*, default\. All filters: abs, append, .*xml_escape\.$/,
    );
  });

  it.each([
    ['title', 'capitalize'],
    ['upper', 'upcase'],
    ['toLowerCase', 'downcase'],
    ['trim', 'strip'],
    ['length', 'size'],
    ['capitalise', 'capitalize'],
  ])('may be a filter of another language: %s is %s', async (written, meant) => {
    const { diagnostics } = await parse(pipeline('true', `{{ animal | ${written} }}`));
    expect(diagnostics.map(({ hint }) => hint)).toEqual([`Did you mean "${meant}"?`]);
  });

  it.each([
    ['animal = "fox" && true', 'Write animal == "fox" and true.'],
    ['!animal || animal == "a && b"', 'Write not animal or animal == "a && b".'],
    ['animal === "fox" && animal <> "owl"', 'Write animal == "fox" and animal != "owl".'],
  ])('replaces all operators of another language in the hint: %s', async (when, hint) => {
    const { diagnostics } = await parse(pipeline(when, '{{ animal }}'));
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  it.each([
    ['${{ matrix.animal }}', '{{ animal }}, without "matrix." and without the $ before {{.'],
    ['{{ matrix.anmial }}', '{{ animal }}, without "matrix.".'],
    ['{{ vars.animal }}', '{{ animal }}, without "vars.".'],
  ])('may be a variable inside another name: %s', async (text, hint) => {
    const { diagnostics } = await parse(pipeline('true', text));
    expect(diagnostics[0]?.hint).toBe(`Write only the name of an axis: ${hint}`);
  });

  it('may be an axis in single braces, with a warning', async () => {
    const { diagnostics } = await parse(pipeline('true', 'a { animal }'));
    expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ['matrix.unused-axis', '{ animal } is sent unchanged: write a variable as {{ animal }}.'],
    ]);
  });
});

it('a branch written with a dot gets a hint for the slash', async () => {
  const { diagnostics } = await parse(
    'name: t\nsteps: { grid: { imagine: a, path: U1 }, b: { from: grid.U1, click: U2 } }\n',
  );
  expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
    ['step.unknown', 'Write a branch with a slash: grid/U1.'],
  ]);
});
