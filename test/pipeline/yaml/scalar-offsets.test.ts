import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Document, Scalar, stringify } from 'yaml';
import { DiagnosticCollector } from '../../../src/pipeline/diagnostics/collector.ts';
import { SourceText } from '../../../src/pipeline/diagnostics/source.ts';
import { isText, member } from '../../../src/pipeline/yaml/node.ts';
import { readYaml } from '../../../src/pipeline/yaml/read.ts';
import { scalarLocator } from '../../../src/pipeline/yaml/scalar-offsets.ts';
import { diagnose } from '../diagnose.ts';

/** The text of the key `a` of a YAML text, and what stands in the file where each of its units is located. */
function located(yaml: string): { text: string; found: string } {
  const source = new SourceText('t.yaml', yaml);
  const node = member(readYaml(source, new DiagnosticCollector(source)), 'a');
  if (!isText(node)) throw new Error('Internal error: the test wrote no text');
  const locate = scalarLocator(source, node);
  const found = Array.from({ length: node.value.length }, (_, offset) => {
    const { line, column } = locate(offset, 1);
    return yaml[source.lineOffset(line) + column - 1] ?? '';
  });
  return { text: node.value, found: found.join('') };
}

const solid = (text: string): string => text.replaceAll(/\s/g, ' ');

describe('offsets in a scalar', () => {
  it.each(['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const)(
    'are found in the file: %s',
    (type) => {
      const words = fc.array(fc.stringMatching(/^[a-zäé{}'日]{1,30}$/), { minLength: 1, maxLength: 30 });
      const between = fc.constantFrom(' ', ' ', '\n');
      const law = fc.property(words, between, (parts, gap) => {
        const scalar = new Scalar(`x${parts.join(gap)}`);
        scalar.type = type;
        const { text, found } = located(stringify(new Document({ a: scalar }), { lineWidth: 40 }));
        return text.split('').every((unit, index) => /\s/.test(unit) || found[index] === unit);
      });
      expect(() => fc.assert(law)).not.toThrow();
    },
  );

  it('are correct after escapes of every length', () => {
    const { text, found } = located('a: "\\x41\\u0042\\U0001F504\\n\\\\c\\"d\\\n   e"');
    expect(text).toBe('AB🔄\n\\c"de');
    expect(solid(found)).toBe('\\\\\\\\\\\\c\\de');
  });

  it('are correct in folded and indented lines', () => {
    expect(located('a: >-\n  one\n  two\n\n  three\n').found.replaceAll(/\s/g, '')).toBe('onetwothree');
    expect(located("a: 'it''s\n  here'").found.replaceAll(/\s/g, '')).toBe("it'shere");
  });

  it('lead to the line of the error', async () => {
    const text = (body: string): string => `name: t\nsteps:\n  grid:\n    imagine: ${body}\n`;
    expect(await diagnose(text('|\n      a fox\n      {{ nope }} here'))).toEqual([
      'template.unknown-variable 6:10',
    ]);
    expect(await diagnose(text('>-\n      a fox\n\n      and {{ nope }} here'))).toEqual([
      'template.unknown-variable 7:14',
    ]);
    expect(
      await diagnose(text('a fox\n      and {{ nope }} here'.replace('{{', "'{{'").replace("'{{'", '{{'))),
    ).toEqual(['template.unknown-variable 5:14']);
    expect(await diagnose(text("'it''s {{ nope }}'"))).toEqual(['template.unknown-variable 4:24']);
    expect(await diagnose(text('"\\u00e9\\n {{ nope }}"'))).toEqual(['template.unknown-variable 4:27']);
  });
});
