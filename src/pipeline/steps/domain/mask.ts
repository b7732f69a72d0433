import type { MaskBoxSpec, MaskShapeSpec, MaskSpec } from '../../pipeline.ts';
import { defaults } from '../../settings/read.ts';
import type { TemplateTree } from '../../templates/template.ts';
import { isTemplate } from '../../templates/tree.ts';
import { WrittenNumber } from '../../values/value.ts';

type Members = Readonly<Record<string, TemplateTree>>;

const isList = (tree: unknown): tree is readonly TemplateTree[] => Array.isArray(tree);

const isMembers = (tree: unknown): tree is Members =>
  typeof tree === 'object' &&
  tree !== null &&
  !isList(tree) &&
  !isTemplate(tree) &&
  !(tree instanceof WrittenNumber);

const wrong = (): Error => new Error('Internal error: a mask that is none passed the checks.');

/**
 * Normalises a `mask` field: `masks/neck.png` becomes `{ file: masks/neck.png }`, and a missing `invert` becomes false.
 *
 * @param tree the field of a step or path segment that has passed the checks
 */
export function maskOf(tree: TemplateTree): MaskSpec {
  if (isTemplate(tree)) return { file: tree, invert: defaults.mask.invert };
  if (!isMembers(tree)) throw wrong();
  const invert = typeof tree['invert'] === 'boolean' ? tree['invert'] : defaults.mask.invert;
  const { file, shapes } = tree as { readonly file?: TemplateTree; readonly shapes?: TemplateTree };
  if (isTemplate(file)) return { file, invert };
  if (!isList(shapes)) throw wrong();
  return { shapes: shapes.map(shapeOf), invert };
}

function shapeOf(tree: TemplateTree): MaskShapeSpec {
  if (!isMembers(tree)) throw wrong();
  const { rectangle, ellipse } = tree as { readonly rectangle?: MaskBoxSpec; readonly ellipse?: MaskBoxSpec };
  if (rectangle !== undefined) return { rectangle };
  if (ellipse !== undefined) return { ellipse };
  throw wrong();
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Largest rounding error of sums of fractions such as 0.7 and 0.3. */
const tolerance = 1e-9;

/**
 * Returns the error of a box as words that follow its name in a message; undefined if it is `[x, y, width, height]` of a non-empty part
 * of the image. Templates are checked when they are rendered.
 */
export function boxError(box: readonly unknown[]): string | undefined {
  const numbers = box.map((value) => (value instanceof WrittenNumber ? value.value : value));
  if (numbers.length !== 4 || !numbers.every(isNumber)) return 'is not four numbers: x, y, width and height';
  const [x, y, width, height] = numbers as [number, number, number, number];
  if (width <= 0) return 'covers no part of the image: its width must be above 0';
  if (height <= 0) return 'covers no part of the image: its height must be above 0';
  return beyond(x, width, 'left', 'right') ?? beyond(y, height, 'upper', 'lower');
}

/** Describes a box that extends beyond the image on one axis, without the sum, which may be 1.2000000000000002. */
function beyond(from: number, length: number, low: string, high: string): string | undefined {
  if (from < 0) return `extends beyond the ${low} edge of the image: ${from} is below 0`;
  if (from + length <= 1 + tolerance) return undefined;
  return `extends beyond the ${high} edge of the image: ${from} + ${length} is more than 1`;
}
