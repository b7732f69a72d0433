import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { listing, suggestion } from '../../diagnostics/did-you-mean.ts';
import { isPress, isStepKind, isTextKind } from '../../kinds.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { ButtonMatch, StepKind } from '../../pipeline.ts';
import { plainLabel } from '../../selectors/button-stage.ts';
import { globMatches, globsMeet } from '../../selectors/glob.ts';
import { knownNames } from '../../selectors/known-buttons.ts';
import { type Prices, priceEntry, selectorNames } from '../../settings/price-entry.ts';
import { hasTags } from '../../templates/compile.ts';
import { isTemplate, treeSteps, treeVariables } from '../../templates/tree.ts';
import { entriesOf, isText, member, type SourceNode } from '../../yaml/node.ts';
import { type StepDraft, selectorsOf } from '../draft.ts';
import { literalScopes, renderedOf } from '../literal-scopes.ts';

/** Most diagnostics for unused prices: a file may list the prices of a whole gateway. */
const maxListed = 20;

interface Paid {
  readonly kind: StepKind;
  /** Name under which the price may stand: a button or a model. Absent if its kind is enough. */
  readonly name?: string;
  /** For a button, its possible labels; for a model, absent if only the run decides. */
  readonly match?: ButtonMatch;
  /** Whether the model is known only in the run. */
  readonly isOpen: boolean;
}

/**
 * Reports a cost budget that does not cover everything because a price is missing, and warns of unused prices. Reports nothing if a step
 * could not be read.
 */
export function checkPrices(
  root: SourceNode,
  steps: readonly StepDraft[],
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): void {
  if (steps.some((step) => !step.usesKnown || !step.pathKnown || step.kind === undefined)) return;
  const block = member(root, 'prices');
  const prices: Prices = Object.fromEntries(
    entriesOf(block).map(({ key, value }) => [key, value.kind === 'mapping' ? { input: 0, output: 0 } : 0]),
  );
  const paid = steps.flatMap((step) => paidBy(step, matrix));
  for (const key of ['cost', 'ask'] as const)
    checkBudget(key, member(member(root, 'budget'), key), prices, paid, collector);
  let listed = 0;
  for (const { key, keySpan } of entriesOf(block)) {
    if (paid.some((one) => mayHave(one, key, prices))) continue;
    listed += 1;
    if (listed > maxListed) return;
    const isByTokens =
      typeof prices[key] !== 'number' && paid.some(({ kind, name }) => [kind, name].includes(key));
    if (isByTokens) {
      const message = `"${key}" has a price by tokens, but only text models count tokens.`;
      collector.warning('price.unused', keySpan, message, 'Write one number: the cost of a submission.');
      continue;
    }
    const message = `The price "${key}" applies to nothing in this pipeline.`;
    collector.warning('price.unused', keySpan, message, () =>
      suggestion(key, namesOf(paid), 'names that a price can stand under here'),
    );
  }
}

function paidBy(step: StepDraft, matrix: MatrixDraft): readonly Paid[] {
  const { kind } = step;
  if (kind === undefined) return [];
  const pressed = selectorsOf(step).flatMap((one) => {
    const names = selectorNames(one);
    return one.alternatives.map(
      (match, index): Paid => ({ kind: 'click', name: names[index] ?? '', match, isOpen: false }),
    );
  });
  if (isPress(kind)) return pressed;
  return [...(isTextKind(kind) ? modelsOf(step, kind, matrix) : [{ kind, isOpen: false }]), ...pressed];
}

/** Returns the models that a text step calls: those that the file gives, else one that only the run decides. */
function modelsOf(step: StepDraft, kind: StepKind, matrix: MatrixDraft): readonly Paid[] {
  const { model } = step.request;
  if (!isTemplate(model)) return [{ kind, isOpen: true }];
  const names = new Set<string>();
  for (const scope of literalScopes(step, [model], matrix)) {
    const name = renderedOf(() => model.render(scope));
    if (name !== undefined) names.add(name);
  }
  const listed = treeVariables(model).every(({ path: [root = ''] }) => isListed(root, matrix));
  const paid = [...names].map((name): Paid => ({ kind, name, isOpen: false }));
  return listed && treeSteps(model).length === 0 && paid.length > 0
    ? paid
    : [...paid, { kind, isOpen: true }];
}

const isListed = (name: string, { spec, variables }: MatrixDraft): boolean =>
  spec.sample === undefined && variables.get(name)?.axis?.kind === 'values';

function checkBudget(
  key: 'cost' | 'ask',
  cost: SourceNode | undefined,
  prices: Prices,
  paid: readonly Paid[],
  collector: DiagnosticCollector,
): void {
  // A value that is not a number is reported elsewhere; its meaning is unknown.
  if (cost === undefined || isText(cost)) return;
  const unbounded = new Set(paid.filter((one) => !hasPrice(one, prices)).map(calledOf));
  if (unbounded.size === 0) return;
  const message =
    Object.keys(prices).length === 0
      ? `budget.${key} needs prices, but the pipeline gives none.`
      : `budget.${key} cannot limit steps without a price: ${listing([...unbounded])}.`;
  const kinds = [...new Set(paid.filter((one) => !hasPrice(one, prices)).map(({ kind }) => kind))];
  const example = kinds.map((kind) => `${kind}: 0.04`).join(', ');
  const hint = `Give a price, for example prices: { ${example} }, or 0 if it is free. The price of a kind applies to all of that kind without a price of their own.`;
  collector.error('budget.unpriced', cost.span, message, hint);
}

const hasPrice = ({ kind, name, isOpen }: Paid, prices: Prices): boolean =>
  priceEntry(prices, kind, name === undefined ? [] : [name]) !== undefined ||
  // The model may be any with a price; the run stops one without a price.
  (isOpen && Object.keys(prices).some(mayBeModel));

const mayBeModel = (entry: string): boolean => !isStepKind(entry) && !entry.includes('*');

const calledOf = ({ kind, name }: Paid): string => name ?? kind;

/** Whether an entry may be the price of something that runs, or covers its whole kind. */
function mayHave({ kind, name, match, isOpen }: Paid, entry: string, prices: Prices): boolean {
  if (isTextKind(kind)) return entry === kind || entry === name || (isOpen && mayBeModel(entry));
  if (typeof prices[entry] !== 'number') return false;
  return entry === kind || (match !== undefined && mayBeCalled(match, entry));
}

function mayBeCalled(match: ButtonMatch, entry: string): boolean {
  switch (match.kind) {
    case 'wildcard':
      return globsMeet(entry, match.source);
    case 'text': {
      const { source } = match.text;
      if (!hasTags(source)) return sameOrFits(entry, source);
      return globsMeet(entry, source.replaceAll(/\{\{[^{}]*\}\}|\{%[^{%]*%\}/g, '*'));
    }
    case 'word':
      return entry === match.word || knownNames.some((name) => sameOrFits(entry, name));
    case 'pattern':
      return entry === `/${match.source}/` || knownNames.some((name) => sameOrFits(entry, name));
  }
}

const sameOrFits = (entry: string, name: string): boolean =>
  plainLabel(entry) === plainLabel(name) || (entry.includes('*') && globMatches(entry, name));

const namesOf = (paid: readonly Paid[]): readonly string[] => [
  ...new Set(paid.flatMap(({ kind, name }) => (name === undefined ? [kind] : [name, kind]))),
];
