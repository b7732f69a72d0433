import {
  type Context,
  defaultOperators,
  type FilterImplOptions,
  filters,
  Liquid,
  ParseError,
  Parser,
  type TagToken,
  TypeGuards,
} from 'liquidjs';
import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { nearest } from '../diagnostics/did-you-mean.ts';
import { cutText } from '../diagnostics/terminal-text.ts';
import { type Json, numberIn } from '../values/value.ts';
import { dateFilters } from './date-filter.ts';
import { templateLimits, type WorkMeter } from './limits.ts';
import { plainValue, renderNodes, textOf } from './render.ts';
import { TemplateError } from './template.ts';

/**
 * liquidjs, configured so that a template is a pure, bounded function of its scope: no files, no clock, no randomness, no state between
 * renderings, and no reads that static analysis does not see.
 */

/** Carries an error through liquidjs' parser, as the cause of liquidjs' own error. */
export class UnsupportedTag extends Error {
  readonly code: DiagnosticCode;
  readonly hint: string | undefined;

  constructor(code: DiagnosticCode, message: string, hint?: string) {
    super(cutText(message));
    this.name = 'Refusal';
    this.code = code;
    this.hint = hint;
  }
}

const unsupportedTags: Readonly<Record<string, string>> = {
  include: 'it reads another file; write the text here',
  render: 'it reads another file; write the text here',
  layout: 'it reads another file; write the text here',
  block: 'it belongs to layouts, which read other files',
  increment: 'it counts in a hidden variable; use assign with the plus filter',
  decrement: 'it counts in a hidden variable; use assign with the minus filter',
};

/** Reasons why filters of liquidjs are refused here. */
export const unsupportedFilters: Readonly<Record<string, string>> = {
  sample: 'its result is random; use sample in the matrix, with a seed',
  ...Object.fromEntries(
    ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp'].map((name) => [
      name,
      'the names in its expression are unknown before the run; use a for loop with if',
    ]),
  ),
};

/** Returns `Did you mean …?` if a known name is near. */
function suggest(name: string, known: readonly string[]): string | undefined {
  const near = nearest(name, known);
  return near === undefined ? undefined : `Did you mean "${near}"?`;
}

/** Filters of other template languages, with the equivalent filters here. */
const otherFilters: Readonly<Record<string, string>> = {
  title: 'capitalize',
  titlecase: 'capitalize',
  titleize: 'capitalize',
  ucfirst: 'capitalize',
  upper: 'upcase',
  uppercase: 'upcase',
  toupper: 'upcase',
  touppercase: 'upcase',
  lower: 'downcase',
  lowercase: 'downcase',
  tolower: 'downcase',
  tolowercase: 'downcase',
  trim: 'strip',
  ltrim: 'lstrip',
  rtrim: 'rstrip',
  length: 'size',
  len: 'size',
  count: 'size',
  int: 'to_integer',
  integer: 'to_integer',
  tojson: 'json',
  to_json: 'json',
  slug: 'slugify',
  urlencode: 'url_encode',
  unique: 'uniq',
  distinct: 'uniq',
  add: 'plus',
  subtract: 'minus',
  multiply: 'times',
  divide: 'divided_by',
  mod: 'modulo',
  e: 'escape',
  substring: 'slice',
  substr: 'slice',
  implode: 'join',
  splitlines: 'lines',
  explode: 'split',
  filter: 'where',
  or: 'default',
};

const usual = ['capitalize', 'upcase', 'downcase', 'strip', 'replace', 'default'].join(', ');

/** Suggests a filter in place of an unknown one: the equivalent or the nearest one, else the most common ones, then all. */
export function filterHint(name: string): string {
  const names = Object.keys(engine.filters).toSorted();
  const lower = name.toLowerCase();
  const other = Object.hasOwn(otherFilters, lower) ? otherFilters[lower] : nearest(name, names);
  if (other !== undefined) return `Did you mean "${other}"?`;
  return `Filters for texts are ${usual}. All filters: ${names.join(', ')}.`;
}

/** Work of walking over a value once. */
const extent = (value: unknown, member: number = templateLimits.member): number =>
  typeof value === 'string' ? value.length : Array.isArray(value) ? value.length * member : 0;

/** Splits a text into its lines, without blank ones and without white space around each. */
const lines = (value: unknown): readonly string[] =>
  textOf(value)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Filters that evaluate an expression for each member. */
const searching: ReadonlySet<string> = new Set(['where', 'reject', 'find', 'find_index', 'has', 'group_by']);

/** Filters that take what is no number as 0. */
const calculating: ReadonlySet<string> = new Set(
  'abs at_least at_most ceil divided_by floor minus modulo plus round sum times to_integer'.split(' '),
);

/** @throws TemplateError `template.filter` for a value that is no number, or has a member that is none */
function refuseOthers(name: string, value: unknown, args: readonly unknown[]): void {
  const [first] = args as readonly string[];
  const members = Array.isArray(value) && name === 'sum' ? (value as readonly Json[]) : undefined;
  const all = members?.map((one) => (first === undefined ? one : one[first])) ?? [value, ...args.slice(0, 1)];
  for (const one of all)
    if (typeof one === 'boolean' || numberIn(textOf(one ?? '')) === undefined)
      throw new TemplateError(
        'template.filter',
        `"${name}" takes numbers, but here it has ${JSON.stringify(plainValue(one ?? null)).slice(0, 80)}`,
      );
}

const charged = (name: string, filter: FilterImplOptions): FilterImplOptions => {
  const handler = typeof filter === 'function' ? filter : filter.handler;
  const member = searching.has(name) ? templateLimits.node : templateLimits.member;
  return function (value, ...args) {
    this.context.memoryLimit.use(templateLimits.node + extent(value, member));
    if (calculating.has(name) && (this.context.memoryLimit as unknown as WorkMeter).isExact)
      refuseOthers(name, value, args);
    return handler.call(this, value, ...args);
  };
};

type Operator = (typeof defaultOperators)[string];

/** Charges the work of an operator. liquidjs passes the context after the one operand or two. */
const chargedOperator = (operator: Operator): Operator => {
  const call = operator as (...given: unknown[]) => ReturnType<Operator>;
  return (...given: unknown[]) => {
    (given.at(-1) as Context).memoryLimit.use(templateLimits.node + extent(given[0]));
    return call(...given);
  };
};

function build(): Liquid {
  const liquid = new Liquid({
    // An empty in-memory store: no file can be found.
    templates: {},
    strictVariables: true,
    // The analysis reports unknown filters with their positions.
    strictFilters: false,
    ownPropertyOnly: true,
    locale: 'en-US',
    timezoneOffset: 0,
    operators: Object.fromEntries(
      Object.entries(defaultOperators).map(([name, operator]) => [name, chargedOperator(operator)]),
    ),
  });
  for (const name of Object.keys(unsupportedTags)) delete liquid.tags[name];
  for (const name of Object.keys(unsupportedFilters)) liquid.unregisterFilter(name);
  for (const [name, filter] of Object.entries({ ...filters, ...dateFilters, lines })) {
    if (!Object.hasOwn(unsupportedFilters, name))
      liquid.registerFilter(name, charged(name, filter as FilterImplOptions));
  }
  // Every tag renders its inner templates through this function, so that here all of them are bounded and
  // their values become text in the same way.
  liquid.renderer.renderTemplates = renderNodes;
  return liquid;
}

export const engine = build();

const inner = new Set(['else', 'elsif', 'when']);

function unsupportedTag(token: TagToken): UnsupportedTag {
  const { name } = token;
  const why = Object.hasOwn(unsupportedTags, name) ? unsupportedTags[name] : undefined;
  if (why !== undefined)
    return new UnsupportedTag('template.refused-tag', `The tag "${name}" is not available: ${why}.`);
  if (name.startsWith('end') || inner.has(name)) {
    return new UnsupportedTag('template.syntax', `"${name}" is used here without the tag it belongs to.`);
  }
  return new UnsupportedTag(
    'template.unknown-tag',
    name === '' ? 'A tag needs a name.' : `There is no tag "${name}".`,
    suggest(name, Object.keys(engine.tags)),
  );
}

/** liquidjs' parser, with a limit on nested tags and an error code for each unsupported tag. */
export class BoundedParser extends Parser {
  #depth = 0;

  constructor() {
    super(engine);
  }

  override parseToken(...args: Parameters<Parser['parseToken']>): ReturnType<Parser['parseToken']> {
    const token = args[0];
    // Wrapped here; otherwise the surrounding tag would be given as the place.
    if (TypeGuards.isTagToken(token) && !(token.name in engine.tags))
      throw new ParseError(unsupportedTag(token), token);
    if (this.#depth >= templateLimits.depth) {
      const message = `Tags may be nested at most ${templateLimits.depth} levels deep.`;
      throw new ParseError(new UnsupportedTag('template.too-deep', message), token);
    }
    this.#depth += 1;
    try {
      return super.parseToken(...args);
    } finally {
      this.#depth -= 1;
    }
  }
}
