import { Context } from 'liquidjs';
import { engine } from './liquid-engine.ts';
import { WorkMeter } from './liquid-limits.ts';
import type { TemplateScope } from './template.ts';
import { WrittenNumber } from './value.ts';

const noTimeLimit = { use: () => {}, check: () => {} };

/** liquidjs' context over our scope. */
class ScopeContext extends Context {
  /** A part of nothing, or of a number, is not there; liquidjs would give nothing, or the number's insides. */
  override readProperty(...args: Parameters<Context['readProperty']>): unknown {
    const owner: unknown = args[0];
    if (owner === null || owner instanceof WrittenNumber) return undefined;
    return super.readProperty(...args);
  }
}

/** A context that holds those of `roots` that the scope has. */
export function openContext(scope: TemplateScope, roots: readonly string[]): Context {
  const visible: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const root of roots) {
    if (root === 'steps') visible[root] = scope.steps;
    else if (root === 'repeat') visible[root] = scope.repeat;
    else if (Object.hasOwn(scope.vars, root)) visible[root] = scope.vars[root];
  }
  type Limit = Context['memoryLimit'];
  return new ScopeContext(
    visible,
    engine.options,
    { sync: true },
    {
      liquid: engine,
      memoryLimit: new WorkMeter() as unknown as Limit,
      renderLimit: noTimeLimit as unknown as Limit,
    },
  );
}
