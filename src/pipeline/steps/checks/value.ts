import type { Position } from '../../diagnostics/diagnostic.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import { literalCells } from '../../matrix/literal-cells.ts';
import {
  type Template,
  TemplateError,
  type TemplateScope,
  type TemplateTree,
  type VariableUse,
} from '../../templates/template.ts';
import { isTemplate, treeTemplates } from '../../templates/tree.ts';
import { memberAt } from '../../values/path.ts';
import { isMapping, renderValue, type Value } from '../../values/value.ts';
import { type CheckContext, type StepDraft, selectorsOf, textFields } from '../draft.ts';
import { renderedOf } from '../literal-scopes.ts';

/** Placeholder for a text that only a table or the run can give. */
const anyText = 'text';

/**
 * Reports templates that would write a mapping or list as text in a cell that certainly occurs. Warns of axis values without a member
 * that a template reads: only their cells fail. Values outside the file (tables, results of steps) count as texts.
 */
export function checkValues(step: StepDraft, { matrix, collector }: CheckContext): void {
  if (!step.usesKnown) return;
  const { request, extra = {}, path } = step;
  for (const [name, tree] of Object.entries(request)) checkTree(tree, textFields.has(name));
  for (const tree of Object.values(extra)) checkTree(tree, false);
  for (const { alternatives } of selectorsOf(step))
    for (const match of alternatives) if (match.kind === 'text') checkTree(match.text, true);
  for (const { prompt } of path) if (prompt !== undefined) checkTree(prompt, true);

  function checkTree(tree: TemplateTree, isText: boolean): void {
    // An output alone in a field that is not a text keeps its type.
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

  /** Warns of an axis value without a member that other values have: only its cells fail. */
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

/** Returns the scopes of a template in the cells that the file lists; undefined if none is certain. */
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
  // Unknown values may decide which outputs are rendered, and whether the step runs.
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

/** Makes mappings in which each path ends at a text; undefined if one path begins another. */
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

interface MissingMember {
  /** Position of the value. */
  readonly position: Position;
  readonly message: string;
  readonly hint: string;
}

/**
 * Finds the axis value that prevents a template from rendering in this scope, by its error; undefined if no other value has the member
 * either, which another check reports.
 */
function missingMember(
  { variables }: Template,
  scope: TemplateScope,
  matrix: MatrixDraft,
  error: TemplateError,
): MissingMember | undefined {
  for (const use of variables) {
    const missing = missingAt(use, scope, matrix, error);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function missingAt(
  use: VariableUse,
  { vars }: TemplateScope,
  matrix: MatrixDraft,
  error: TemplateError,
): MissingMember | undefined {
  const [root = ''] = use.path;
  const known = matrix.variables.get(root);
  const value = vars[root];
  const at = value === undefined ? -1 : (known?.values?.indexOf(value) ?? -1);
  const position = known?.positions?.[at];
  if (position === undefined) return undefined;
  const length = use.path.findIndex(
    (_name, index) => memberAt(vars, use.path.slice(0, index + 1)) === undefined,
  );
  if (length < 1) return undefined;
  const way = use.path.slice(0, length + 1);
  const owner = memberAt(vars, way.slice(0, -1));
  if (!isMapping(owner)) return undefined;
  const example = (known?.values ?? [])
    .map((other) => memberAt({ [root]: other }, way))
    .find((one) => one !== undefined);
  if (example === undefined) return undefined;
  const name = way.join('.');
  // Another name may cause the error, while this one has a default.
  if (!error.message.startsWith(`"${name}" `)) return undefined;
  const member = way.at(-1) ?? '';
  return {
    position,
    message: `This value of "${root}" has no "${way.slice(1).join('.')}", which {{ ${name} }} on line ${use.position.line} reads: its cells fail in the run.`,
    hint: `Give it one, as other values have it (${member}: ${shown(example)}); or write {{ ${name} | default: ${quoted(example)} }}.`,
  };
}

const longestShown = 40;

function shown(value: Value): string {
  if (typeof value === 'object' && value !== null && (isMapping(value) || Array.isArray(value))) return '…';
  const text = renderValue(value);
  return text.length > longestShown ? '…' : text;
}

const quoted = (value: Value): string =>
  typeof value === 'string' ? `'${shown(value).replaceAll("'", '')}'` : shown(value);
