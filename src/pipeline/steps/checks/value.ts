import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import { literalCells } from '../../matrix/literal-cells.ts';
import {
  type Template,
  TemplateError,
  type TemplateScope,
  type TemplateTree,
} from '../../templates/template.ts';
import { isTemplate, treeTemplates } from '../../templates/tree.ts';
import { memberAt } from '../../values/path.ts';
import { isMapping, type Value } from '../../values/value.ts';
import type { StepDraft } from '../draft.ts';
import { renderedOf } from '../variables/literal-scopes.ts';
import { missingMember } from '../variables/missing-member.ts';

/** Fields that are text for any result of their template. */
const textFields = new Set(['prompt', 'system', 'model']);

/** Stands for text that only a table or the run can give. */
const anyText = 'text';

/**
 * Reports templates that would write a mapping or a list as text in a cell that is certain to come: each such cell fails in
 * the run. Warns of values that lack a member which a template reads: only their cells fail. Values that are not in the file (tables, results of steps) are taken for text.
 */
export function checkValues(step: StepDraft, matrix: MatrixDraft, collector: DiagnosticCollector): void {
  if (!step.usesKnown) return;
  const { request, extra = {}, selector, path } = step;
  for (const [name, tree] of Object.entries(request)) checkTree(tree, textFields.has(name));
  for (const tree of Object.values(extra)) checkTree(tree, false);
  const selectors = [
    ...(selector === undefined ? [] : [selector]),
    ...path.flatMap(({ selectors: all }) => all),
  ];
  for (const { alternatives } of selectors)
    for (const match of alternatives) if (match.kind === 'text') checkTree(match.text, true);
  for (const { prompt } of path) if (prompt !== undefined) checkTree(prompt, true);

  function checkTree(tree: TemplateTree, isText: boolean): void {
    // Alone in a field that is no text, an output keeps its type.
    for (const template of treeTemplates(tree))
      checkTemplate(template, isText && isTemplate(tree) ? 'render' : 'evaluate');
  }

  function checkTemplate(template: Template, as: 'render' | 'evaluate'): void {
    const known = knownScopes(template, step, matrix);
    if (known === undefined) return;
    let all = true;
    let first: { readonly error: TemplateError; readonly scope: TemplateScope } | undefined;
    for (const scope of known.scopes) {
      const error = certainError(template, as, scope);
      if (error?.code === 'template.undefined') checkMissing(template, scope, error);
      if (error?.code !== 'template.object') all = false;
      else first ??= { error, scope };
    }
    // A sample may have drawn any cell.
    if (first === undefined || (known.isSampled && !all)) return;
    const { error, scope } = first;
    const use = template.variables.find(({ path: way }) => isObject(memberAt(scope.vars, way)));
    collector.error('template.object', use?.position ?? template.position, error.message);
  }

  /** Warns of a value of an axis that lacks a member which other values have: its cells fail, and the others do not. */
  function checkMissing(template: Template, scope: TemplateScope, error: TemplateError): void {
    const lacking = missingMember(template, scope, matrix, error);
    if (lacking === undefined) return;
    const { position, message, hint } = lacking;
    collector.warning('template.unknown-member', position, message, hint);
  }
}

const isObject = (value: Value | undefined): boolean => isMapping(value) || Array.isArray(value);

function certainError(
  template: Template,
  as: 'render' | 'evaluate',
  scope: TemplateScope,
): TemplateError | undefined {
  try {
    template[as](scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error;
  }
  return undefined;
}

/** The scope of a template in the cells that the file lists; undefined where nothing is certain. */
function knownScopes(
  { variables, steps, source }: Template,
  { when }: StepDraft,
  { spec, variables: all }: MatrixDraft,
): { readonly scopes: Iterable<TemplateScope>; readonly isSampled: boolean } | undefined {
  if (variables.length === 0) return undefined;
  const uses = [...variables, ...(when?.variables ?? [])];
  const roots = [...new Set(uses.map(({ path: [root = ''] }) => root))];
  const listed = roots.filter((root) => all.get(root)?.axis?.kind === 'values');
  const open = uses.filter(({ path: [root = ''] }) => !listed.includes(root) && root !== 'repeat');
  const isOpen = open.length > 0 || steps.length > 0;
  // Which outputs are reached, and whether the step runs, may depend on what is not known.
  if (isOpen && (source.includes('{%') || when !== undefined)) return undefined;
  if (when !== undefined && when.steps.length > 0) return undefined;
  const ways = [...open.map(({ path }) => path), ...steps.map(({ step, path }) => ['steps', step, ...path])];
  const stand = placeholders(ways);
  if (stand === undefined) return undefined;
  const { steps: results = {}, ...others } = stand as {
    steps?: TemplateScope['steps'];
  } & TemplateScope['vars'];
  const cells = literalCells(withoutSample(spec), listed);
  return {
    isSampled: spec.sample !== undefined,
    scopes: (function* () {
      for (const vars of cells) {
        const scope: TemplateScope = { vars: { ...others, ...vars }, repeat: 1, steps: results };
        if (renderedOf(() => when?.holds(scope)) !== false) yield scope;
      }
    })(),
  };
}

const withoutSample = ({ sample: _sample, ...spec }: MatrixDraft['spec']): MatrixDraft['spec'] => spec;

/** Mappings in which each way ends at a text; undefined where one is the beginning of another. */
function placeholders(ways: readonly (readonly string[])[]): Readonly<Record<string, Value>> | undefined {
  const root: Record<string, unknown> = {};
  for (const way of ways) {
    let at = root;
    for (const [index, name] of way.entries()) {
      const isLast = index === way.length - 1;
      const next = Object.hasOwn(at, name) ? at[name] : undefined;
      if (next !== undefined && isLast !== (next === anyText)) return undefined;
      at[name] = next ?? (isLast ? anyText : {});
      at = at[name] as Record<string, unknown>;
    }
  }
  return root as Readonly<Record<string, Value>>;
}
