import { Context, type Token } from 'liquidjs';
import { WrittenNumber } from '../values/value.ts';
import { engine } from './engine.ts';
import { WorkMeter } from './limits.ts';
import { membersInstead, undefinedName } from './render.ts';
import type { TemplateScope } from './template.ts';

const noTimeLimit = { use: () => {}, check: () => {} };

/** liquidjs' context for our scope. */
class ScopeContext extends Context {
  /** Treats members of nothing and of numbers as missing; liquidjs would give nothing, or the number's internals. */
  override readProperty(...args: Parameters<Context['readProperty']>): unknown {
    const owner: unknown = args[0];
    if (owner === null || owner instanceof WrittenNumber) return undefined;
    return super.readProperty(...args);
  }
}

function readRoot(scope: TemplateScope, root: string): unknown {
  if (root === 'steps') return scope.steps;
  if (root === 'repeat') return scope.repeat;
  return Object.hasOwn(scope.vars, root) ? scope.vars[root] : undefined;
}

/** Opens a context with those of `roots` that exist in the scope. */
export function openContext(scope: TemplateScope, roots: readonly string[]): Context {
  const visible: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const root of roots) {
    const value = readRoot(scope, root);
    if (value !== undefined) visible[root] = value;
  }
  type Limit = Context['memoryLimit'];
  return new ScopeContext(
    visible,
    engine.options,
    { sync: true },
    {
      liquid: engine,
      memoryLimit: new WorkMeter(scope.isExact) as unknown as Limit,
      renderLimit: noTimeLimit as unknown as Limit,
    },
  );
}

/** An empty context for liquidjs' rules for members (`size`, `first`, negative indexes). */
const members = new ScopeContext(Object.create(null) as object, engine.options, { sync: true });

/** Reads a value of the scope by its names and indexes. @throws TemplateError `template.undefined` */
export function readPath(scope: TemplateScope, path: readonly (string | number)[], token: Token): unknown {
  let value: unknown;
  for (const [index, key] of path.entries()) {
    const owner = value;
    value = index === 0 ? readRoot(scope, String(key)) : members.readProperty(value as object, key);
    if (value !== undefined) continue;
    const way = path.slice(0, index + 1);
    throw undefinedName(way.join('.'), token, undefined, membersInstead(way, owner));
  }
  return value;
}
