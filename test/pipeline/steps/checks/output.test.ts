import { describe, expect, it } from 'vitest';
import { diagnose, marked, parse } from '../../diagnose.ts';

const grid = '  grid: { imagine: a fox, grid: split, path: "U1 → V1" }\n';
const ask = 'generate: { model: m, images: [parent], prompt: p }';

const found = async (steps: string, variables = ''): Promise<readonly string[]> =>
  (await parse(`name: t\n${variables}steps:\n${steps}`)).diagnostics.map(
    ({ code, message, hint }) => `${code} ${message} ${hint}`,
  );

describe('an output', () => {
  it.each([
    ['a frame', `${grid}  a: { from: grid/#1, ${ask} }\n`],
    ['each frame', `${grid}  a: { from: grid/#*, ${ask} }\n`],
    ['a frame of a variation', `${grid}  a: { from: "grid/U1/V1/#2", ${ask} }\n`],
    ['the image of an upscale', `${grid}  a: { from: grid/U1/#1, ${ask} }\n`],
    ['gathered frames', `${grid}  a: { gather: grid/#*, blend: { dimensions: square } }\n`],
    ['presses below it', '  a: { imagine: x, grid: split, path: "#1..#2 → U → Vary (Strong)" }\n'],
    ['optional presses below it', `${grid}  a: { from: grid/#1, click: U? }\n`],
    [
      'a path below a press',
      '  a: { imagine: x, grid: split, path: "#1 → V, U" }\n  b: { from: a/#1/V, click: U1 }\n',
    ],
    ['a video', '  a: { video: { image: "https://x.test/a.png" } }\n  b: { from: a/#2, click: U }\n'],
    [
      'an image of a reply',
      `  a: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [IMAGE] } } }\n  b: { from: a/#1, ${ask} }\n`,
    ],
    ['an unknown stage', `${grid}  a: { from: grid, click: /x/ }\n  b: { from: a/#7, ${ask} }\n`],
    [
      'its number',
      `${grid}  a: { from: grid/#1, chat: { model: m, prompt: "{{ frame }}" }, when: frame == 1 }\n  b: { from: a, chat: { model: m, prompt: "{{ frame }}" } }\n`,
    ],
    [
      'its number in the path below it, and from there on',
      `  a: { imagine: x, grid: split, path: ["#1", { button: V, remix: true, prompt: "{{ frame }}" }] }\n  b: { from: a/#1/V, imagine: "{{ frame }}" }\n  c: { from: a/**, imagine: "{{ frame }}" }\n`,
    ],
    ['keep: false', `  a: { imagine: x, grid: split, keep: false }\n  b: { from: a/#1, ${ask} }\n`],
  ])('is accepted: %s', async (_, steps) => {
    expect(await found(steps)).toEqual([]);
  });

  it.each([
    ['a path to a button from it', `${grid}  a: { from: "⟦grid/#1/U", click: V1 }\n`, 'step.unknown-branch'],
    ['an output of an output', `${grid}  a: { from: "⟦grid/#1/#1", ${ask} }\n`, 'step.unknown-branch'],
    [
      'an output of an output in a path',
      '  a: { imagine: x, grid: split, path: "#1 → ⟦#2" }\n',
      'step.no-outputs',
    ],
    [
      'jobs where the path names outputs',
      `  a: { imagine: x, grid: split, path: "#1 → U" }\n  b: { from: ⟦a/*, ${ask} }\n`,
      'step.unknown-branch',
    ],
    [
      'a frame of a grid that is not cut',
      `  a: { imagine: x }\n  b: { from: ⟦a/#2, ${ask} }\n`,
      'step.no-outputs',
    ],
    ['the same in a path', '  a: { imagine: x, path: "⟦#1 → U" }\n', 'step.no-outputs'],
    [
      'the same below a button',
      `  a: { imagine: x, path: U1 → V1 }\n  b: { from: ⟦a/U1/V1/#2, ${ask} }\n`,
      'step.no-outputs',
    ],
    ['a fifth frame', `${grid}  a: { from: ⟦grid/#5, ${ask} }\n`, 'step.no-outputs'],
    [
      'an output of a text',
      `  a: { chat: { model: m, prompt: p } }\n  b: { from: ⟦a/#1, chat: { model: m, prompt: p } }\n`,
      'step.no-outputs',
    ],
    [
      'an output of prompts',
      `  a: { describe: { image: "https://x.test/a.png" } }\n  b: { from: ⟦a/#1, chat: { model: m, prompt: "{{ frame }}" } }\n`,
      'step.no-outputs',
    ],
    [
      'a video as an image',
      `  a: { video: { image: "https://x.test/a.png" } }\n  b: { from: a/#1, generate: { model: m, images: [⟦parent], prompt: p } }\n`,
      'step.field',
    ],
    ['no number', `${grid}  a: { from: "grid/⟦#one", ${ask} }\n`, 'path.output'],
    ['zero', `${grid}  a: { from: "grid/⟦#0", ${ask} }\n`, 'path.output'],
    ['an optional one', '  a: { imagine: x, grid: split, path: "⟦#1? → U" }\n', 'path.output'],
    ['one beside a button', '  a: { imagine: x, grid: split, path: "⟦#1, U2" }\n', 'path.output'],
    [
      'one that a template numbers beside another',
      '  a: { imagine: x, grid: split, path: "⟦#1, #{{ 1 }} → U" }\n',
      'path.output',
    ],
    ['one as an alternative', '  a: { imagine: x, grid: split, path: "⟦#1 | U2" }\n', 'path.output'],
    ['each of them in a path', '  a: { imagine: x, grid: split, path: "⟦#*" }\n', 'path.output'],
    ['a range from zero', '  a: { imagine: x, grid: split, path: "⟦#0..#3" }\n', 'path.output'],
    ['one that is pressed', `${grid}  a: { from: grid, click: "⟦#1" }\n`, 'path.output'],
    ['a quoted one', `${grid}  a: { from: grid, click: '⟦"#1"' }\n`, 'path.reserved'],
    ['its number elsewhere', '  a: { imagine: "{{ ⟦frame }}" }\n', 'template.unknown-variable'],
    [
      'its number above it, in the step itself',
      '  a: { imagine: "{{ ⟦frame }}", grid: split, path: "#1 → U" }\n',
      'template.unknown-variable',
    ],
    [
      'its number above it, in the path',
      '  a: { imagine: x, grid: split, path: [{ button: V1, prompt: "{{ ⟦frame }}" }, "#1"] }\n',
      'template.unknown-variable',
    ],
    [
      'its number in a step that starts above it',
      '  a: { imagine: x, grid: split, path: "U1 → #1" }\n  b: { from: a/U1, imagine: "{{ ⟦frame }}" }\n',
      'template.unknown-variable',
    ],
  ])('is refused at its position: %s', async (_, steps, code) => {
    const { text, place } = marked(`name: t\nsteps:\n${steps}`);
    expect(await diagnose(text)).toContain(`${code} ${place}`);
  });

  it('says where its number is known', async () => {
    expect(await found('  a: { imagine: "{{ frame }}", grid: split, path: "#1..#2 → U" }\n')).toEqual([
      'template.unknown-variable The matrix has no variable "frame". This is read before there are outputs. "frame" is known below #1: later in the path, and in a step with from: a/#1.',
    ]);
  });

  it('says how a frame comes about', async () => {
    expect(await found(`  a: { imagine: x }\n  b: { from: a/#2, ${ask} }\n`)).toEqual([
      'step.no-outputs Step "a" makes grids of four and does not cut them, so they have no frames. Add grid: split to step "a".',
    ]);
  });

  it.each([
    ['U1', 'Write U.'],
    ['V3', 'Write V.'],
    ['Upscale (Subtle)', 'Upscale it first: U → Upscale (Subtle).'],
    ['reroll', 'Other buttons belong to the whole: start from that, without "#".'],
    ['U*', 'Other buttons belong to the whole: start from that, without "#".'],
  ])('refuses the button %s, and says which is right', async (button, hint) => {
    const [error, ...more] = await found(`${grid}  a: { from: grid/#1, click: "${button}" }\n`);
    expect(more).toEqual([]);
    expect(error).toMatch(/^step\.output-button /);
    expect(error?.endsWith(hint)).toBe(true);
  });

  it('refuses a variable of the matrix with the name of its number', async () => {
    const steps = `${grid}  a: { from: grid/#1, chat: { model: m, prompt: "{{ frame }}" } }\n`;
    const codes = (await found(steps, 'matrix: { frame: [1, 2] }\n')).map((text) => text.split(' ')[0]);
    expect(codes).toContain('step.output-name');
  });
});

describe('a value that a comment cuts off', () => {
  it.each([
    ['path: U1 → #2', 'path.dangling-arrow'],
    ['path: U1, #2', 'path.empty'],
    ['path: U1 | #2', 'path.empty'],
    ['path: #1..#4', 'schema.type'],
    ['path: #{{ n }}', 'schema.type'],
  ])('%s is to be put in quotes', async (path, code) => {
    const { diagnostics } = await parse(`name: t\nsteps:\n  a:\n    imagine: x\n    ${path}\n`);
    expect(diagnostics.map((one) => [one.code, one.line])).toEqual([[code, 5]]);
    expect(diagnostics[0]?.hint).toBe(
      'In YAML, # after a blank begins a comment: put the value in quotes, for example "#1".',
    );
  });

  it.each([
    'imagine: x\n    path:\n      - #2\n      - U',
    'chat:\n      model: m\n      prompt: p\n      images:\n        -   #{{ n }}',
  ])('an item of a list is to be put in quotes: %j', async (step) => {
    const [one, ...more] = await found(`  a:\n    ${step}\n`);
    expect(more).toEqual([]);
    expect(one).toMatch(
      /^schema\.type Item 1 of .* this is empty\. In YAML, # after a blank begins a comment/,
    );
  });

  it.each(['{ imagine: x, path: #1 }', '{ imagine: x, path: U1 → #2 → U }'])(
    '%s too, where brackets stay open',
    async (step) => {
      const { diagnostics } = await parse(`name: t\nsteps:\n  a: ${step}\n`);
      expect(diagnostics.map(({ hint }) => hint)).toEqual([
        'In YAML, # after a blank begins a comment: put the value in quotes, for example "#1".',
      ]);
    },
  );

  it('is told from a comment', async () => {
    const { diagnostics } = await parse('name: t\nsteps:\n  a:\n    imagine: x\n    path: U1, # the first\n');
    expect(diagnostics[0]?.hint).not.toContain('quotes');
  });
});
