import { describe, expect, it } from 'vitest';
import { parse, placed } from '../diagnose.ts';

describe('a line with the wrong indentation', () => {
  it.each([
    [
      'imagine beside its step',
      '  grid:\n  imagine: a fox\n',
      'schema.type 4:3',
      'Is "imagine" meant to be inside "grid"? Indent it further than "grid".',
    ],
    [
      'an operation beside its step',
      '  grid:\n  imagine:\n    prompt: a fox\n',
      'schema.type 4:3',
      'Is "imagine" meant to be inside "grid"?',
    ],
    [
      'a path beside its step',
      '  grid:\n    imagine: a fox\n  path: U1\n',
      'schema.type 5:3',
      'Is "path" meant to be inside "grid"?',
    ],
    [
      'two keys beside their step',
      '  grid:\n  imagine: a fox\n  path: U1\n',
      'schema.type 4:3',
      'Are "imagine", "path" meant to be inside "grid"? Indent them further than "grid".',
    ],
    [
      'a path inside imagine',
      '  grid:\n    imagine:\n      prompt: a fox\n      path: U1\n',
      'schema.unknown-key 6:7',
      'It is a key of the step, beside imagine: indent both alike.',
    ],
    [
      'a prompt beside its operation',
      '  grid:\n    generate:\n      model: m\n      prompt: p\n    system: s\n',
      'schema.unknown-key 7:5',
      'Is "system" meant to be inside "generate"? Indent it further than "generate".',
    ],
    [
      'a field beside a short form',
      '  grid:\n    imagine: a fox\n    botType: b\n',
      'schema.unknown-key 5:5',
      'Write it inside imagine: imagine: { prompt: …, botType: … }.',
    ],
    [
      'a step inside a step',
      '  grid:\n    imagine: a fox\n    b:\n      from: grid\n      click: U1\n',
      'schema.unknown-key 5:5',
      'Is "b" meant to be a step? It stands beside "grid": indent both alike.',
    ],
    [
      'a block of the pipeline inside a step',
      '  grid:\n    imagine: a fox\n    limits: { tasks: 3 }\n',
      'schema.unknown-key 5:5',
      '"limits" is a key of the pipeline: write it at the beginning of a line.',
    ],
  ])('%s', async (_what, steps, place, hint) => {
    const { diagnostics } = await parse(`name: t\nsteps:\n${steps}`);
    expect(diagnostics.map(placed)).toEqual([place]);
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  it('is read as it was meant, so that other steps are checked against it without further errors', async () => {
    const { diagnostics } = await parse(
      'name: t\nsteps:\n  grid:\n  imagine: a fox\n  path: U1\n  b:\n    from: grid/U1\n    click: Vary (Strong)\n  c:\n    from: grid/U7\n    click: U1\n',
    );
    expect(diagnostics.map(placed)).toEqual(['schema.type 4:3', 'step.unknown-branch 10:11']);
  });

  it('does not affect a step that has the name of a key', async () => {
    const { pipeline } = await parse(
      'name: t\nsteps:\n  grid: { imagine: a fox }\n  path: { from: grid, click: U1 }\n  imagine: { imagine: an owl }\n',
    );
    expect(pipeline?.steps.map(({ name }) => name)).toEqual(['grid', 'path', 'imagine']);
  });

  it.each([
    [
      'steps:\ngrid: { imagine: a fox }',
      'schema.unknown-key 3:1',
      'Is "grid" meant to be inside "steps"? Indent it further than "steps".',
    ],
    [
      'steps: { g: { imagine: a fox } }\nlimits:\ntasks: 3',
      'schema.unknown-key 4:1',
      'Is "tasks" meant to be inside "limits"?',
    ],
    [
      'steps: { g: { imagine: a fox } }\nmatrix:\nanimal: [fox]',
      'schema.unknown-key 4:1',
      'Is "animal" meant to be inside "matrix"?',
    ],
    [
      'steps: { g: { imagine: a fox } }\nrepeat: 2',
      'schema.unknown-key 3:1',
      '"repeat" is a key of matrix: is it meant to be inside "matrix"?',
    ],
    [
      'steps: { g: { imagine: a fox } }\nimagine: an owl',
      'schema.unknown-key 3:1',
      'a step has a name: steps: { grid: { imagine: … } }.',
    ],
    [
      'steps: { g: { imagine: a fox } }\nlimits: { attempts: 3 }',
      'schema.unknown-key 3:11',
      '"attempts" is a key of retry',
    ],
  ])('is reported at the top of the file: %j', async (text, place, hint) => {
    const { diagnostics } = await parse(`name: t\n${text}\n`);
    expect(diagnostics.map(placed)).toEqual([place]);
    expect(diagnostics[0]?.hint).toContain(hint);
  });
});
