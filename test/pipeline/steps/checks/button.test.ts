import { describe, expect, it } from 'vitest';
import { parse } from '../../diagnose.ts';

/** What is said of the buttons of a path. */
async function said(path: string, matrix = ''): Promise<readonly (readonly [string, string | undefined])[]> {
  const text = `name: t\n${matrix}steps:\n  grid:\n    imagine: "a fox {{ repeat }}"\n    path: ${JSON.stringify(path)}\n`;
  const { pipeline, diagnostics } = await parse(text);
  // A gateway may offer more than is known: the file is good.
  expect(pipeline).toBeDefined();
  return diagnostics
    .filter(({ code }) => code === 'button.unknown')
    .map(({ severity, message, hint }) => {
      expect(severity).toBe('warning');
      return [/buttons? "(.*?)";/.exec(message)?.[1] ?? '', hint];
    });
}

describe('a button that no known version offers', () => {
  it.each([
    ['U5', 'U5', 'Did you mean "U1", "U2", "U3"?'],
    ['U1 → Vary Strong', 'Vary Strong', 'Did you mean "Vary (Strong)"?'],
    ['U1 → vary (subtle)', 'vary (subtle)', 'Did you mean "Vary (Subtle)"?'],
    ['U1 → zoom out 2', 'zoom out 2', 'Did you mean "Zoom Out 2x"?'],
    ['panleft', 'panleft', 'Did you mean "pan left"?'],
    [
      'U1 > Vary (Strong)',
      'U1 > Vary (Strong)',
      'Write one button after the other as U1 → Vary (Strong) (or ->).',
    ],
    ['U1 => V1', 'U1 => V1', 'Write one button after the other as U1 → V1 (or ->).'],
    ['U1 / V1', 'U1 / V1', 'Write one button after the other as U1 → V1 (or ->).'],
    ['U1 & U2', 'U1 & U2', 'Write several buttons of one task as U1, U2.'],
    ['U1 U2', 'U1 U2', 'Write several buttons of one task as U1, U2, one after the other as U1 → U2.'],
    ['Quux', 'Quux', 'promptpress show'],
  ])('%s is reported, with the nearest label', async (path, label, hint) => {
    const found = await said(path);
    expect(found.map(([name]) => name)).toEqual([label]);
    expect(found[0]?.[1]).toContain(hint);
  });

  it.each([
    'U1..U4 → Vary (Strong)',
    'U* → Vary (Subtle)?',
    'U1 → Upscale (Subtle) | Upscale (2x)',
    'U1 → Zoom Out 1.5x → 🔄',
    'U1 → ⬅️',
    'reroll → V4',
    'U1 → pan left',
    '/anything::at::all/',
    'U1 → *',
  ])('is not reported for %s', async (path) => {
    expect(await said(path)).toEqual([]);
  });

  it('is reported once for a range, with the number of buttons', async () => {
    const { diagnostics } = await parse('name: t\nsteps:\n  grid: { imagine: a fox, path: U1..U40 }\n');
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'No known model version offers any of the buttons "U5", "U6", "U7" and 33 more; the click would fail after its image is paid.',
    ]);
  });

  it('is reported for each alternative separately', async () => {
    expect((await said('Upscale (Sutle) | Upscale (3x)')).map(([label]) => label)).toEqual([
      'Upscale (Sutle)',
      'Upscale (3x)',
    ]);
  });

  it('is reported so rarely that a file with very many of them stays valid', async () => {
    const steps = Array.from({ length: 400 }, (_, n) => `  s${n}: { imagine: x, path: "X1,X2,X3" }`);
    const { pipeline, diagnostics } = await parse(['name: t', 'steps:', ...steps, ''].join('\n'));
    expect(pipeline).toBeDefined();
    expect(diagnostics.length).toBe(200);
  });

  it('is reported for templates whose result the file determines', async () => {
    const found = await said('U{{ n }}', 'matrix: { n: [1, 5, 2, 6] }\n');
    expect(found.map(([label]) => label)).toEqual(['U5", "U6']);
    expect(await said('U{{ n }}', 'matrix: { n: [1, 5], exclude: [{ n: 5 }] }\n')).toEqual([]);
    expect(await said('U{{ n }}', 'matrix: { n: { from: 1, to: 9 } }\n')).toEqual([]);
    const many = await said('U{{ n }}', 'matrix: { n: [5, 6, 7, 8, 9] }\n');
    expect(many.map(([label]) => label)).toEqual(['U5", "U6", "U7']);
  });
});
