import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { kinds } from '../../kinds.ts';
import { isText, member, type SourceNode } from '../../yaml/node.ts';
import { countless, jobsAt, type Steps, times } from '../count.ts';
import { stepOfImage } from '../domain/image-reference.ts';
import type { StepDraft } from '../draft.ts';
import { imagesOf } from './images.ts';

/** A text model may draw any number of images. */
const drawsAnyNumber = (target: StepDraft | undefined): boolean =>
  target?.kind !== undefined && kinds[target.kind].makes === 'text and images';

/** The schema reports no image at all, and too many. */
function checkList(
  images: SourceNode,
  takes: string,
  step: StepDraft,
  steps: Steps,
  collector: DiagnosticCollector,
): void {
  const [only, ...more] = images.kind === 'list' ? images.items : [];
  if (!isText(only) || more.length > 0) return;
  const name = only.value === 'parent' ? step.from?.step : stepOfImage(only.value);
  if (name !== undefined && drawsAnyNumber(steps.get(name))) return;
  collector.error(
    'blend.count',
    images.span,
    `${takes}, and this is 1.`,
    'Name another one, or gather them: gather: grid/*.',
  );
}

/** Reports a step of a kind that takes so many images which names none, or gathers too few or too many, where the pipeline alone decides that. */
export function checkImageCount(step: StepDraft, steps: Steps, collector: DiagnosticCollector): void {
  const { kind } = step;
  const bounds = kind && kinds[kind].images;
  const operation = kind && step.node.entries.get(kind);
  if (typeof bounds !== 'object' || operation?.value.kind !== 'mapping') return;
  const takes = `A ${kind} takes ${bounds.least} to ${bounds.most} images`;
  const images = member(operation.value, 'images');
  if (images !== undefined) return checkList(images, takes, step, steps, collector);
  const { gather } = step;
  if (gather === undefined) {
    if (step.node.entries.has('gather')) return;
    const hint = `Name ${bounds.least} to ${bounds.most} images, or gather them: gather: grid/*.`;
    collector.error('blend.count', operation.keySpan, `Step "${step.name}" has no images to ${kind}.`, hint);
    return;
  }
  const target = steps.get(gather.step);
  if (target === undefined || !target.pathKnown) return;
  const jobs = jobsAt(gather, target, steps);
  const isOpen = drawsAnyNumber(target) || imagesOf(target, steps, true) !== 'some';
  const { least, most } = isOpen ? times(jobs, { least: 1, most: countless }) : jobs;
  if (most >= bounds.least && least <= bounds.most) return;
  const number = most < bounds.least ? most : least;
  const about = least === most ? `${number}` : `${most < bounds.least ? 'at most' : 'at least'} ${number}`;
  const message = `${takes}, and "${gather.source}" is ${about}.`;
  const hint = 'Gather other branches, or name the images.';
  collector.error('blend.count', gather.position, message, hint);
}
