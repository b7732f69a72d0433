import {
  type DiagnosticDraft,
  err,
  type Locate,
  ok,
  type Position,
  type Result,
} from '../diagnostics/diagnostic.ts';
import { isMapping, type Value, WrittenNumber } from '../values/value.ts';
import { compileTemplate } from './compile.ts';
import {
  isLocal,
  type StepUse,
  type Template,
  type TemplateScope,
  type TemplateTree,
  type VariableUse,
} from './template.ts';

/** Keys and indexes from the root of a tree to one of its leaves. */
export type LeafPath = readonly (string | number)[];

/** An error in one leaf of a tree, with its position in the file. */
export interface LeafDiagnosticDraft extends DiagnosticDraft {
  readonly path: LeafPath;
  readonly position: Position;
}

const depthLimit = 100;

/** Whether a member of a tree is a template (JSON holds no functions). */
export const isTemplate = (tree: unknown): tree is Template =>
  typeof tree === 'object' && tree !== null && 'render' in tree && typeof tree.render === 'function';

/**
 * Compiles every string of a value as a template; everything else stays as it is.
 *
 * @param locateLeaf returns the locator of the string at a path
 * @returns the tree, or the errors of all its leaves
 */
export function compileTree(
  value: Value,
  locateLeaf: (path: LeafPath) => Locate,
): Result<TemplateTree, readonly LeafDiagnosticDraft[]> {
  const diagnostics: LeafDiagnosticDraft[] = [];
  const add = (path: LeafPath, diagnostic: DiagnosticDraft): null => {
    diagnostics.push({
      ...diagnostic,
      path,
      position: locateLeaf(path)(diagnostic.offset, diagnostic.length),
    });
    return null;
  };
  const compile = (part: Value, path: LeafPath): TemplateTree => {
    if (typeof part === 'string') {
      const compiled = compileTemplate(part, locateLeaf(path));
      if (compiled.ok) return compiled.value;
      for (const diagnostic of compiled.error) add(path, diagnostic);
      return null;
    }
    if (typeof part !== 'object' || part === null || part instanceof WrittenNumber) return part;
    if (path.length === depthLimit) {
      const message = `Lists and mappings may be nested at most ${depthLimit} levels deep.`;
      return add(path, { code: 'template.too-deep', message, offset: 0, length: 0 });
    }
    if (!isMapping(part)) return part.map((item, index) => compile(item, [...path, index]));
    // fromEntries makes an own member even of `__proto__`.
    return Object.fromEntries(
      Object.entries(part).map(([name, item]) => [name, compile(item, [...path, name])]),
    );
  };
  const tree = compile(value, []);
  return diagnostics.length === 0 ? ok(tree) : err(diagnostics);
}

/** Renders a tree in one scope; a string that is only `{{ x }}` becomes the value of x. @throws TemplateError */
export function renderTree(tree: TemplateTree, scope: TemplateScope): Value {
  if (isTemplate(tree)) return tree.evaluate(scope);
  if (typeof tree !== 'object' || tree === null || tree instanceof WrittenNumber) return tree;
  if (isList(tree)) return tree.map((item) => renderTree(item, scope));
  return Object.fromEntries(Object.entries(tree).map(([name, item]) => [name, renderTree(item, scope)]));
}

const isList = (tree: TemplateTree): tree is readonly TemplateTree[] => Array.isArray(tree);

/** Yields all templates of a tree, in written order. */
export function* treeTemplates(tree: TemplateTree): Generator<Template, void, undefined> {
  if (isTemplate(tree)) yield tree;
  else if (typeof tree === 'object' && tree !== null && !(tree instanceof WrittenNumber)) {
    for (const item of Object.values<TemplateTree>(tree)) yield* treeTemplates(item);
  }
}

/** Returns the matrix variables that a tree reads, in order of appearance. */
export const treeVariables = (tree: TemplateTree): readonly VariableUse[] =>
  [...treeTemplates(tree)].flatMap((template) => template.variables);

/** Whether a tree reads a name that may be a local one. */
export const readsLocals = (tree: TemplateTree): boolean => treeVariables(tree).some(isLocal);

/** Returns the results of steps that a tree reads, in order of appearance. */
export const treeSteps = (tree: TemplateTree): readonly StepUse[] =>
  [...treeTemplates(tree)].flatMap((template) => template.steps);
