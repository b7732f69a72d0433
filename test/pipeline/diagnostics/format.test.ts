import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/pipeline/diagnostics/diagnostic.ts';
import { formatDiagnostic } from '../../../src/pipeline/diagnostics/format.ts';
import { parse } from '../diagnose.ts';

const diagnostic = (part: Partial<Diagnostic>): Diagnostic => ({
  severity: 'error',
  code: 'schema.value',
  message: 'Wrong.',
  file: 't.yaml',
  line: 4,
  column: 1,
  length: 1,
  sourceLine: 'x',
  ...part,
});

/** The source line and the mark below it, the gutter cut off. */
function excerpt(part: Partial<Diagnostic>): readonly string[] {
  const lines = formatDiagnostic(diagnostic(part)).split('\n');
  return lines.slice(1, 3).map((line) => line.slice(line.indexOf('|') + 2));
}

describe('a diagnostic as text', () => {
  it('shows place, code, message, line, mark and hint', () => {
    const text = formatDiagnostic(
      diagnostic({
        column: 10,
        length: 4,
        sourceLine: '  speed: fats',
        message: 'No.',
        hint: 'Did you mean "fast"?',
      }),
    );
    expect(text).toBe(
      [
        't.yaml:4:10 error schema.value No.',
        '  4 |   speed: fats',
        '    |          ^~~~',
        '    = Did you mean "fast"?',
      ].join('\n'),
    );
  });

  it('aligns its gutter for long line numbers', () => {
    expect(
      formatDiagnostic(diagnostic({ line: 12_345 }))
        .split('\n')
        .slice(1),
    ).toEqual(['  12345 | x', '        | ^']);
  });

  it('places its mark correctly after tabs', () => {
    expect(excerpt({ column: 6, length: 1, sourceLine: '\ta: \tb' })).toEqual(['    a:  b', '        ^']);
  });

  it('places its mark correctly after wide characters, emoji and combining marks', () => {
    expect(excerpt({ column: 3, length: 2, sourceLine: '日本xy' })).toEqual(['日本xy', '    ^~']);
    expect(excerpt({ column: 1, length: 2, sourceLine: '日本xy' })).toEqual(['日本xy', '^~~~']);
    expect(excerpt({ column: 4, length: 1, sourceLine: '🔄 x' })).toEqual(['🔄 x', '   ^']);
    expect(excerpt({ column: 4, length: 1, sourceLine: 'e\u0301 x' })).toEqual(['e\u0301 x', '  ^']);
    expect(excerpt({ column: 9, length: 1, sourceLine: '👩‍👩‍👧x' })).toEqual(['👩‍👩‍👧x', '  ^']);
    expect(excerpt({ column: 4, length: 1, sourceLine: '⬅️ x' })).toEqual(['⬅️ x', '   ^']);
  });

  it('replaces terminal control characters in every part', () => {
    const evil = '\u001b]0;x\u0007\u009b31m\u202e\r';
    const text = formatDiagnostic(
      diagnostic({ file: evil, message: evil, hint: evil, sourceLine: `${evil}x`, column: 12 }),
    );
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text.split('\n')).toHaveLength(4);
  });

  it('places its mark correctly after replaced control characters', () => {
    expect(excerpt({ column: 3, length: 1, sourceLine: '\u001b\u0007x' })).toEqual(['␛␇x', '  ^']);
  });

  it('cuts a long line around the mark', () => {
    const sourceLine = `${'a'.repeat(500)}HERE${'b'.repeat(500)}`;
    const [line = '', mark = ''] = excerpt({ column: 501, length: 4, sourceLine });
    expect(line.length).toBeLessThanOrEqual(102);
    expect(line.startsWith('…')).toBe(true);
    expect(line.endsWith('…')).toBe(true);
    expect(line.slice(mark.indexOf('^'), mark.indexOf('^') + mark.trim().length)).toBe('HERE');
  });

  it('cuts a long mark at the end of the window', () => {
    const [line = '', mark = ''] = excerpt({ column: 5, length: 900, sourceLine: `key: ${'v'.repeat(900)}` });
    expect(line.endsWith('…')).toBe(true);
    expect(mark.length).toBeLessThanOrEqual(line.length);
  });

  it('marks the position after the end of a line', () => {
    expect(excerpt({ column: 4, length: 1, sourceLine: 'abc' })).toEqual(['abc', '   ^']);
  });

  it('shows no excerpt without a source line', () => {
    expect(formatDiagnostic(diagnostic({ sourceLine: '' }))).toBe('t.yaml:4:1 error schema.value Wrong.');
  });

  it('colours only on request', () => {
    expect(formatDiagnostic(diagnostic({}))).not.toContain('\u001b');
    expect(formatDiagnostic(diagnostic({}), { color: true })).toContain('\u001b[31m');
    expect(formatDiagnostic(diagnostic({ severity: 'warning' }), { color: true })).toContain('\u001b[33m');
  });

  it('marks the text in a line of many thousand characters', async () => {
    const text = `name: t\nsteps: { grid: { imagine: "${'x'.repeat(40_000)} {{ nope }} ${'y'.repeat(40_000)}" } }\n`;
    const [first] = (await parse(text)).diagnostics;
    expect(first?.sourceLine.length).toBeLessThanOrEqual(2000);
    const lines = formatDiagnostic(first as Diagnostic).split('\n');
    const at = (lines[2] as string).indexOf('^');
    expect((lines[1] as string).slice(at, at + 4)).toBe('nope');
  });
});
