import {
  type Expression,
  type Template as LiquidNode,
  Output,
  type Token,
  TypeGuards,
  toValueSync,
  Value,
} from 'liquidjs';
import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { type DiagnosticDraft, draft } from '../diagnostics/diagnostic.ts';
import { cutText } from '../diagnostics/terminal-text.ts';
import { WrittenNumber } from '../values/value.ts';
import { dateFilters, isMovingDate } from './date-filter.ts';
import { engine, filterHint, unsupportedFilters } from './engine.ts';
import { askedFor, expressionDiagnostic, unexpected } from './expression.ts';
import { templateLimits } from './limits.ts';
import { absentable, boundedRange, prepareOffset, rangeBound } from './token-override.ts';

/** A name that a template reads from its scope. */
export interface NameUse {
  readonly root: string;
  /** Members after the root, up to the first computed one. */
  readonly path: readonly string[];
  readonly offset: number;
  readonly length: number;
  /** Whether the value is output unchanged: `{{ x }}`, without a filter. */
  readonly output: boolean;
}

/** The result of a template's static analysis. */
export interface Analysis {
  /** Names in order of appearance; `steps` is among them. */
  readonly uses: readonly NameUse[];
  readonly diagnostics: readonly DiagnosticDraft[];
}

const isTest = (node: LiquidNode): boolean => {
  const { name } = node as LiquidNode & { name?: string };
  return name === 'if' || name === 'unless';
};

/** Matches the text after an expression: the end of its tag, of its line (in the liquid tag), or of the condition. */
const afterExpression = /[ \t\r]*\n|\s*(?:-?[%}]\}|$)/y;

interface FilterCall {
  readonly name: string;
  readonly args: readonly unknown[];
  /** Token of `name: args`; absent on a filter that liquidjs made itself. */
  readonly token?: Token;
}

/**
 * Walks a parsed template to find the names it reads and its errors, and prepares single tokens for rendering: written numbers, bounds of
 * ranges, names that may be absent.
 */
class Walk {
  readonly uses: NameUse[] = [];
  readonly diagnostics: DiagnosticDraft[] = [];
  /** Names that assign and capture define, by the offset from which they exist. */
  readonly #assigned = new Set<string>();
  /** Names of the surrounding loops. */
  readonly #loops: string[] = [];
  /** The name in an output that contains nothing else. */
  #output: Token | undefined;

  nodes(nodes: readonly LiquidNode[]): void {
    for (const node of nodes) this.node(node);
  }

  node(node: LiquidNode): void {
    if (node instanceof Output) {
      const { filters, initial } = node.value;
      this.#output = filters.length === 0 && initial.postfix.length === 1 ? initial.postfix[0] : undefined;
    }
    for (const argument of (node.arguments?.() ?? []) as Iterable<Value | Token | undefined>) {
      // A word without a value, as in `{% for x in list reversed %}`.
      if (argument === undefined) continue;
      if (argument instanceof Value) this.value(argument, node.token, isTest(node));
      else if (!(argument.getText() === 'continue' && 'hash' in node)) this.token(argument);
    }
    prepareOffset(node);
    for (const local of node.localScope?.() ?? []) {
      this.#declare(local.content, local);
      this.#assigned.add(local.content);
    }
    if (node.children === undefined) return;
    const inside = [...(node.blockScope?.() ?? [])];
    for (const name of inside) this.#declare(name, node.token);
    this.#loops.push(...inside);
    this.nodes(toValueSync(node.children(false, true)));
    this.#loops.length -= inside.length;
  }

  value(value: Value, owner: Token, test: boolean): void {
    const filters = value.filters as unknown as readonly FilterCall[];
    const { postfix } = value.initial;
    const end = Math.max(
      owner.begin,
      ...postfix.map((token) => token.end),
      ...filters.map((filter) => filter.token?.end ?? 0),
    );
    afterExpression.lastIndex = end;
    if (!afterExpression.test(owner.input)) this.diagnostics.push(unexpected(owner.input, end));
    this.#expression(value.initial, owner, test, filters);
    for (const filter of filters) this.#filter(filter, owner);
  }

  token(token: Token): void {
    if (TypeGuards.isRangeToken(token)) {
      this.token(token.lhs);
      this.token(token.rhs);
      const range = token as unknown as { lhs: Token; rhs: Token } & Token;
      const rhs = boundedRange(range);
      range.lhs = rangeBound(range.lhs);
      range.rhs = rhs;
    } else if (TypeGuards.isPropertyAccessToken(token)) {
      this.#access(token);
    } else if (TypeGuards.isNumberToken(token)) {
      const text = token.getText();
      if (text !== String(token.content)) {
        (token as { content: unknown }).content = new WrittenNumber(text, token.content);
      }
    } else if (TypeGuards.isFilteredValueToken(token)) {
      this.#expression(token.initial, token, false, token.filters);
      for (const filter of token.filters)
        this.#filter({ name: filter.name, args: filter.args, token: filter }, token);
    }
  }

  #diagnostic(code: DiagnosticCode, message: string, offset: number, length: number, hint?: string): void {
    this.diagnostics.push(draft(code, cutText(message), offset, length, hint));
  }

  #declare(name: string, token: Token): void {
    if (name !== 'steps' && name !== 'repeat') return;
    const message = `The name "${name}" is reserved; choose another one.`;
    this.#diagnostic('template.reserved', message, token.begin, token.size());
  }

  #filter(filter: FilterCall, owner: Token): void {
    const { begin, end } = filter.token ?? owner;
    if (!(filter.name in engine.filters)) {
      const { name } = filter;
      const why = Object.hasOwn(unsupportedFilters, name) ? unsupportedFilters[name] : undefined;
      const length = end - begin;
      if (why === undefined) {
        const message = `There is no filter "${name}".`;
        this.#diagnostic('template.unknown-filter', message, begin, length, filterHint(name));
      } else {
        const message = `The filter "${name}" is not available: ${why}.`;
        this.#diagnostic('template.refused-filter', message, begin, length);
      }
    }
    for (const argument of filter.args) {
      // A named argument is a pair; its value may be missing.
      const token: unknown = Array.isArray(argument) ? argument[1] : argument;
      if (token !== undefined) this.token(token as Token);
    }
  }

  #expression(expression: Expression, owner: Token, test: boolean, filters: readonly FilterCall[]): void {
    const { postfix } = expression;
    const diagnostic = expressionDiagnostic(postfix);
    if (diagnostic !== undefined) return void this.diagnostics.push(diagnostic);
    const [first] = postfix;
    const [filter] = filters;
    if (postfix.length === 1 && first !== undefined && filter !== undefined) {
      if (
        Object.hasOwn(dateFilters, filter.name) &&
        TypeGuards.isQuotedToken(first) &&
        isMovingDate(first.content)
      ) {
        const message = `A date of "${first.content}" gives a different text each day.`;
        const length = owner.end > first.begin ? first.size() : 0;
        const hint = 'Write the date, or make it a variable of the matrix.';
        this.#diagnostic('template.not-repeatable', message, first.begin, length, hint);
      }
    }
    for (const token of postfix) this.token(token);
    const asked = test ? askedFor(postfix) : [];
    if (postfix.length === 1 && filter?.name === 'default') asked.push(0);
    for (const index of asked) {
      const token = postfix[index];
      if (TypeGuards.isPropertyAccessToken(token)) postfix[index] = absentable(token);
    }
  }

  #access(access: Token & { variable: Token | undefined; props: Token[] }): void {
    if (access.variable !== undefined) this.token(access.variable);
    const members = access.variable === undefined ? access.props.slice(1) : access.props;
    for (const member of members) {
      // Names, and indexes, which stay numbers.
      if (!TypeGuards.isWordToken(member) && !TypeGuards.isNumberToken(member)) this.token(member);
    }
    const [root] = access.props;
    if (access.variable !== undefined || root === undefined) return;
    const name = constant(root);
    if (name === undefined) {
      this.token(root);
      const message = 'The name of a variable cannot be computed.';
      return this.#diagnostic('template.computed-name', message, access.begin, access.size());
    }
    if (this.#assigned.has(name) || this.#loops.includes(name)) return;
    const path: string[] = [];
    for (const member of members) {
      const part = constant(member);
      if (part === undefined) break;
      path.push(part);
    }
    if (name === 'steps' && (path.length === 0 || TypeGuards.isNumberToken(members[0]))) {
      const isAlone = members.length === 0;
      const message = isAlone
        ? '"steps" alone has no value.'
        : 'The name of a step must be written, not computed.';
      const hint = 'Name the step: steps.<name>.';
      return this.#diagnostic('template.steps', message, access.begin, access.size(), hint);
    }
    this.uses.push({
      root: name,
      path,
      offset: access.begin,
      length: access.size(),
      output: access === this.#output,
    });
  }
}

function constant(token: Token): string | undefined {
  if (TypeGuards.isWordToken(token)) return (token as Token & { content: string }).content;
  if (TypeGuards.isQuotedToken(token)) return token.content;
  if (TypeGuards.isNumberToken(token)) return String(token.content);
  return undefined;
}

function finish(walk: Walk): Analysis {
  return {
    uses: walk.uses.toSorted((a, b) => a.offset - b.offset),
    diagnostics: walk.diagnostics
      .toSorted((a, b) => a.offset - b.offset)
      .slice(0, templateLimits.diagnostics),
  };
}

/** Analyses the nodes of a template and prepares them for rendering; once per parse. */
export function analyseNodes(nodes: readonly LiquidNode[]): Analysis {
  const walk = new Walk();
  walk.nodes(nodes);
  return finish(walk);
}

/** Analyses the value of a condition and prepares it for rendering; `owner` spans its text. */
export function analyseCondition(value: Value, owner: Token): Analysis {
  const walk = new Walk();
  walk.value(value, owner, true);
  return finish(walk);
}
