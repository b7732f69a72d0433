import { describe, expect, it } from 'vitest';
import { parse } from '../../diagnose.ts';

const head = 'name: t\nmatrix: { n: [1, 2] }\nsteps:\n  grid: { imagine: "a fox {{ n }}", path: U1..U4 }\n';
const files = { 'm.png': '', 'a.png': '', 'b.png': '' };

/** What is said about these steps. */
const said = async (steps: string): Promise<readonly { code: string; hint?: string; message: string }[]> =>
  (await parse(head + steps, files)).diagnostics;
const codes = async (steps: string): Promise<readonly string[]> =>
  (await said(steps)).map(({ code }) => code).filter((code) => code !== 'button.unknown');

describe('a button that opens a window', () => {
  it.each([
    ['a region with prompt and mask', 'click: Vary (Region), prompt: p, mask: m.png'],
    ['a zoom at both bounds', 'click: Custom Zoom, prompt: p --zoom 1 --ar 1:1'],
    ['a zoom at the upper bound', 'click: Custom Zoom, prompt: —zoom=2'],
    ['a zoom by a template', 'click: Custom Zoom, prompt: "p --zoom {{ n }}"'],
    ['a zoom somewhere in a template', 'click: Custom Zoom, prompt: "p {{ n }}"'],
    ['a remix', 'click: V1, prompt: p, remix: true'],
    ['a remix without a prompt', 'click: reroll, remix: true'],
    ['a label that is not known yet', 'click: "Vary {{ n }}", prompt: p, mask: m.png, remix: true'],
    ['a label that nobody knows', 'click: Blur, prompt: p, mask: m.png'],
    ['a wildcard', 'click: U*, prompt: p, mask: m.png'],
    ['an alternative that is not known', 'click: U1 | Blur, prompt: p, mask: m.png'],
    ['a manual animation', 'click: /video.*manual/, prompt: p'],
    ['a suggestion of a describe', 'click: prompt 1, prompt: p'],
    ['a suggestion as it is', 'click: prompt 1'],
  ])('%s', async (_name, fields) => {
    expect(await codes(`  b: { from: grid/U1, ${fields} }\n`)).toEqual([]);
  });

  it('is reported at its position, with the text to write', async () => {
    const [own] = await said('  b: { from: grid/U1, click: Custom Zoom }\n');
    expect(own?.hint).toBe('Write beside click: prompt: "a fox --zoom 1.5"');
    const [path] = await said('  b: { imagine: p, path: U1 → Vary (Region) }\n');
    expect(path?.hint).toBe(
      'Write the path as a list: - { button: "Vary (Region)", prompt: a red scarf, mask: masks/neck.png }',
    );
  });

  it('is reported once with the limits of a zoom', async () => {
    const [far] = await said('  b: { from: grid/U1, click: Custom Zoom, prompt: p --zoom 3 }\n');
    expect([far?.message, far?.hint]).toEqual([
      '--zoom 3 is not from 1 to 2, so it may be refused.',
      'For example --zoom 1.5.',
    ]);
  });

  it('does not replace errors of the schema', async () => {
    expect(await codes('  b: { from: grid/U1, click: Custom Zoom, prompt: [] }\n')).toEqual(['schema.type']);
    expect(await codes('  b: { imagine: p, path: [U1, { button: Custom Zoom, prompt: "{{" }] }\n')).toEqual([
      'template.syntax',
    ]);
  });

  it('only causes a warning for answers that it does not need', async () => {
    const { diagnostics } = await parse(`${head}  b: { from: grid/U1, click: U1, prompt: p, remix: true }\n`);
    expect(diagnostics.filter(({ code }) => code === 'modal.unused')).toMatchObject([
      { severity: 'warning' },
      { severity: 'warning' },
    ]);
  });
});

describe('a blend', () => {
  it.each([
    ['all of a fan-out', 'gather: grid/*, blend: {}'],
    ['one, where it names others', 'gather: grid/U1, blend: { images: [a.png, b.png] }'],
    ['what a wildcard finds', 'gather: wild/*, blend: {}'],
    ['optional ones', 'gather: some/*, blend: {}'],
    ['those of a text model, however many', 'gather: drawn, blend: {}'],
    ['those of a text model by its name', 'blend: { images: [steps.drawn] }'],
    ['those of a text model that it continues', 'from: drawn, blend: { images: [parent] }'],
  ])('may have %s', async (_name, fields) => {
    const steps = `  wild: { imagine: p, path: U* }
  some: { imagine: p, path: "U1..U4?, V1..V4?" }
  drawn: { generate: { model: m, prompt: p, generationConfig: { responseModalities: [IMAGE] } } }
  b: { ${fields} }
`;
    expect(await codes(steps)).toEqual([]);
  });

  it('is reported with the number of its images', async () => {
    const message = async (steps: string) => (await said(steps))[0]?.message;
    const six = '  b: { from: grid/*, click: V1, path: "U1, U2?" }\n';
    expect(await message(`${six}  c: { gather: b/**, blend: {} }\n`)).toBeUndefined();
    const many = '  b: { from: grid/*, click: V1, path: "U1, U2, U3?" }\n';
    expect(await message(`${many}  c: { gather: b/**, blend: {} }\n`)).toContain('"b/**" is at least 8');
    const few = '  b: { from: grid/U1, click: V1, when: n > 1 }\n';
    expect(await message(`${few}  c: { gather: b, blend: {} }\n`)).toContain('"b" is at most 1');
  });
});

describe('results of entry points', () => {
  it('are read by later steps, and their buttons make images or videos', async () => {
    const steps = `  words: { from: grid/U1, describe: { image: parent }, path: prompt 1..prompt 4 }
  drawn: { from: words/prompt 2, imagine: { prompt: "{{ steps.words.prompts[1] }} {{ steps.words.text }}", images: [parent] } }
  mix: { gather: words/*, blend: {} }
  clip: { from: grid/U1, video: { image: parent, loop: "{{ n }}" }, path: U1 }
  longer: { from: clip, video: { extend: "{{ n }}" } }
  longest: { from: longer, video: { extend: 1 } }
  up: { from: longest, click: U1 }
  say: { imagine: "{{ steps.clip.video_url }} {{ steps.up.video_url }}", from: up }
`;
    expect(await codes(steps)).toEqual([]);
  });

  it('are lists where a kind makes several', async () => {
    const steps = `  words: { from: grid/U1, describe: { image: parent } }
  drawn: { from: words, imagine: "{{ steps.words.prompts }}" }
`;
    expect(await codes(steps)).toEqual(['step.no-text']);
  });
});
