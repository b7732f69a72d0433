import { usageError } from '../../app/errors/cli-error.ts';
import { revaluing } from '../../app/errors/correction.ts';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import { readDuration } from '../../pipeline/settings/units.ts';
import type { Reading } from './flags.ts';

/** Readers for values of flags. Their errors say what was expected and what was given. */

export const anyText = (text: string, name: string): string => {
  if (text === '') throw usageError(`${name} needs a value.`);
  return text;
};

/** Reads a whole number in a range. @param absent sentence for messages about what happens without the flag */
export const wholeNumber = (
  least: number,
  { absent, most }: { readonly absent?: string; readonly most?: number } = {},
): Reading<number> =>
  Object.assign(
    (text: string, name: string): number => {
      const value = Number(text);
      if (/^\d+$/.test(text) && value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return value;
      const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
      throw usageError(`${name} takes a whole number ${range}, in digits, not "${text}".`, absent);
    },
    { example: String(Math.max(least, 3)) },
  );

/** Reads one of these words. */
export const oneOf = <Word extends string>(...words: readonly Word[]): Reading<Word> =>
  Object.assign(
    (text: string, name: string): Word => {
      const word = words.find((candidate) => candidate === text);
      if (word !== undefined) return word;
      const near = nearest(text, words);
      throw usageError(
        `${name} takes one of ${words.join(', ')}, not "${text}".`,
        near === undefined ? undefined : `Did you mean ${near}?`,
        near === undefined ? undefined : revaluing(name, text, [near]),
      );
    },
    { words },
  );

/** Reads a duration as in a pipeline: `250ms`, `30s`, `20m`, `6h`; returns milliseconds. */
export const duration: Reading<number> = Object.assign(
  (text: string, name: string): number => {
    const ms = readDuration(text);
    if (ms !== undefined && ms >= 1) return ms;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    throw usageError(
      `${name} takes a duration such as 250ms, 30s, 20m or 6h, not "${text}".`,
      number > 0
        ? `Put a unit after the number: ${number}s (seconds), ${number}m (minutes) or ${number}h (hours).`
        : undefined,
      number > 0 ? revaluing(name, text, [`${number}m`], 'example') : undefined,
    );
  },
  { example: '30m' },
);

/** Reads a shard: `2/8` is the second of eight. */
export const shard: Reading<{ readonly index: number; readonly of: number }> = Object.assign(
  (text: string, name: string) => {
    const [, index, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
    const value = { index: Number(index), of: Number(of) };
    if (index !== undefined && value.index >= 1 && value.index <= value.of && Number.isSafeInteger(value.of))
      return value;
    const [first, second] = (text.match(/\d{1,9}/g) ?? []).map(Number);
    const isPair = first !== undefined && second !== undefined && first > 0 && first <= second;
    throw usageError(
      `${name} takes I/N, the Ith of N parts, with I from 1 to N, not "${text}".`,
      index === undefined || Number(of) < 1
        ? undefined
        : `The parts of ${of} are ${Number(of) === 1 ? '1/1' : `1/${of} to ${of}/${of}`}.`,
      isPair ? revaluing(name, text, [`${first}/${second}`]) : undefined,
    );
  },
  { example: '1/4' },
);

/** Reads the setting of an axis: `animal=fox`. The value may contain equals signs. */
export const axisValue: Reading<{ readonly axis: string; readonly value: string }> = Object.assign(
  (text: string, name: string) => {
    const at = text.indexOf('=');
    if (at >= 1) return { axis: text.slice(0, at), value: text.slice(at + 1) };
    const isPair = at < 0 && /^[^:]+:./.test(text);
    const value = text.slice(at + 1) || 'fox';
    throw usageError(
      `${name} takes AXIS=VALUE, not "${text}".`,
      'AXIS is an axis of the matrix or a column of its table; promptpress plan FILE --cells lists them and their values.',
      isPair
        ? revaluing(name, text, [text.replace(/^([^:]+):\s*/, '$1=')])
        : revaluing(name, text, [`animal=${value}`], 'example'),
    );
  },
  { example: 'animal=fox' },
);

/** Reads the parts of a data set with their shares, whose sum is 1: `train=0.9,test=0.1`. */
export const splitParts: Reading<readonly { readonly name: string; readonly share: number }[]> =
  Object.assign(
    (text: string, name: string) => {
      const parts = text.split(',').map((part) => {
        const [, word = '', digits = ''] =
          /^\s*([A-Za-z][A-Za-z0-9_-]{0,63})=(0?\.\d{1,9}|1|0)\s*$/.exec(part) ?? [];
        return { name: word, share: Number(digits) };
      });
      const sum = parts.reduce((all, { share }) => all + share, 0);
      const isNamed = parts.every((part) => part.name !== '' && part.share > 0);
      const areDistinct = new Set(parts.map((part) => part.name.toLowerCase())).size === parts.length;
      if (isNamed && areDistinct && Math.abs(sum - 1) < 1e-6) return parts;
      throw usageError(
        `${name} takes parts with their shares, such as train=0.9,test=0.1, not "${text}".`,
        isNamed && areDistinct
          ? `The shares add up to ${Number(sum.toFixed(6))}, but must add up to 1.`
          : undefined,
      );
    },
    { example: 'train=0.9,test=0.1' },
  );

/** Reads a port; 0 is any free port. */
export const portNumber = wholeNumber(0, { most: 65_535 });
