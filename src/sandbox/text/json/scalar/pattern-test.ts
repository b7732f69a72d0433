import { longestPattern } from './pattern.ts';

/** Steps that one match may take; a pattern is a client's, and no pattern may hold up the service. */
const mostSteps = 2 ** 26;

/** A repeated group may double the work with each character. */
const longestForGroups = 16;

/**
 * Whether a text matches a pattern of a schema; undefined for what is no regular expression. A test that would take too
 * long counts as a match.
 */
export function patternTest(source: string): ((text: string) => boolean) | undefined {
  if (source.length > longestPattern) return undefined;
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, 'u');
  } catch {
    return undefined;
  }
  const steps = workOf(source);
  return (text) => steps(text.length) > mostSteps || pattern.test(text);
}

/** The most steps of a match in a text of this length: each open repeat may end anywhere, each choice go both ways. */
function workOf(source: string): (length: number) => number {
  const plain = source.replaceAll(/\\[^]/gu, 'e').replaceAll(/\[[^[\]]*\]/gu, 'c');
  const groups = /\)(?:[*+]|\{)/u.test(plain);
  const repeats = plain.match(/[*+]|\{\d*,\d*\}/gu)?.length ?? 0;
  const choices = plain.match(/\||(?<!\()\?/gu)?.length ?? 0;
  return (length) =>
    groups && length > longestForGroups
      ? Number.POSITIVE_INFINITY
      : 2 ** choices * (length + 1) ** (repeats + 1);
}

/** The patterns of a schema as Ajv wants to be given them, each with the bound of {@link patternTest}. */
export function schemaPattern(source: string): { test(text: string): boolean; toString(): string } {
  const test = patternTest(source);
  if (test === undefined)
    throw new SyntaxError(`${source.slice(0, longestPattern)} is no pattern that is read here.`);
  // Ajv distinguishes patterns by their texts.
  return { test, toString: () => `/${source}/u` };
}
schemaPattern.code = 'schemaPattern';
