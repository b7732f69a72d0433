import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../../src/report/gallery/data-folder.ts';

/** What a script gives to `promptpress.take`. */
function taken(script: string): unknown {
  let given: unknown;
  const take = (value: unknown): void => {
    given = value;
  };
  runInContext(script, createContext({ promptpress: { take } }));
  return structuredClone(given);
}

const hostile = [
  '</script><script>alert(1)</script>',
  '<!-- ',
  "'); alert(1); ('",
  '\\',
  '\\u0027',
  '\u2028\u2029',
  '\ud800',
  'a\udc00b',
  '\u0000\r\n',
  '${alert(1)}`',
];

describe('JSON as a script', () => {
  it('keeps its value, whatever texts it contains', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostile));
    fc.assert(
      fc.property(fc.array(texts), (values) => {
        const script = callOf('take', JSON.stringify(values));
        expect(taken(script)).toEqual(values);
        // Neither can a browser see the end of the script in it, nor a reader of bytes half a character.
        expect(script).not.toMatch(/<|[\u2028\u2029\r]/);
        expect(script.isWellFormed()).toBe(true);
        expect(script.split('\n')).toHaveLength(2);
      }),
    );
  });

  it('may have members of any name, without changing other objects', () => {
    const script = callOf('take', '{"__proto__":{"polluted":1},"constructor":2}');
    let given: object = {};
    const take = (value: object): void => {
      given = value;
    };
    runInContext(script, createContext({ promptpress: { take } }));
    expect(Object.keys(given)).toEqual(['__proto__', 'constructor']);
    expect('polluted' in given).toBe(false);
  });
});
