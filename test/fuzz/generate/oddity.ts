import type { Random } from '../random.ts';

/** Texts that have broken readers before: controls, marks, halves of characters, names of JavaScript's own, numbers. */
export const oddities: readonly string[] = [
  '\0',
  '\u0007',
  '\u001b[2J\u001b]0;x\u0007',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\u0085',
  '\u2028',
  '\u2029',
  '\uFEFF',
  '\uD800',
  '\uDC00',
  '\uDBFF\uDBFF',
  '\uFFFE',
  '\u202e',
  '\u200b',
  '👩‍👩‍👧‍👦',
  'e\u0301\u0301\u0301\u0301',
  'ﷺ',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'then',
  'toJSON',
  'length',
  'null',
  'undefined',
  'NaN',
  '.inf',
  '-.inf',
  '1e999',
  '-0',
  '0x7fffffffffffffff',
  '9007199254740993',
  '9'.repeat(400),
  '1e-400',
  '0o17',
  '1_000',
  '~',
  '*',
  '&a',
  '*a',
  '!!js/function "x"',
  '!!binary aGk=',
  '<<',
  '? ',
  ': ',
  '- ',
  '| ',
  '> ',
  '%YAML 1.1\n',
  '---\n',
  '...\n',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '`',
  '\\',
  '/',
  '//',
  '../',
  '->',
  '→',
  '{{',
  '}}',
  '{%',
  '%}',
  '{{ x }}',
  '${PATH}',
  '${',
  '#',
  ',',
  '|',
  '?',
  '**',
  '..',
  'U1..U4',
  '(a+)+$',
  '--',
  '=',
];

export const odd = (random: Random): string => random.pick(oddities);

/** A text with a few odd places, changed the way a slip or an attacker would. */
export function mutate(text: string, random: Random, most = 4): string {
  let mutated = text;
  for (let left = random.whole(1, most); left > 0; left -= 1) {
    const at = random.whole(0, mutated.length);
    const to = Math.min(mutated.length, at + random.size(60));
    const [before, within, after] = [mutated.slice(0, at), mutated.slice(at, to), mutated.slice(to)];
    switch (random.whole(0, 7)) {
      case 0:
        mutated = before + after;
        break;
      case 1:
        mutated = before + within.repeat(random.whole(2, 6)) + after;
        break;
      case 2:
        mutated = before + odd(random) + after;
        break;
      case 3:
        mutated = `${before}${odd(random)}${within}${odd(random)}${after}`;
        break;
      case 4:
        mutated = mutated.replaceAll('\n', random.pick(['\r\n', '\r', '\n\n', '\n\t']));
        break;
      case 5:
        mutated = before;
        break;
      case 6: {
        const from = random.whole(0, mutated.length);
        mutated = before + mutated.slice(from, from + random.size(400)) + after;
        break;
      }
      default:
        mutated = before + odd(random).repeat(random.size(200)) + within + after;
    }
  }
  return mutated.length > 64 * 1024 ? mutated.slice(0, 64 * 1024) : mutated;
}
