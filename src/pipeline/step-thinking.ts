import { hasTags } from './liquid.ts';
import { type ModelThinking, modelThinking } from './model-generation.ts';
import { listing } from './near.ts';
import { isText, member, type SourceMapping, type SourceNode } from './node.ts';
import type { Thinking } from './pipeline.ts';
import type { Reports } from './reports.ts';
import { WrittenNumber } from './value.ts';

/** One thinking parameter as it is written. */
interface Given {
  readonly node: SourceNode;
  readonly as: 'short' | 'level' | 'budget';
}

/**
 * Reports a thinking parameter that its model does not take (service.md 4.2, rule 1). Where a template gives the model
 * or the parameter, nothing can be said.
 */
export function checkThinking(
  operation: SourceMapping,
  models: Readonly<Record<string, Thinking>>,
  reports: Reports,
): void {
  const config = member(member(operation, 'generationConfig'), 'thinkingConfig');
  const places: readonly (readonly [Given['as'], SourceNode | undefined])[] = [
    ['short', member(operation, 'thinking')],
    ['level', member(config, 'thinkingLevel')],
    ['budget', member(config, 'thinkingBudget')],
  ];
  const given = places.flatMap(([as, node]): Given[] => (node === undefined ? [] : [{ as, node }]));
  const [first, second] = given;
  if (first === undefined) return;
  if (second !== undefined) {
    const message = 'A model takes one thinking parameter, and here are several.';
    const hint = 'Keep thinking, thinkingLevel or thinkingBudget.';
    reports.error('thinking.both', second.node.span, message, hint);
    return;
  }
  const model = member(operation, 'model');
  const wanted = readThinking(first);
  if (!isText(model) || model.value === '' || hasTags(model.value) || wanted === undefined) return;
  const known = modelThinking(model.value, models);
  if (known === undefined) warnOfModel(model.value, wanted, first, reports);
  else checkAgainst(known, model.value, wanted, first, reports);
}

type Wanted = { readonly level: string } | { readonly budget: number };

function readThinking({ as, node }: Given): Wanted | undefined {
  if (node.kind !== 'scalar') return undefined;
  const value = node.value instanceof WrittenNumber ? node.value.value : node.value;
  if (typeof value === 'number') return as === 'level' ? undefined : { budget: value };
  if (typeof value !== 'string' || hasTags(value) || as === 'budget') return undefined;
  const level = value.toLowerCase();
  return ['minimal', 'low', 'medium', 'high'].includes(level) ? { level } : undefined;
}

const override = (model: string, thinking: Thinking): string =>
  `models: { ${/^[A-Za-z0-9._-]+$/.test(model) ? model : JSON.stringify(model)}: { thinking: ${thinking} } }`;

function warnOfModel(model: string, wanted: Wanted, { node }: Given, reports: Reports): void {
  const way = 'level' in wanted ? 'level' : 'budget';
  const message = `It is not known whether the model "${model}" takes a thinking ${way}; of the wrong kind, the service may refuse it.`;
  const hint = `Say so at the top of the file: ${override(model, way)} (or ${way === 'level' ? 'budget' : 'level'}, or none).`;
  reports.warning('thinking.unknown-model', node.span, message, hint);
}

function checkAgainst(
  known: ModelThinking,
  model: string,
  wanted: Wanted,
  { node }: Given,
  reports: Reports,
): void {
  const way = 'level' in wanted ? 'level' : 'budget';
  if (known.thinking !== way) {
    const takes =
      known.thinking === 'none'
        ? 'takes no thinking parameter'
        : `takes its thinking as a ${known.thinking}, not as a ${way}`;
    const fix =
      known.thinking === 'none'
        ? 'Leave it out'
        : known.thinking === 'level'
          ? 'Write thinking: low, or another level'
          : `Write thinking: ${known.budget === undefined ? 1024 : Math.max(1024, known.budget.from)}, or another number of tokens`;
    const hint = `${fix}. If the service sees it otherwise, say ${override(model, way)}.`;
    reports.error('thinking.generation', node.span, `The model "${model}" ${takes}.`, hint);
  } else if ('level' in wanted) {
    const { levels } = known;
    if (levels === undefined || (levels as readonly string[]).includes(wanted.level)) return;
    const message = `The model "${model}" has no thinking level "${wanted.level}".`;
    reports.error('thinking.range', node.span, message, `Its levels are ${listing(levels)}.`);
  } else {
    checkBudget(known, model, wanted.budget, node, reports);
  }
}

function checkBudget(
  { budget, off }: ModelThinking,
  model: string,
  wanted: number,
  node: SourceNode,
  reports: Reports,
): void {
  if (budget === undefined || wanted === -1 || (wanted === 0 && off === true)) return;
  if (wanted >= budget.from && wanted <= budget.to) return;
  const message =
    wanted === 0
      ? `The model "${model}" cannot do without thinking.`
      : `The model "${model}" takes no thinking budget of ${wanted}.`;
  const none = off === true ? '0 (off), ' : '';
  const hint = `It takes ${none}-1 (as it likes), and from ${budget.from} to ${budget.to} tokens.`;
  reports.error('thinking.range', node.span, message, hint);
}
