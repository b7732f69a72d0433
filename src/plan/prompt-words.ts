import { TemplateError } from '../pipeline/templates/template.ts';
import type { Value } from '../pipeline/values/value.ts';

/** Two hyphens, or the dash that editors make of them, before a name; what follows an `=` belongs to it. */
const parameter = /^(?:--|—)(\p{L}[^=]*)/u;

/** Parameters that take any number of words; every other one takes at most one. */
const openEnded = new Set(['no', 'p', 'profile', 'sref', 'cref', 'oref']);

/** `, ` and the like, which a template leaves where a variable is blank. */
const onlyMarks = /^\p{P}+$/u;

/** True for a prompt that has parameters and says nothing besides: `--v 6.1`, `, --ar 3:2 --raw`. */
export function hasOnlyParameters(prompt: string): boolean {
  let found = false;
  /** How many words the last parameter may still take. */
  let room = 0;
  for (const word of prompt.split(/\s+/u)) {
    const name = parameter.exec(word)?.[1];
    if (name !== undefined) {
      found = true;
      room = openEnded.has(name.toLowerCase()) ? Number.POSITIVE_INFINITY : word.includes('=') ? 0 : 1;
    } else if (word !== '' && room > 0) room -= 1;
    else if (word !== '' && !onlyMarks.test(word)) return false;
  }
  return found;
}

/**
 * Refuses a prompt that would have the service draw nothing in particular, and be paid for it.
 *
 * @throws TemplateError `prompt.empty`
 */
export function needWords(prompt: Value | undefined): void {
  if (typeof prompt !== 'string' || !hasOnlyParameters(prompt)) return;
  const text = prompt.trim();
  throw new TemplateError(
    'prompt.empty',
    `For this cell the prompt is nothing but parameters: ${JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)}. Is a variable blank?`,
  );
}
