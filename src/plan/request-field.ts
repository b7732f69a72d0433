import { TemplateError, type TemplateScope, type TemplateTree } from '../pipeline/templates/template.ts';
import type { Value } from '../pipeline/values/value.ts';
import { decimal, renderPlain, renderText } from './request-render.ts';

/** The longest prompt of an image that is sent, in UTF-16 units: several times what any model reads. */
const promptLimit = 32_768;

/** The longest of the other texts; they are words. */
const wordLimit = 256;

/** Fields that are texts, with the words that are possible, or undefined where the service knows them. */
const words: Readonly<Record<string, readonly string[] | undefined>> = {
  dimensions: ['portrait', 'square', 'landscape'],
  motion: ['low', 'high'],
  animateMode: ['manual', 'auto'],
  videoType: undefined,
  language: undefined,
};

/** Fields that are numbers, also where a table's text says them, with those that are possible. */
const numbers: Readonly<Record<string, readonly number[]>> = {
  batchSize: [1, 2, 4],
  extend: [1, 2, 3, 4],
};

/**
 * One field of an operation that the service answers with a task. Templates are judged here, literals were before; what
 * means the same becomes the same value, so that it is one job.
 *
 * @throws TemplateError `template.empty`, `template.limit` and `template.range` too
 */
export function renderTaskField(tree: TemplateTree, scope: TemplateScope, name: string): Value {
  if (name === 'prompt') return renderText(tree, scope, 'the prompt', promptLimit);
  if (Object.hasOwn(words, name)) {
    const text = renderText(tree, scope, `\`${name}\``, wordLimit);
    const possible = words[name];
    if (possible === undefined) return text;
    const word = text.trim().toLowerCase();
    return possible.includes(word) ? word : refuse(name, text, possible);
  }
  const value = renderPlain(tree, scope);
  const possible = numbers[name];
  if (possible !== undefined) {
    const number = decimal(value);
    return possible.some((each) => each === number) ? (number as number) : refuse(name, value, possible);
  }
  if (name === 'loop') {
    if (typeof value === 'boolean') return value;
    return value === 'true' || value === 'false' ? value === 'true' : refuse(name, value, [true, false]);
  }
  return value;
}

function refuse(name: string, value: Value, possible: readonly (string | number | boolean)[]): never {
  throw new TemplateError(
    'template.range',
    `For this cell \`${name}\` is ${JSON.stringify(value).slice(0, 80)}; possible are ${possible.join(', ')}.`,
  );
}
