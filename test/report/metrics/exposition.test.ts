import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposition } from '../../../src/report/metrics/exposition.ts';
import { parseExposition } from '../../rig/exposition.ts';

/** Of what the format has signs for, and of what it has not. */
const texts = fc.string({
  unit: fc.constantFrom('a', ' ', '"', '\\', '\n', 'n', '{', '}', ',', '=', '#', 'ä', '\u2028', '🦊'),
});

describe('exposition', () => {
  it('writes HELP, TYPE and samples, and leaves out metrics without samples', () => {
    const text = exposition(
      [
        { name: 'a_total', help: 'Of a.', type: 'counter', samples: [{ value: 2 }] },
        { name: 'b', help: 'Of b.', type: 'gauge', samples: [] },
        {
          name: 'c_seconds',
          help: 'Of c.',
          type: 'summary',
          samples: [
            { suffix: '_sum', value: 0.5, labels: { x: 'y' } },
            { suffix: '_count', value: 3, labels: { x: 'y' } },
          ],
        },
      ],
      { pipeline: 'foxes' },
    );
    expect(text).toBe(
      [
        '# HELP a_total Of a.',
        '# TYPE a_total counter',
        'a_total{pipeline="foxes"} 2',
        '# HELP c_seconds Of c.',
        '# TYPE c_seconds summary',
        'c_seconds_sum{pipeline="foxes",x="y"} 0.5',
        'c_seconds_count{pipeline="foxes",x="y"} 3',
        '',
      ].join('\n'),
    );
  });

  it('escapes labels, help and values so that a reader gets them back', () => {
    fc.assert(
      fc.property(texts, texts, fc.double(), (label, help, value) => {
        fc.pre(help !== '');
        const metric = {
          name: 'm',
          help,
          type: 'gauge',
          samples: [{ labels: { l: label }, value }],
        } as const;
        const read = parseExposition(exposition([metric], {})).get('m');
        expect(read?.help).toBe(help);
        expect(read?.samples[0]?.labels).toEqual({ l: label });
        expect(read?.samples[0]?.value).toBe(Object.is(value, -0) ? 0 : value);
      }),
    );
  });
});
