import { readDuration } from '../../pipeline/settings/units.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Reading } from './flags.ts';

/** How the texts of flags become values. Each says what it expected, and what it got. */

export const anyText = (text: string, name: string): string => {
  if (text === '') throw usageError(`${name} needs a value.`);
  return text;
};

/** A whole number of at least `least`. */
export const wholeNumber =
  (least: number) =>
  (text: string, name: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw usageError(`${name} takes a whole number of at least ${least}, not "${text}".`);
    }
    return value;
  };

/** One of these words; a shell may list them. */
export const oneOf = <Word extends string>(...words: readonly Word[]): Reading<Word> =>
  Object.assign(
    (text: string, name: string): Word => {
      const word = words.find((candidate) => candidate === text);
      if (word === undefined) throw usageError(`${name} takes one of ${words.join(', ')}, not "${text}".`);
      return word;
    },
    { words },
  );

/** `250ms`, `30s`, `20m`, `6h`, as in a pipeline; milliseconds. */
export const duration = (text: string, name: string): number => {
  const ms = readDuration(text);
  if (ms === undefined || ms < 1) {
    throw usageError(`${name} takes a duration such as 250ms, 30s, 20m or 6h, not "${text}".`);
  }
  return ms;
};

/** `2/8`: the second of eight. */
export const shard = (text: string, name: string): { readonly index: number; readonly of: number } => {
  const [, index, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const value = { index: Number(index), of: Number(of) };
  if (index === undefined || value.index < 1 || value.index > value.of || !Number.isSafeInteger(value.of)) {
    throw usageError(`${name} takes i/n with i from 1 to n, for example 1/4, not "${text}".`);
  }
  return value;
};

/** `animal=fox`; the value may hold further equals signs. */
export const axisValue = (text: string, name: string): { readonly axis: string; readonly value: string } => {
  const at = text.indexOf('=');
  if (at < 1) throw usageError(`${name} takes axis=value, for example animal=fox, not "${text}".`);
  return { axis: text.slice(0, at), value: text.slice(at + 1) };
};
