import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { cutText } from '../../diagnostics/terminal-text.ts';
import { patternWork } from '../../selectors/pattern.ts';
import { canonicalJson, type Value } from '../../values/value.ts';
import { convertSchema } from './convert.ts';
import type { SchemaDiagnosticDraft } from './problems.ts';

/** The result of a check. Each problem names its place by a JSON pointer: `/best must be integer`. */
export type SchemaVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks parsed replies against one schema. */
export interface ReplyChecker {
  /**
   * Errors and warnings about the schema itself; with an error, every reply fails. A schema without templates has been checked with its
   * pipeline; one from a template is checked here before it is sent.
   */
  readonly mistakes: readonly SchemaDiagnosticDraft[];
  /** Checks a reply, in bounded time for every schema and every reply. */
  check(value: unknown): SchemaVerdict;
}

/** Limits of one check, far above a model's longest replies. */
const limits = {
  values: 100_000,
  depth: 200,
  steps: 1_000_000,
  patternSteps: 2 ** 30,
  errors: 10,
} as const;

/** Most checkers that are cached: steps have few schemas, unless templates make one for every cell. */
const maxKept = 100;

const kept = new Map<string, ReplyChecker>();

/**
 * Returns the checker of a declared reply schema: JSON Schema, or the native subset of OpenAPI (upper-case types, `nullable`; gateway
 * 6.2). `format` is ignored. Equal schemas share one checker.
 */
export function replyChecker(schema: Value): ReplyChecker {
  const text = canonicalJson(schema);
  const known = kept.get(text);
  const checker = known ?? compileChecker(JSON.parse(JSON.stringify(schema)));
  kept.delete(text);
  kept.set(text, checker);
  if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
  return checker;
}

/** Work done by the current check, which is bounded for any schema and reply. Checks are synchronous, so one counter is enough. */
const used = { steps: 0, patternSteps: 0 };

class TooMuchWork extends Error {}

const meter = 'x-promptpress-steps';

function countStep(): boolean {
  used.steps += 1;
  if (used.steps > limits.steps) throw new TooMuchWork();
  return true;
}

interface BoundedPattern {
  test(text: string): boolean;
  toString(): string;
}

/** Makes a pattern with bounded work; beyond the bound, every text matches. */
function boundedPattern(source: string, flags: string): BoundedPattern {
  const pattern = new RegExp(source, flags);
  const work = patternWork(source);
  return {
    test(text) {
      const steps = work(text.length);
      if (used.patternSteps + steps > limits.patternSteps) return true;
      used.patternSteps += steps;
      return pattern.test(text);
    },
    // Ajv needs distinct patterns.
    toString: () => String(pattern),
  };
}
boundedPattern.code = 'boundedPattern';

function hasNoDuplicates(wanted: boolean, items: readonly Value[]): boolean {
  return !wanted || new Set(items.map(canonicalJson)).size === items.length;
}

/** Whether a number is a multiple of another one, in decimal digits. */
function isMultiple(divisor: number, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const [a, b] = [decimal(value), decimal(divisor)];
  const scale = Math.max(a.places, b.places);
  return (a.digits * 10n ** BigInt(scale - a.places)) % (b.digits * 10n ** BigInt(scale - b.places)) === 0n;
}

/** Writes a number as `digits` divided by ten to the power of `places`. */
function decimal(value: number): { readonly digits: bigint; readonly places: number } {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places < 0 ? { digits: digits * 10n ** BigInt(-places), places: 0 } : { digits, places };
}

function compileChecker(declared: unknown): ReplyChecker {
  const { schema, diagnostics } = convertSchema(declared, meter);
  const wrong = diagnostics.filter(({ severity }) => severity === 'error');
  if (wrong.length > 0) {
    const errors = wrong.map(({ path, message }) =>
      cutText(`The schema is wrong at /${path.join('/')}: ${message}`),
    );
    return { mistakes: diagnostics, check: () => ({ ok: false, problems: errors.slice(0, limits.errors) }) };
  }
  let validate: ValidateFunction | undefined;
  return {
    mistakes: diagnostics,
    check(value) {
      try {
        // Compiled on first use: validating a pipeline does not wait for it.
        validate ??= compile(schema);
        return check(validate, value);
      } catch (error) {
        // Schemas that lead to each other use the stack as well.
        if (!(error instanceof TooMuchWork || error instanceof RangeError)) throw error;
        return { ok: false, problems: ['The answer takes too much work to check against its schema.'] };
      }
    },
  };
}

/** Loads ajv on first use: commands that only read pipelines do not wait for it. */
const loadAjv = (): typeof Ajv2020 =>
  (createRequire(import.meta.url)('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 }).Ajv2020;

/** @returns a function that tells whether a value fits the schema, and may throw {@link TooMuchWork} */
function compile(schema: unknown): ValidateFunction {
  const Ajv = loadAjv();
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    inlineRefs: false,
    addUsedSchema: false,
    logger: false,
    // Ajv's optimizer takes time that grows with the square of the schema.
    code: { regExp: boundedPattern, optimize: false },
  });
  ajv.addKeyword({ keyword: meter, schema: false, errors: false, validate: countStep });
  // Ajv's own keyword divides binary fractions: 8.69 by 0.01 leaves a remainder.
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    errors: false,
    validate: isMultiple,
    error: { message: ({ schema: divisor }) => `must be multiple of ${String(divisor)}` },
  });
  // Ajv's own keyword compares each item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: hasNoDuplicates,
    error: { message: 'must NOT have equal items' },
  });
  return ajv.compile(schema as object);
}

function check(validate: ValidateFunction, value: unknown): SchemaVerdict {
  const beyond = tooLarge(value);
  if (beyond !== undefined) return { ok: false, problems: [beyond] };
  used.steps = 0;
  used.patternSteps = 0;
  if (validate(value)) return { ok: true };
  const errors = [...new Set((validate.errors ?? []).filter(isReported).map(describeError))];
  validate.errors = null;
  const rest = errors.length - limits.errors;
  return {
    ok: false,
    problems: rest > 0 ? [...errors.slice(0, limits.errors), `and ${rest} more`] : errors,
  };
}

/** Returns an error if a reply is too large. Walks without recursion: a reply may be nested deeper than the stack. */
function tooLarge(value: unknown): string | undefined {
  let level: unknown[] = [value];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.depth) return `The answer is nested more than ${limits.depth} deep.`;
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const member of Object.values(one)) next.push(member);
      if (values + next.length > limits.values) return `The answer has more than ${limits.values} values.`;
    }
    values += next.length;
    level = next;
  }
  return undefined;
}

/** Whether a problem is reported. A failed `if` only repeats the problem of its branch. */
const isReported = ({ keyword }: ErrorObject): boolean => keyword !== 'if';

function describeError({ instancePath, keyword, message = 'is wrong', params }: ErrorObject): string {
  const place = instancePath === '' ? 'The answer' : instancePath;
  const details = params as Readonly<Record<string, unknown>>;
  if (keyword === 'enum' || keyword === 'const') {
    const allowed = keyword === 'enum' ? details['allowedValues'] : [details['allowedValue']];
    return cutText(`${place} must be one of ${JSON.stringify(allowed).slice(1, -1)}`);
  }
  const extra = details['additionalProperty'] ?? details['unevaluatedProperty'];
  const more = extra === undefined ? '' : ` (${JSON.stringify(extra)})`;
  return cutText(`${place} ${message}${more}`);
}
