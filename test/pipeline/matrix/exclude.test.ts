import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inRange } from '../../../src/pipeline/matrix/exclude.ts';
import { diagnose, parse } from '../diagnose.ts';

describe('a value of a range', () => {
  it('is one of those that count from its beginning to its end, however small the steps', () => {
    const whole = fc.integer({ min: -20, max: 20 });
    fc.assert(
      fc.property(
        whole,
        fc.nat(30),
        fc.constantFrom(1, 2, 3, 10),
        fc.constantFrom(1, 10, 100),
        whole,
        (from, more, step, scale, at) => {
          const range = { from: from / scale, to: (from + more) / scale, step: step / scale };
          const isOne = at >= from && at <= from + more && (at - from) % step === 0;
          expect(inRange(String(at / scale), range)).toBe(isOne);
        },
      ),
      { numRuns: 1000 },
    );
    for (const text of ['', ' 1', '1.0', '1e0', 'one'])
      expect(inRange(text, { from: 1, to: 3, step: 1 })).toBe(false);
  });

  it('may be the only one', async () => {
    const text = (to: number): string =>
      `name: t\nmatrix: { seed: { from: 3, to: ${to} } }\nsteps: { grid: { imagine: "{{ seed }}" } }\n`;
    expect([await diagnose(text(3)), await diagnose(text(2))]).toEqual([[], ['matrix.range 2:32']]);
  });
});

it('an exclude by several members is explained by the rule, and by one by the values that there are', async () => {
  const hintFor = async (members: string): Promise<string | undefined> => {
    const text = `name: t
matrix:
  m: [{ name: ink, size: 1 }, { name: oil, size: 2 }]
  exclude: [{ m: { ${members} } }]
steps: { grid: { imagine: "{{ m.name }} {{ m.size }}" } }
`;
    const [first] = (await parse(text)).diagnostics;
    expect(first?.code).toBe('matrix.exclude-nothing');
    return first?.hint;
  };
  expect(await hintFor('name: inc')).toContain('Did you mean "ink"?');
  expect(await hintFor('name: ink, size: 2')).toContain('by the members it names');
});
