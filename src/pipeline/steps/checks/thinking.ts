import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { TemplateTree } from '../../templates/template.ts';
import { isTemplate, renderTree, treeVariables } from '../../templates/tree.ts';
import { nodeAt, type SourceMapping, type SourceNode } from '../../yaml/node.ts';
import {
  modelsEntry,
  modelThinking,
  readWish,
  type ThinkingField,
  type ThinkingWish,
  thinkingError,
} from '../domain/thinking.ts';
import type { CheckContext, StepDraft } from '../draft.ts';
import { literalScopes, renderedOf } from '../literal-scopes.ts';

interface Given {
  readonly node: SourceNode;
  readonly as: ThinkingField;
  /** Absent if the template has errors. */
  readonly tree?: TemplateTree;
}

/**
 * Reports a thinking parameter that its model does not accept (gateway 6.3). If templates give the model or the parameter, checks every
 * combination that the matrix lists in this file; any other is checked when it is rendered.
 */
export function checkThinking(
  step: StepDraft,
  operation: SourceMapping,
  { matrix, models, collector }: CheckContext,
): void {
  const { request, usesKnown } = step;
  const given = givenOf(operation, request);
  const [first, second] = given;
  if (first === undefined) return;
  if (second !== undefined) {
    const message = 'A model takes one thinking parameter, but here are several.';
    const hint = 'Keep thinking, thinkingLevel or thinkingBudget.';
    collector.error('thinking.both', second.node.span, message, hint);
    return;
  }
  const { node, as, tree } = first;
  const { model } = request;
  if (!usesKnown || tree === undefined || !isTemplate(model)) return;
  const varies = treeVariables([model, tree]).length > 0;
  for (const scope of literalScopes(step, [model, tree], matrix)) {
    const name = renderedOf(() => model.render(scope));
    const wish = readWish(
      as,
      renderedOf(() => renderTree(tree, scope)),
    );
    if (name === undefined || name === '' || wish === undefined) continue;
    if (modelThinking(name, models) === undefined) warnOfModel(name, wish, node, collector);
    const diagnostic = thinkingError(name, wish, models);
    if (diagnostic === undefined) continue;
    const { code, message, hint } = diagnostic;
    const way = varies ? `${hint} An axis of mappings can give each model its own thinking.` : hint;
    collector.error(code, node.span, message, way);
  }
}

function givenOf(operation: SourceMapping, request: StepDraft['request']): readonly Given[] {
  const path = ['generationConfig', 'thinkingConfig'];
  const places: readonly (readonly [ThinkingField, readonly string[]])[] = [
    ['short', ['thinking']],
    ['level', [...path, 'thinkingLevel']],
    ['budget', [...path, 'thinkingBudget']],
  ];
  return places.flatMap(([as, names]): Given[] => {
    const node = nodeAt(operation, names);
    const tree = names.reduce<TemplateTree | undefined>(memberOf, request);
    return node === undefined ? [] : [{ node, as, ...(tree === undefined ? {} : { tree }) }];
  });
}

const memberOf = (tree: TemplateTree | undefined, name: string): TemplateTree | undefined =>
  typeof tree === 'object' && tree !== null && Object.hasOwn(tree, name)
    ? (tree as { readonly [name: string]: TemplateTree })[name]
    : undefined;

function warnOfModel(
  model: string,
  wish: ThinkingWish,
  node: SourceNode,
  collector: DiagnosticCollector,
): void {
  const way = 'level' in wish ? 'level' : 'budget';
  const message = `It is not known whether the model "${model}" takes a thinking ${way}; the service may refuse a wrong one.`;
  const hint = `Say so at the top of the file: ${modelsEntry(model, way)} (or ${way === 'level' ? 'budget' : 'level'}, or none).`;
  collector.warning('thinking.unknown-model', node.span, message, hint);
}
