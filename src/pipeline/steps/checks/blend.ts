import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { isText, member, type SourceNode } from '../../yaml/node.ts';
import { countless, jobsAt, type Steps, times } from '../count.ts';
import { stepOfImage } from '../domain/image-reference.ts';
import type { StepDraft } from '../draft.ts';
import { imagesOf } from './images.ts';

/** Blends take 2 to 5 images (gateway 2.6). */
const bounds = { least: 2, most: 5 } as const;

/** The schema reports no image at all, and more than five. */
function checkList(images: SourceNode, step: StepDraft, steps: Steps, collector: DiagnosticCollector): void {
  const [only, ...more] = images.kind === 'list' ? images.items : [];
  if (!isText(only) || more.length > 0) return;
  const name = only.value === 'parent' ? step.from?.step : stepOfImage(only.value);
  // A text model may draw any number of images.
  if (name !== undefined && steps.get(name)?.kind === 'generate') return;
  const message = `A blend takes ${bounds.least} to ${bounds.most} images, and this is 1.`;
  collector.error('blend.count', images.span, message, 'Name another one, or gather them: gather: grid/*.');
}

/** Reports a blend that names no images, or gathers too few or too many, where the pipeline alone decides that. */
export function checkBlend(step: StepDraft, steps: Steps, collector: DiagnosticCollector): void {
  const blend = step.kind === 'blend' && step.node.entries.get('blend');
  if (!blend || blend.value.kind !== 'mapping') return;
  const images = member(blend.value, 'images');
  if (images !== undefined) {
    checkList(images, step, steps, collector);
    return;
  }
  const { gather } = step;
  if (gather === undefined) {
    if (step.node.entries.has('gather')) return;
    const hint = 'Name 2 to 5 images, or gather them: gather: grid/*.';
    collector.error('blend.count', blend.keySpan, `Step "${step.name}" has no images to blend.`, hint);
    return;
  }
  const target = steps.get(gather.step);
  if (target === undefined || !target.pathKnown) return;
  const jobs = jobsAt(gather, target, steps);
  const isText = target.kind === 'generate' || imagesOf(target, steps, true) !== 'some';
  // A text model may draw any number of images.
  const { least, most } = isText ? times(jobs, { least: 1, most: countless }) : jobs;
  if (most >= bounds.least && least <= bounds.most) return;
  const number = most < bounds.least ? most : least;
  const about = least === most ? `${number}` : `${most < bounds.least ? 'at most' : 'at least'} ${number}`;
  const message = `A blend takes ${bounds.least} to ${bounds.most} images, and "${gather.source}" is ${about}.`;
  const hint = 'Gather other branches, or name the images.';
  collector.error('blend.count', gather.position, message, hint);
}
