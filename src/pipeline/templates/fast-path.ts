import { type Template as LiquidNode, Output, type Token, TypeGuards } from 'liquidjs';
import type { Value } from '../values/value.ts';
import { checkLength, explain, outputValue, textOf } from './render.ts';
import { readPath } from './scope.ts';
import type { TemplateScope } from './template.ts';

/**
 * Fast rendering of most templates: texts with `{{ a.b }}` between them, without filters and tags. The result is that of liquidjs,
 * without its generators, in a fraction of the time.
 */

interface PlainOutput {
  readonly path: readonly (string | number)[];
  readonly token: Token;
}

function plainOutput(node: LiquidNode): PlainOutput | undefined {
  if (!(node instanceof Output) || node.value.filters.length > 0) return undefined;
  const [access, ...more] = node.value.initial.postfix;
  if (more.length > 0 || !TypeGuards.isPropertyAccessToken(access) || access.variable !== undefined) {
    return undefined;
  }
  const path: (string | number)[] = [];
  for (const member of access.props) {
    if (
      !TypeGuards.isWordToken(member) &&
      !TypeGuards.isQuotedToken(member) &&
      !TypeGuards.isNumberToken(member)
    ) {
      return undefined;
    }
    path.push(member.content);
  }
  return { path, token: node.token };
}

const textPart = (node: LiquidNode): string | undefined =>
  TypeGuards.isHTMLToken(node.token) ? node.token.getContent() : undefined;

/** Returns a fast renderer for nodes that allow it; throws the same errors as the slow one. */
export function plainRenderer(nodes: readonly LiquidNode[]): ((scope: TemplateScope) => string) | undefined {
  const parts: (string | PlainOutput)[] = [];
  for (const node of nodes) {
    const part = textPart(node) ?? plainOutput(node);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return (scope) => {
    let text = '';
    for (const part of parts) {
      if (typeof part === 'string') text += part;
      else {
        try {
          text += textOf(readPath(scope, part.path, part.token));
          checkLength(text);
        } catch (thrown) {
          throw explain(thrown, part.token);
        }
      }
    }
    return text;
  };
}

/** Returns a fast evaluator for a node that is a single plain output. */
export function plainReader(node: LiquidNode): ((scope: TemplateScope) => Value) | undefined {
  const output = plainOutput(node);
  if (output === undefined) return undefined;
  return (scope) => {
    try {
      return outputValue(readPath(scope, output.path, output.token));
    } catch (thrown) {
      throw explain(thrown, output.token);
    }
  };
}
