import type { MaskBoxSpec, MaskShapeSpec, MaskSpec } from '../../pipeline/pipeline.ts';
import { boxError, maskOf } from '../../pipeline/steps/domain/mask.ts';
import { TemplateError, type TemplateScope, type TemplateTree } from '../../pipeline/templates/template.ts';
import { renderTree } from '../../pipeline/templates/tree.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { JobError } from '../job.ts';
import type { MaskShape, MaskSource } from '../job-request.ts';
import type { ImageFiles } from './image-files.ts';
import { isAddress } from './images.ts';
import { decimal, notEmpty } from './render.ts';

/** A mask for one cell, or the reason why there is none. */
export type RenderedMask =
  /** `files`: see `JobSpec.files`. */
  | { readonly mask: MaskSource; readonly files: Readonly<Record<string, string>> }
  | { readonly error: JobError }
  /** Its file has not been read. */
  | 'unread';

/** The template of a `mask` of a click or an edit. */
export class MaskTemplate {
  readonly #spec: MaskSpec;

  /** @param tree as declared, in any of its forms */
  constructor(tree: TemplateTree) {
    this.#spec = maskOf(tree);
  }

  /** @throws TemplateError `template.range` if a box extends beyond the image */
  render(scope: TemplateScope, images: ImageFiles): RenderedMask {
    // `invert: false` means the same as no `invert`, so it is left out.
    const invert = this.#spec.invert ? { invert: true } : {};
    if ('shapes' in this.#spec) {
      const shapes = this.#spec.shapes.map((shape) => renderShape(shape, scope));
      return { mask: { shapes, ...invert }, files: {} };
    }
    const { file: template } = this.#spec;
    const name = notEmpty(template.render(scope), 'the mask', template.source).trim();
    if (isAddress(name))
      return {
        error: { code: 'mask.address', message: 'A mask is a PNG file beside the pipeline, not an address.' },
      };
    const file = images.facts(name);
    if (file === 'unread' || 'error' in file) return file;
    return { mask: { sha256: file.sha256, ...invert }, files: { [file.sha256]: name } };
  }
}

const renderShape = (shape: MaskShapeSpec, scope: TemplateScope): MaskShape =>
  'rectangle' in shape
    ? { rectangle: renderBox('rectangle', shape.rectangle, scope) }
    : { ellipse: renderBox('ellipse', shape.ellipse, scope) };

function renderBox(
  name: string,
  spec: MaskBoxSpec,
  scope: TemplateScope,
): readonly [number, number, number, number] {
  const box = renderTree(spec, scope);
  const numbers = Array.isArray(box) ? box.map((side: Value) => decimal(side) ?? side) : [];
  const error = boxError(numbers);
  if (error === undefined) return numbers as unknown as [number, number, number, number];
  throw new TemplateError(
    'template.range',
    `For this cell the mask has a ${name} that ${error}. It is ${JSON.stringify(box).slice(0, 80)}.`,
  );
}
