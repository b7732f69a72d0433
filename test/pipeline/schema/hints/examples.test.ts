import { describe, expect, it } from 'vitest';
import { parse } from '../../diagnose.ts';

const one = 'steps: { grid: { imagine: a fox } }\n';
const used = (name: string): string => `steps: { grid: { imagine: "{{ ${name} }}" } }\n`;
const step = (text: string): string => `steps: { grid: { imagine: a fox, path: U1 }, b: { ${text} } }\n`;

/** The message and the hint of the only mistake. */
async function said(text: string): Promise<readonly (string | undefined)[]> {
  const { diagnostics } = await parse(`name: t\n${text}`, { 'a.png': '' });
  expect(diagnostics).toHaveLength(1);
  return [diagnostics[0]?.message, diagnostics[0]?.hint];
}

describe('a hint for a value of a wrong type shows how to write it', () => {
  it.each([
    [
      'matrix: { animal: fox }',
      used('animal'),
      'matrix.animal must be a list or a mapping; this is text.',
      'An axis is a list of values: animal: [fox].',
    ],
    ['matrix: { animal: "fox, owl" }', used('animal'), 'matrix.animal must be', 'animal: [fox, owl].'],
    [
      'matrix: { seed: 1..4 }',
      used('seed'),
      'matrix.seed must be',
      'A range is written seed: { from: 1, to: 4 }.',
    ],
    ['matrix: { seed: 7 }', used('seed'), 'matrix.seed must be', 'seed: [7].'],
    [
      'matrix: { animal: "-fox -owl" }',
      used('animal'),
      'matrix.animal must be',
      'Write a space after the "-" of each value',
    ],
    [
      'matrix: { a: [1, 2], sample: 10 }',
      used('a'),
      'matrix.sample must be a mapping; this is a number.',
      'Write sample: { count: 10 }.',
    ],
    [
      'matrix: { a: [1, 2], sample: { count: ten } }',
      used('a'),
      'matrix.sample.count must be a whole number; this is text.',
      'Write a number, for example count: 2.',
    ],
    [
      'matrix: { a: [1, 2], exclude: { a: 1 } }',
      used('a'),
      'matrix.exclude must be a list; this is a mapping.',
      'Write a list: exclude: [{ a: 1 }].',
    ],
    [
      'matrix: { a: [1, 2], include: lynx }',
      used('a'),
      'matrix.include must be a list; this is text.',
      'For example include: [{',
    ],
    [
      'matrix: [{ a: [1] }]',
      one,
      'matrix must be a mapping; this is a list.',
      'Each axis has a name, in place of the "-"',
    ],
    ['matrix:', one, 'matrix must be a mapping; this is empty.', 'Give it a value'],
    ['budget: 25', one, 'budget must be a mapping; this is a number.', 'Write budget: { cost: 25 }.'],
    ['timeouts: 20m', one, 'timeouts must be a mapping; this is text.', 'Write timeouts: { task: 20m }.'],
    [
      'timeouts: { task: 20 }',
      one,
      'timeouts.task must be a duration; this is a number.',
      'A duration has a unit: task: 20s (seconds) or task: 20m (minutes).',
    ],
    [
      'limits: { tasks: "12" }',
      one,
      'limits.tasks must be a whole number; this is text.',
      'Write a number without quotes: tasks: 12.',
    ],
    ['limits: { tasks: 0 }', one, 'limits.tasks must be at least 1.', 'Image tasks'],
    [
      'service: https://x.example',
      one,
      'service must be a mapping; this is text.',
      'Write service: { baseUrl: "https://x.example" }.',
    ],
    [
      'steps: [{ imagine: a fox }]',
      '',
      'steps must be a mapping; this is a list.',
      'Each step has a name, in place of the "-": steps: { grid: { imagine: a fox } }.',
    ],
    [
      'steps: { grid: a fox }',
      '',
      'steps.grid must be a mapping; this is text.',
      'Write its operation: grid: { imagine: a fox }.',
    ],
    [
      'steps: { grid: imagine a fox }',
      '',
      'steps.grid must be',
      'A key ends with a colon and a space: imagine: a fox.',
    ],
    [
      'steps: { grid: { imagine: [a fox, an owl] } }',
      '',
      'steps.grid.imagine must be text or a mapping; this is a list.',
      'matrix: { prompt: [a fox, an owl] }',
    ],
    [
      step('from: grid, click: [U1, U2]'),
      '',
      'steps.b.click must be text; this is a list.',
      'A click presses one button.',
    ],
    [
      step('from: grid, generate: hello'),
      '',
      'steps.b.generate must be a mapping; this is text.',
      'Write generate: { model: text-pro, prompt: hello }.',
    ],
    [
      step('from: grid, generate: { model: m, prompt: p, images: parent }'),
      '',
      'steps.b.generate.images must be a list; this is text.',
      'Write a list: images: [parent].',
    ],
    [
      step('from: grid, generate: { model: m, prompt: p, responseSchema: json }'),
      '',
      'steps.b.generate.responseSchema must be',
      'For example responseSchema: { type: object',
    ],
    [
      step('from: grid, generate: { prompt: p }'),
      '',
      'steps.b.generate needs the key "model".',
      'For example model: ',
    ],
    [
      step('click: U1'),
      '',
      'steps.b needs the key "from".',
      'It names the step whose result has the button, for example from: grid,',
    ],
    [
      step('from: grid, generate: { model: m, prompt: p, images: [grid] }'),
      '',
      'There is no file "grid".',
      'The images of the step "grid" are steps.grid;',
    ],
    [
      step('blend: { images: [grid, steps.grid] }'),
      '',
      'There is no file "grid".',
      'The images of the step "grid" are steps.grid;',
    ],
    [
      step('describe: a.png'),
      '',
      'steps.b.describe must be a mapping; this is text.',
      'Write describe: { image: a.png }.',
    ],
  ])('%s', async (text, more, message, hint) => {
    const [found, how] = await said(`${text}\n${more}`);
    expect(found).toContain(message);
    expect(how).toContain(hint);
  });

  it('never repeats a possible key of the service', async () => {
    const { diagnostics } = await parse(`name: t\nservice: { apiKey: [abcdefghij] }\n${one}`);
    expect(JSON.stringify(diagnostics.map(({ message, hint }) => [message, hint]))).not.toContain('abcdef');
  });
});

describe('a hint for an invalid name', () => {
  it.each([
    ['name: my foxes', 'my-foxes.'],
    ['name: Füchse & Co', 'Fuchse-Co.'],
  ])('gives the rule and a similar name: %s', async (line, near) => {
    const { diagnostics } = await parse(`${line}\n${one}`);
    expect(diagnostics).toMatchObject([{ code: 'schema.value' }]);
    expect(diagnostics[0]?.message).toMatch(/^name cannot be "/);
    expect(diagnostics[0]?.hint).toBe(
      `A name has letters, digits, dots, hyphens and underscores, at most 100 of them, and no spaces: ${near}`,
    );
  });

  it('gives the rule and a similar name for a step', async () => {
    expect(await said('steps: { my grid: { imagine: a fox } }\n')).toEqual([
      '"my grid" cannot be a name.',
      'A letter or underscore, then letters, digits, underscores and hyphens. For example my_grid.',
    ]);
  });
});

describe('a mask box without fractions is reported as one error', () => {
  const mask = (shape: string): string =>
    step(`from: grid/U1, click: Vary (Region), prompt: p, mask: { shapes: [{ ${shape} }] }`);

  it.each([
    ['rectangle: [100, 200, 512, 512]', 'pixels', '[0.098, 0.195, 0.5, 0.5]'],
    ['ellipse: [0, 1500, 512, 512]', 'pixels', '2048 × 2048 pixels: [0, 0.732, 0.25, 0.25]'],
    ['rectangle: [10%, 20%, 50%, 50%]', 'percent', 'Divide by 100: [0.1, 0.2, 0.5, 0.5].'],
  ])('%s', async (shape, what, hint) => {
    const [message, how] = await said(mask(shape));
    expect(message).toContain(`fractions of the image, from 0 to 1, not in ${what}.`);
    expect(how).toContain(hint);
  });
});
