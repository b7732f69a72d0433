import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactJson, parseExact } from '../../../src/pipeline/values/exact-json.ts';

/** Of so many digits some are beyond what a number holds. */
const digits = fc
  .tuple(fc.constantFrom('', '-'), fc.integer({ min: 15, max: 20 }))
  .chain(([sign, length]) =>
    fc.stringMatching(new RegExp(`^[1-9][0-9]{${length - 1}}$`)).map((text) => `${sign}${text}`),
  );

it('every integer is written as it was read, anywhere in a value', () => {
  fc.assert(
    fc.property(digits, (text) => {
      for (const json of [text, `[1,${text}]`, `{"id":${text},"in":[{"id":${text}}]}`])
        expect(exactJson(parseExact(json))).toBe(json);
    }),
    { examples: [['9007199254740993'], ['-9007199254740993']] },
  );
});
