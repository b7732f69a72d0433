import { isPress, isStepKind, kinds } from '../../kinds.ts';
import { renderValue } from '../../values/value.ts';
import { entriesOf, isText, itemsOf, member, type SourceNode, toJson } from '../../yaml/node.ts';
import type { SchemaPlace } from '../place.ts';
import { resolved, type SchemaNode } from '../schema.ts';
import { formHint, numberIn } from './forms.ts';

const longestShown = 100;

/** Formats a value as YAML on one line, as a user would write it; undefined for a long value. */
export function flow(value: unknown): string | undefined {
  const text = flowText(value);
  return text.length > longestShown ? undefined : text;
}

function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, member]) => `${key}: ${flowText(member)}`)
      .join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  const isPlain = /^[\p{L}\p{N}._/(][\p{L}\p{N}._/()$ -]*$/u.test(value) && !/^[\d.-]+$/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** The member that a bare value in place of a block most likely means. */
const blockMembers: Readonly<Record<string, string>> = {
  limits: 'tasks',
  retry: 'attempts',
  timeouts: 'task',
  poll: 'max',
  budget: 'cost',
  'matrix.sample': 'count',
};

const isList = ({ kind }: SourceNode): boolean => kind === 'list';

const matrixSettings = new Set(['rows', 'exclude', 'include', 'sample', 'repeat']);

const typesOf = ({ type }: SchemaNode): readonly string[] =>
  typeof type === 'string' ? [type] : (type ?? []);

/** Suggests how to write a value of a wrong type; else gives an example. */
export function typeHint(place: SchemaPlace, schema: SchemaNode): string | undefined {
  const { node, way } = place;
  const key = way.at(-1) ?? '';
  // The value may be a secret key, so it is not repeated.
  if (/key$/i.test(key)) return 'Write the name of a variable that holds it: ${PROMPTPRESS_API_KEY}.';
  if (way.length === 0)
    return 'A pipeline has at least a name and steps: name: foxes, steps: { grid: { imagine: a fox } }.';
  if (node.kind === 'scalar' && node.value === null) return emptyHint(place, schema);
  const types = typesOf(schema);
  const where = way.join('.');
  const value = flow(toJson(node)) ?? '…';
  if (where === 'steps' && isList(node))
    return `Each step has a name, in place of the "-": steps: ${stepsExample(node)}.`;
  if (where === 'matrix' && isList(node))
    return `Each axis has a name, in place of the "-": matrix: ${axesExample(node)}.`;
  if (where === 'failures' && isList(node)) return `Write failures: { accept: ${value} }.`;
  if (way[0] === 'steps' && way.length === 3 && key === 'each' && isList(node))
    return `A list that is known beforehand is an axis: matrix: { thing: ${value} }, and "{{ thing }}" in place of each and "{{ item }}". To make branches of it, write it as one value: matrix: { things: [${value}] }, and each: "{{ things }}".`;
  if (way[0] === 'steps' && way.length === 3 && key === 'seed')
    return `A seed is part of the prompt: --seed ${value}. seed: true reads the seed of each grid into the column seed.`;
  if (where === 'matrix.sample' && isText(node) && node.value.includes('%'))
    return 'A sample is a number of cells, not a share of them: sample: { count: 10 }.';
  if (way[0] === 'matrix' && way.length === 2 && !matrixSettings.has(key)) return axisHint(key, node);
  return (
    severalHint(place, value) ??
    (types.includes('array') ? listHint(key, node, schema, value) : undefined) ??
    (types.includes('object') ? blockHint(place, schema, value) : undefined) ??
    scalarHint(key, node, types, schema)
  );
}

function emptyHint({ way }: SchemaPlace, schema: SchemaNode): string {
  const key = way.at(-1) ?? '';
  const example = exampleOf(key, schema);
  if (example !== undefined) return `Give it a value, or leave it out. ${example}`;
  return way.length === 2 && way[0] === 'steps'
    ? `Write its operation below it, indented: ${key}: { imagine: a fox }.`
    : 'Give it a value, indented below it or on its line, or leave it out.';
}

function stepsExample(list: SourceNode): string {
  const [first] = itemsOf(list);
  const entries = entriesOf(first);
  const [only] = entries;
  const isNamed = entries.length === 1 && only?.value.kind === 'mapping';
  const isStep = entries.some(({ key }) => isStepKind(key));
  const step = first === undefined ? undefined : flow(isNamed ? toJson(first) : { grid: toJson(first) });
  return (isNamed || isStep ? step : undefined) ?? '{ grid: { imagine: a fox } }';
}

function axesExample(list: SourceNode): string {
  const axes = itemsOf(list).flatMap((item) => entriesOf(item));
  const joined = Object.fromEntries(axes.map(({ key, value }) => [key, toJson(value)]));
  return (axes.length === 0 ? undefined : flow(joined)) ?? '{ animal: [fox, owl] }';
}

const rangeWords = [
  ['from', 'to'],
  ['start', 'end'],
  ['start', 'stop'],
  ['begin', 'end'],
  ['first', 'last'],
  ['min', 'max'],
  ['low', 'high'],
  ['from', 'until'],
] as const;

const isNumeric = (node: SourceNode | undefined): node is SourceNode =>
  node?.kind === 'scalar' && /^-?\d+(?:\.\d+)?$/.test(renderValue(node.value));

function axisOfKeys(key: string, node: SourceNode): string {
  for (const [low, high] of rangeWords) {
    const [from, to] = [member(node, low), member(node, high)];
    if (isNumeric(from) && isNumeric(to))
      return `A range is written ${key}: { from: ${flow(toJson(from))}, to: ${flow(toJson(to))} }.`;
  }
  const lists = entriesOf(node).filter(({ value }) => value.kind === 'list');
  const [only] = lists;
  const values = only !== undefined && entriesOf(node).length === 1 ? only.value : undefined;
  const written =
    values === undefined ? `[${flow(toJson(node)) ?? '{ … }'}]` : (flow(toJson(values)) ?? '[…]');
  return `An axis is a list of values: ${key}: ${written}. A range is ${key}: { from: 1, to: 4 }.`;
}

/** Suggests how to write the values of an axis that is not a list. */
export function axisHint(key: string, node: SourceNode): string {
  if (node.kind === 'mapping') return axisOfKeys(key, node);
  const value = flow(toJson(node)) ?? '…';
  if (isText(node) && /^-\S/.test(node.value)) return 'Write a space after the "-" of each value: - fox.';
  const range = isText(node) ? /^\s*(-?\d+)\s*(?:\.\.+|to|-|–)\s*(-?\d+)\s*$/.exec(node.value) : null;
  if (range !== null) return `A range is written ${key}: { from: ${range[1]}, to: ${range[2]} }.`;
  if (isText(node) && node.value.includes(','))
    return `An axis is a list of values: ${key}: ${flow(node.value.split(',').map((one) => one.trim())) ?? '[…]'}.`;
  return `An axis is a list of values: ${key}: [${value}].`;
}

function severalHint({ node, way }: SchemaPlace, value: string): string | undefined {
  if (!isList(node)) return undefined;
  const key = way.at(-1) ?? '';
  if (isStepKind(key) && isPress(key))
    return 'A click presses one button. A path presses several: path: U1, U2.';
  switch (isStepKind(key) && kinds[key].written === undefined ? 'prompt' : key) {
    case 'prompt':
      return `A step has one prompt. Several are an axis: matrix: { prompt: ${value} }, and here "{{ prompt }}".`;
    case 'rows':
      return `rows names a table, for example rows: data/prompts.csv. Values are an axis: matrix: { prompt: ${value} }.`;
    case 'from':
      return 'A step starts from one place; gather collects several: gather: grid/*.';
    default:
      return undefined;
  }
}

function listHint(key: string, node: SourceNode, schema: SchemaNode, value: string): string | undefined {
  if (key === 'rectangle' || key === 'ellipse') return `Write ${key}: ${boxExample(node)}.`;
  const items = resolved((schema['items'] ?? {}) as SchemaNode);
  const wantsObjects = typesOf(items).includes('object') && !typesOf(items).includes('string');
  if (!typesOf(schema).includes('string') && (node.kind === 'mapping' || !wantsObjects))
    return `Write a list: ${key}: [${value}].`;
  return exampleOf(key, schema);
}

function blockHint({ node, way }: SchemaPlace, schema: SchemaNode, value: string): string | undefined {
  const key = way.at(-1) ?? '';
  if (way.length === 2 && way[0] === 'steps' && isText(node)) {
    const kind = /^\w*/.exec(node.value)?.[0] ?? '';
    const rest = node.value.slice(kind.length).replace(/^:/, '').trim();
    return isStepKind(kind)
      ? `A key ends with a colon and a space: ${kind}: ${flow(rest) ?? '…'}.`
      : `Write its operation: ${key}: { imagine: ${value} }.`;
  }
  if (way.length === 3 && way[0] === 'steps') {
    const written = isStepKind(key) ? kinds[key].written?.replace('$', () => value) : undefined;
    if (written !== undefined) return `Write ${key}: ${written}.`;
  }
  if (way[0] === 'service' && way.length === 1)
    return isText(node) && /^https?:/.test(node.value)
      ? `Write service: { baseUrl: ${value} }.`
      : 'For example service: { speed: fast }.';
  const member = blockMembers[way.join('.')];
  if (member !== undefined && node.kind === 'scalar') return `Write ${key}: { ${member}: ${value} }.`;
  if (typesOf(schema).includes('number')) return undefined;
  return exampleOf(key, schema);
}

/** Keys whose values have their own grammar. */
const formKeys: ReadonlySet<string> = new Set(['path', 'click', 'when']);

function scalarHint(
  key: string,
  node: SourceNode,
  types: readonly string[],
  schema: SchemaNode,
): string | undefined {
  if (node.kind !== 'scalar') return exampleOf(key, schema);
  if (!isText(node)) {
    // Quotes would make it a text, which still would not have this form.
    const example = exampleOf(key, schema);
    if (!types.includes('string')) return example;
    const formed = formHint(key, renderValue(node.value), schema);
    if (formed !== undefined) return formed;
    const isForm = schema['pattern'] !== undefined || formKeys.has(key);
    return isForm && example !== undefined
      ? example
      : `Put text that looks like another value in quotes: "${renderValue(node.value)}".`;
  }
  if (types.includes('boolean') && /^(yes|no|on|off|y|n)$/i.test(node.value))
    return `In YAML 1.2 "${node.value}" is text; write true or false.`;
  if (!types.includes('number') && !types.includes('integer')) return exampleOf(key, schema);
  const number = numberIn(node.value);
  if (number === undefined)
    return exampleOf(key, { ...schema, default: undefined }) ?? `Write a number, for example ${key}: 2.`;
  return node.value.trim() === number
    ? `Write a number without quotes: ${key}: ${number}.`
    : `Write the number alone: ${key}: ${number}.${key === 'cost' || key === 'ask' ? ' A cost budget needs prices in the file: prices: { imagine: 0.04 }.' : ''}`;
}

/** Suggests how to write a missing key. */
export function missingHint({ way }: SchemaPlace, key: string, schema: SchemaNode): string | undefined {
  const where = [...way, key].join('.');
  if (where === 'name') return 'For example name: foxes.';
  if (where === 'steps') return 'For example steps: { grid: { imagine: a fox } }.';
  if (way.length === 2 && way[0] === 'steps' && key === 'from')
    return 'It names the step whose result has the button, for example from: grid, or a branch of its path: from: grid/U1.';
  const property = resolved(schema.properties?.[key] ?? {});
  return exampleOf(key, property) ?? firstSentence(property);
}

/** Returns the first sentence of a schema's description. */
export function firstSentence(schema: SchemaNode): string | undefined {
  const text = schema['description'];
  return typeof text === 'string' ? /^.*?[.](?=\s|$)/s.exec(text)?.[0] : undefined;
}

function exampleOf(key: string, schema: SchemaNode): string | undefined {
  const examples = (schema.examples ?? []).flatMap((one) => flow(one) ?? []);
  const shown =
    examples.length > 0
      ? examples
      : [schema['default'] ?? []].flatMap((one) => (Array.isArray(one) ? [] : (flow(one) ?? [])));
  const [first] = shown;
  if (first === undefined) return undefined;
  return schema['pattern'] === undefined ? `For example ${key}: ${first}.` : `Examples: ${shown.join(', ')}.`;
}

/** Formats a mask box as a list of four numbers, using named sides if they are given. */
export function boxExample(node: SourceNode | undefined): string {
  const sides = [
    ['x', 'left'],
    ['y', 'top'],
    ['w', 'width'],
    ['h', 'height'],
  ].map((names) => names.map((name) => member(node, name)).find(isNumeric));
  const written = node?.kind === 'list' && node.items.length === 4 ? flow(toJson(node)) : undefined;
  const numbers = sides.flatMap((side) => (side === undefined ? [] : [flow(toJson(side))]));
  const box = written ?? (numbers.length === 4 ? `[${numbers.join(', ')}]` : '[0.1, 0.1, 0.3, 0.3]');
  return `${box} (x, y, width, height)`;
}

/**
 * Explains a mask box whose numbers are not fractions, and gives the same box in fractions; undefined if the values do not show what was
 * meant.
 */
export function boxHint(node: SourceNode): { readonly what: string; readonly hint: string } | undefined {
  const texts = itemsOf(node).map((item) => (item.kind === 'scalar' ? renderValue(item.value) : ''));
  const numbers = texts.map((text) => Number(text.replace(/(?:%|px)$/, '')));
  if (numbers.length === 0 || numbers.some((number) => !Number.isFinite(number))) return undefined;
  const shares = (whole: number): string =>
    `[${numbers.map((number) => Number((number / whole).toFixed(3))).join(', ')}]`;
  if (texts.some((text) => text.endsWith('%')))
    return { what: 'percent', hint: `Divide by 100: ${shares(100)}.` };
  const size = [1024, 2048, 4096].find((side) => numbers.every((number) => number <= side));
  const example = size === undefined ? '' : ` In an image of ${size} × ${size} pixels: ${shares(size)}.`;
  return {
    what: 'pixels',
    hint: `Divide x and width by the width of the image, y and height by its height.${example}`,
  };
}
