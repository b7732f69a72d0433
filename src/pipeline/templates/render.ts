import {
  type Context,
  type Emitter,
  type Template as LiquidNode,
  type Output,
  type Token,
  toValue,
  toValueSync,
} from 'liquidjs';
import { listing } from '../diagnostics/did-you-mean.ts';
import { cutText } from '../diagnostics/terminal-text.ts';
import { type Value, WrittenNumber } from '../values/value.ts';
import { templateLimits } from './limits.ts';
import { TemplateError } from './template.ts';

/** Converts a value to text. @throws TemplateError for a value without a text form */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const plain = plainValue(value);
  if (plain === null) return '';
  if (typeof plain === 'object' && !(plain instanceof WrittenNumber)) {
    throw new TemplateError(
      'template.object',
      `is ${Array.isArray(plain) ? 'a list' : 'a mapping'}, which cannot be written as text; name one of its members, or use the ${Array.isArray(plain) ? 'join' : 'json'} filter`,
    );
  }
  return String(plain);
}

/** Converts a template's result to a value of ours. */
export function plainValue(value: unknown): Value {
  const plain: unknown = toValue(value);
  if (plain === undefined) throw new TemplateError('template.undefined', 'gives nothing');
  if (typeof plain === 'number' && !Number.isFinite(plain)) {
    throw new TemplateError('template.filter', `gives ${plain}, which cannot be written as a number`);
  }
  return plain as Value;
}

/** Checks the length of a rendered text. @throws TemplateError if it is too long */
export function checkLength({ length }: string): void {
  if (length > templateLimits.output)
    throw new TemplateError('template.limit', `gives more than ${templateLimits.output} characters`);
}

/** Returns the value of a template that is a single output. @throws TemplateError */
export function outputValue(value: unknown): Value {
  const plain = plainValue(value);
  if (typeof plain === 'string') checkLength(plain);
  return plain;
}

class TextEmitter implements Emitter {
  buffer = '';
  readonly #meter: Context['memoryLimit'];

  constructor(meter: Context['memoryLimit']) {
    this.#meter = meter;
  }

  write(value: unknown): void {
    const text = textOf(value);
    this.#meter.use(text.length);
    this.buffer += text;
    checkLength(this.buffer);
  }
}

const shown = (token: Token): string => {
  const text = token.getText().replace(/\s+/g, ' ');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

/** Errors that already contain their place. */
const placed = new WeakSet<TemplateError>();

function place(code: TemplateError['code'], message: string, cause?: unknown): TemplateError {
  const error = new TemplateError(code, cutText(message), cause === undefined ? undefined : { cause });
  placed.add(error);
  return error;
}

/** Makes the error for a name that the scope does not have. */
export const undefinedName = (name: string, token: Token, cause?: unknown, more = ''): TemplateError =>
  place('template.undefined', `"${name}" is not defined here (in ${shown(token)}).${more}`, cause);

/** Lists the members that a reply's JSON has in place of a missing one; empty for anything other than a reply's JSON. */
export function membersInstead(path: readonly (string | number)[], owner: unknown): string {
  const [root, , field] = path;
  if (root !== 'steps' || field !== 'json' || path.length < 4) return '';
  const names =
    typeof owner === 'object' && owner !== null && !(owner instanceof WrittenNumber) && !Array.isArray(owner)
      ? Object.keys(owner)
      : undefined;
  const has = Array.isArray(owner)
    ? ` The JSON of the answer has a list of ${owner.length} there.`
    : names === undefined
      ? ' The JSON of the answer has no object there.'
      : names.length === 0
        ? ' The JSON of the answer has an empty object there.'
        : ` The JSON of the answer has ${listing(names)} there.`;
  return `${has} Write a member that may be missing as {{ ${path.join('.')} | default: "…" }}.`;
}

/** Returns our own error from reading a scope value, which liquidjs reports as an undefined name. */
function ownError(thrown: unknown): unknown {
  const original =
    thrown instanceof Error ? (thrown as { originalError?: unknown }).originalError : undefined;
  return original instanceof TemplateError ? original : thrown;
}

/** Turns any error thrown while rendering a node into a TemplateError. */
export function explain(caught: unknown, token: Token): TemplateError {
  const thrown = ownError(caught);
  if (thrown instanceof TemplateError) {
    if (placed.has(thrown)) return thrown;
    // Our own messages are either sentences or predicates of the tag's text.
    const sentence = /^[A-Z"]/.test(thrown.message);
    return place(
      thrown.code,
      sentence ? `${thrown.message} (in ${shown(token)})` : `${shown(token)} ${thrown.message}.`,
    );
  }
  if (thrown instanceof Error && thrown.name === 'UndefinedVariableError') {
    const name = (thrown as { originalError?: { variableName?: string } }).originalError?.variableName;
    return undefinedName(name ?? shown(token), token, thrown);
  }
  if (thrown instanceof RangeError && /call stack/i.test(thrown.message)) {
    return place('template.limit', `${shown(token)} is nested too deeply.`, thrown);
  }
  const reason =
    thrown instanceof Error ? thrown.message.replace(/, line:\d+, col:\d+$/, '') : String(thrown);
  return place('template.filter', `${shown(token)} failed: ${reason}.`, thrown);
}

/**
 * Renders nodes to text. Replaces liquidjs' own renderer, which reads the wall clock, writes `[object Object]` and drops a 0 that a tag
 * returns.
 *
 * @throws TemplateError
 */
export function* renderNodes(
  nodes: LiquidNode[],
  context: Context,
  emitter: Emitter = new TextEmitter(context.memoryLimit),
): Generator<unknown, string, unknown> {
  context.memoryLimit.use(templateLimits.node);
  for (const node of nodes) {
    try {
      context.memoryLimit.use(templateLimits.node);
      const written = yield node.render(context, emitter);
      if (written !== undefined && written !== null) emitter.write(written);
    } catch (thrown) {
      throw explain(thrown, node.token);
    }
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

/** @throws TemplateError */
export function renderText(nodes: LiquidNode[], context: Context): string {
  return toValueSync(renderNodes(nodes, context));
}

/** Returns the value of a template that is a single output. @throws TemplateError */
export function renderOutput(output: Output, context: Context): Value {
  try {
    return outputValue(toValueSync(output.value.value(context, false)));
  } catch (thrown) {
    throw explain(thrown, output.token);
  }
}
