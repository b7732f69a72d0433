import { type StepUse, TemplateError, type TemplateScope } from '../../pipeline/templates/template.ts';
import { treeSteps } from '../../pipeline/templates/tree.ts';
import type { Value } from '../../pipeline/values/value.ts';
import { type Fields, renderPlain } from './render.ts';
import { usualResult } from './tokens.ts';

/**
 * The likely fields of a request that reads missing results: placeholders of about their length stand for them. A field
 * that cannot be rendered with placeholders (a loop over a list, a comparison of a number) is left out.
 */
export function placeholderOf(fields: Fields, scope: TemplateScope): Readonly<Record<string, Value>> {
  const standing = { ...scope, steps: standIns(treeSteps(fields)) };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, tree]) => {
      try {
        return [[name, renderPlain(tree, standing)] as const];
      } catch (error) {
        if (error instanceof TemplateError) return [];
        throw error;
      }
    }),
  );
}

/** Results that have every member that is read. */
function standIns(uses: readonly StepUse[]): TemplateScope['steps'] {
  const steps: Members = {};
  for (const { step, path } of uses) {
    let at = membersOf(steps, step);
    for (const name of path.slice(0, -1)) at = membersOf(at, name);
    const last = path.at(-1);
    if (last !== undefined && !Object.hasOwn(at, last)) at[last] = 'x'.repeat(usualResult(path));
  }
  return steps as TemplateScope['steps'];
}

interface Members {
  [name: string]: Members | string;
}

/** The mapping under a name; a text that stands there gives way to it. */
function membersOf(parent: Members, name: string): Members {
  const found = Object.hasOwn(parent, name) ? parent[name] : undefined;
  if (typeof found === 'object') return found;
  const made: Members = {};
  parent[name] = made;
  return made;
}
