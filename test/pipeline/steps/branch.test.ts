import { describe, expect, it } from 'vitest';
import { parse } from '../diagnose.ts';

const steps = `name: t
steps:
  grid: { imagine: a fox, path: "U1..U4 → Vary (Strong), Zoom Out 2x |   Zoom Out 1.5x" }
  wild: { imagine: an owl, path: "U* → Vary (Subtle)?" }
  lone: { imagine: a lynx, path: U1 → V1 }
  root: { imagine: a cat }
`;

/** The codes and messages of one more step, or of several. */
async function codes(more: string): Promise<readonly string[]> {
  const { diagnostics } = await parse(`${steps}${more}\n`);
  return diagnostics.map(({ code }) => code);
}

describe('an address', () => {
  it.each([
    'grid',
    'grid/U4',
    'grid/*',
    'grid/**',
    'grid/U2/Vary (Strong)',
    'grid/U2/Vary   (Strong)',
    'grid/U2/Zoom Out 2x|Zoom Out 1.5x',
    'grid/U2/*',
    'grid/U2/**',
    'wild/U3',
    'wild/U3/Vary (Subtle)',
    'wild/*',
    'root',
  ])('leads to branches: %s', async (address) => {
    expect(await codes(`  next: { from: "${address}", click: reroll }`)).toEqual([]);
    expect(await codes(`  next: { gather: "${address}", imagine: the best }`)).toEqual([]);
  });

  it.each([
    [
      'grid/U5',
      'grid has no branch "U5".',
      'Did you mean "U1"? The branches there are "U1", "U2", "U3", "U4".',
    ],
    [
      'grid/Vary (Strong)',
      'grid has no branch "Vary (Strong)".',
      'The branches there are "U1", "U2", "U3", "U4".',
    ],
    [
      'grid/U1/Zoom Out 2x',
      'grid/U1 has no branch "Zoom Out 2x".',
      'Did you mean "Zoom Out 2x | Zoom Out 1.5x"? The branches there are "Vary (Strong)", "Zoom Out 2x | Zoom Out 1.5x".',
    ],
    [
      'grid/U1/Vary (Strong)/V1',
      'The path of "grid" ends at grid/U1/Vary (Strong), so there is no grid/U1/Vary (Strong)/V1.',
      'Write grid/U1/Vary (Strong).',
    ],
    [
      'wild/V1',
      'wild has no branch "V1".',
      'The only branch there is "U*". If V1 is meant, add it to the path of "wild": U*, V1.',
    ],
    ['root/**', 'Step "root" has no path, so there is no root/**.', 'Write root.'],
  ])('is refused if there is no such branch: %s', async (address, message, hint) => {
    const { diagnostics } = await parse(`${steps}  next: { from: "${address}", click: reroll }\n`);
    expect(diagnostics).toMatchObject([{ code: 'step.unknown-branch', message, hint }]);
    const gathered = await parse(`${steps}  next: { gather: "${address}", blend: {} }\n`);
    expect(gathered.diagnostics[0]).toMatchObject({ code: 'step.unknown-branch', message, hint });
  });
});

describe('a step that a template names', () => {
  const uses = (name: string, from?: string): string =>
    `  user: { imagine: "{{ steps.${name}.prompt }}"${from === undefined ? '' : `, from: "${from}"`} }`;
  const other = (from: string): string => `  other: { from: "${from}", click: reroll }\n`;

  it.each([
    ['a root is one per cell', uses('grid')],
    ['an ancestor is one', uses('grid', 'grid/**')],
    ['an ancestor of an ancestor is one', `${other('grid/*')}${uses('grid', 'other')}`],
    ['the step it is from is one', `${other('grid/*')}${uses('other', 'other')}`],
    ['one branch is one', `${other('grid/U1')}${uses('other')}`],
    ['one branch is one from another branch', `${other('grid/U1')}${uses('other', 'grid/U2')}`],
    ['on the same branch, any is one', `${other('grid/*')}${uses('other', 'grid/*')}`],
    ['on one branch, any is one', `${other('grid/*')}${uses('other', 'grid/U3')}`],
    ['below a branch, any is one', `${other('grid/*')}${uses('other', 'grid/U3/Vary (Strong)')}`],
    ['on the same leaf, any is one', `${other('grid/**')}${uses('other', 'grid/**')}`],
    ['any of a path without choice is one', `${other('lone/**')}${uses('other')}`],
    ['a wildcard that both stand on is one', `${other('wild/*')}${uses('other', 'wild/*')}`],
    ['a found branch that both name is one', `${other('wild/U1')}${uses('other')}`],
  ])('can be used: %s', async (_why, more) => {
    expect(await codes(more)).toEqual([]);
  });

  it.each([
    ['any branch, seen from the cell', `${other('grid/*')}${uses('other')}`],
    ['any branch, seen from the operation', `${other('grid/*')}${uses('other', 'grid')}`],
    ['any leaf, seen from a branch', `${other('grid/**')}${uses('other', 'grid/U1')}`],
    ['any branch below, seen from another branch', `${other('grid/U1/*')}${uses('other', 'grid/U2')}`],
    ['a wildcard, seen from the operation', `${other('wild/*')}${uses('other', 'wild')}`],
    ['one branch, seen from any, where it branches below', `${other('grid/U1/*')}${uses('other', 'grid/*')}`],
    ['what continues several', `${other('grid/*')}  last: { from: other, click: V1 }\n${uses('last')}`],
  ])('is refused if it may have several jobs: %s', async (_why, more) => {
    expect(await codes(more)).toEqual(['step.several']);
  });

  it('is reported with a hint', async () => {
    const { diagnostics } = await parse(`${steps}${other('grid/*')}${uses('other')}\n`);
    expect(diagnostics[0]?.hint).toContain('gather: other');
  });

  const judge = (gather: string, prompt = 'the best', more = ''): string =>
    `  judge: { gather: "${gather}", imagine: "${prompt}"${more} }\n`;

  it.each([
    ['what gathers is one', `${judge('grid/*')}${uses('judge')}`],
    ['what gathers is one, from anywhere', `${judge('grid/*')}${uses('judge', 'grid/U1/**')}`],
    ['an own path does not make it several', `${judge('grid/*', 'x', ', path: U1..U4')}${uses('judge')}`],
    ['what continues it is one', `${judge('wild/*')}${other('judge')}${uses('other')}`],
    ['a step that gathers reads a root', judge('grid/*', '{{ steps.grid.task_id }}')],
    [
      'a step that gathers reads one branch',
      `${other('grid/U1')}${judge('grid/*', '{{ steps.other.button }}')}`,
    ],
  ])('can be used: %s', async (_why, more) => {
    expect(await codes(more)).toEqual([]);
  });

  it('has one job for a step that gathers it', async () => {
    const { diagnostics } = await parse(
      `${steps}${other('grid/*')}${judge('other', '{{ steps.other.button }}')}\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['step.several']);
    expect(diagnostics[0]?.hint).toMatch(/^A template reads one job/);
    expect(await codes(`${other('grid/*')}${judge('grid/U1', '{{ steps.other.button }}')}`)).toEqual([
      'step.several',
    ]);
  });
});

describe('steps that wait for each other', () => {
  it('are one error for each cycle, however long', async () => {
    const { diagnostics } = await parse(`name: t
steps:
  a: { imagine: "{{ steps.b.prompt }}" }
  b: { imagine: "{{ steps.c.prompt }} {{ steps.a.prompt }}" }
  c: { imagine: "{{ steps.a.prompt }}" }
  d: { imagine: "{{ steps.e.prompt }}" }
  e: { imagine: "{{ steps.d.prompt }} {{ steps.a.prompt }}" }
  after: { imagine: "{{ steps.a.prompt }}" }
`);
    expect(diagnostics.map(({ code, line, message }) => [code, line, message])).toEqual([
      ['step.cycle', 3, 'Steps wait for each other: a → b → a.'],
      ['step.cycle', 6, 'Steps wait for each other: d → e → d.'],
    ]);
  });
});
