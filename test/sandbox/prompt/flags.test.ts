import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';

test.each([
  ['a fox --v 6.1', { text: 'a fox', flags: { version: '6.1' } }],
  ['a fox --v 6.0 --stylize 250', { flags: { version: '6', stylize: 250 } }],
  ['a fox --niji', { flags: { version: 'niji 6' } }],
  ['a fox --niji 5 --v 7', { flags: { version: '7' } }],
  ['a fox —ar 16:9 --c 20', { text: 'a fox', flags: { aspect: [16, 9], chaos: 20 } }],
  ['a fox --ar 1:1 --ar 3:2', { flags: { aspect: [3, 2] } }],
  ['a well-known fox--tail', { text: 'a well-known fox--tail' }],
  ['--v 7', { text: '', flags: { version: '7' } }],
  ['a fox --seed 007 --no text, people --tile', { text: 'a fox', flags: { seed: '7' } }],
])('%s', (prompt, expected) => {
  const parsed = parsePrompt(prompt);
  expect(parsed).toMatchObject(expected);
  expect(parsed.error).toBeUndefined();
});

test.each([
  '--v 99',
  '--v',
  '--niji 3',
  '--ar 0:0',
  '--ar 9:1',
  '--ar wide',
  '--seed x',
  '--seed 4294967296',
  '--s 1001',
  '--chaos -1',
  '--w',
])('%s is an error', (flag) => {
  expect(parsePrompt(`a fox ${flag}`).error).toMatch(/^\[Invalid parameter\] Invalid value/);
});

test('any text is read without an exception, and no flag stays in the words', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('--', ' ', 'ar', 'v', '1:1', '—', 'fox', '\n', '9')), (parts) => {
      const { text, flags } = parsePrompt(parts.join(''));
      expect(flags.aspect).toHaveLength(2);
      expect(text).not.toMatch(/(^|\s)(--|—)(?=[a-z])/);
      const [words = ''] = parts.join('').split(/(?:^|\s)(?:--|—)(?=[a-z])/);
      expect(text).toBe(words.trim());
    }),
    { seed: 7 },
  );
  expect(parsePrompt(`${' '.repeat(16_000)}fox`).text).toBe('fox');
});
