import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { plainWords } from '../../../src/pipeline/yaml/plain-words.ts';
import { parse } from '../diagnose.ts';

describe('an error of the YAML library is explained in plain words', () => {
  it.each([
    ['a: "x" y', 'There is text after the end of a value'],
    ['a: @x', 'A text cannot begin with this character'],
    ['a: [x,, y]', 'A value is missing before this comma.'],
    ['a: {x: 1 "y": 2}', 'A comma is missing'],
    ['a: "\\q"', 'A backslash in double quotes'],
    ['a: "x"#y', 'There is no space before this #'],
    ['a: | x\n  y', 'YAML cannot read this text.'],
    ['a: [x]]', 'This bracket closes nothing'],
    ['a: >2x y', 'There is text after the | or >'],
    ['a: &x &y z', 'A value has two tags or two anchors.'],
    ['a: &x *x', 'An anchor (&name) or an alias (*name) is not well formed.'],
  ])('%s', async (text, message) => {
    const { diagnostics } = await parse(`name: t\n${text}\n`);
    expect(diagnostics[0]?.code).toBe('yaml.syntax');
    expect(diagnostics[0]?.message).toContain(message);
    expect(diagnostics[0]?.hint).not.toBeUndefined();
  });

  it('for any error', () => {
    const { message, hint } = plainWords({ code: 'IMPOSSIBLE', message: 'Block scalar header not found' });
    expect([message, hint]).toEqual([
      'YAML cannot be read from here on.',
      'Look at the brackets, the quotes and the indentation of this line and the one above.',
    ]);
  });

  it('without the terms of the library', () => {
    const folder = fileURLToPath(new URL('../../../node_modules/yaml/dist/compose/', import.meta.url));
    const sources = readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(folder + name, 'utf8'));
    const said = sources.flatMap((source) => [
      ...source.matchAll(/'([A-Z_]{6,})', ['"`]([A-Z][^'"`$]{8,})/g),
    ]);
    expect(said.length).toBeGreaterThan(15);
    for (const [, code = '', message = ''] of said)
      expect(plainWords({ code: code as 'IMPOSSIBLE', message }).message).not.toContain(message);
  });
});
