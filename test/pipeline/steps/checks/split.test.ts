import { describe, expect, it } from 'vitest';
import { diagnose, marked, parse } from '../../diagnose.ts';

const grid = '  grid: { imagine: a fox, path: U1..U4 }\n';

describe('grid: split', () => {
  it.each([
    ['an imagine', '  a: { imagine: a fox, grid: split }\n'],
    ['an imagine whose path upscales', '  a: { imagine: a fox, grid: split, path: U1 → Vary (Strong) }\n'],
    ['a blend', '  a: { blend: { images: [a.png, b.png] }, grid: split }\n'],
    ['an edit', '  a: { edit: { image: a.png, prompt: p }, grid: split }\n'],
    ['a click that makes a grid', `${grid}  b: { from: grid/U1, click: Zoom Out 2x, grid: split }\n`],
    ['a click on a grid', `${grid}  b: { from: grid, click: reroll, grid: split }\n`],
    [
      'a click of which nobody knows what it makes',
      `${grid}  b: { from: grid, click: /JOB::x/, grid: split }\n`,
    ],
  ])('is accepted for %s', async (_, steps) => {
    const { pipeline, diagnostics } = await parse(`name: t\nsteps:\n${steps}`, { 'a.png': '', 'b.png': '' });
    expect(diagnostics).toEqual([]);
    expect(pipeline?.steps.at(-1)?.split).toBe(true);
  });

  it('is absent by default', async () => {
    const { pipeline } = await parse('name: t\nsteps: { a: { imagine: a fox } }\n');
    expect(pipeline?.steps[0]).not.toHaveProperty('split');
  });

  it.each([
    ['another word', 'schema.value', 'imagine: a fox, grid: ⟦splits'],
    ['no word', 'schema.value', 'imagine: a fox, grid: ⟦true'],
    ['a text step', 'schema.unknown-key', 'generate: { model: m, prompt: p }, ⟦grid: split'],
    ['a chat step', 'schema.unknown-key', 'chat: { model: m, prompt: p }, ⟦grid: split'],
    ['a describe step', 'schema.unknown-key', 'describe: { image: a.png }, ⟦grid: split'],
    ['a video step', 'schema.unknown-key', 'video: { image: a.png }, ⟦grid: split'],
  ])('is refused for %s, at its position', async (_, code, step) => {
    const { text, place } = marked(`name: t\nsteps: { a: { ${step} } }\n`);
    expect(await diagnose(text, { 'a.png': '' })).toEqual([`${code} ${place}`]);
  });

  it.each([
    ['a text', 'schema.type', 'imagine: a fox, seed: ⟦"yes"'],
    ['a number', 'schema.type', 'imagine: a fox, seed: ⟦7'],
    ['a text step', 'schema.unknown-key', 'generate: { model: m, prompt: p }, ⟦seed: true'],
    ['a chat step', 'schema.unknown-key', 'chat: { model: m, prompt: p }, ⟦seed: true'],
    ['a describe step', 'schema.unknown-key', 'describe: { image: a.png }, ⟦seed: true'],
    ['a shorten step', 'schema.unknown-key', 'shorten: { prompt: p }, ⟦seed: true'],
    ['a video step', 'schema.unknown-key', 'video: { image: a.png }, ⟦seed: true'],
  ])('seed: true is refused for %s, at its position', async (_, code, step) => {
    const { text, place } = marked(`name: t\nsteps: { a: { ${step} } }\n`);
    expect(await diagnose(text, { 'a.png': '' })).toEqual([`${code} ${place}`]);
  });

  it('is an error with keep: false, and a warning for single images only', async () => {
    const severities = async (steps: string): Promise<readonly string[]> =>
      (await parse(`name: t\nsteps:\n${steps}`)).diagnostics.map(
        ({ code, severity }) => `${code} ${severity}`,
      );
    expect(await severities('  a: { imagine: a fox, keep: false, grid: split }\n')).toEqual([
      'step.split-not-kept error',
    ]);
    expect(await severities(`${grid}  b: { from: grid, click: U1, grid: split }\n`)).toEqual([
      'step.split-single warning',
    ]);
  });
});
