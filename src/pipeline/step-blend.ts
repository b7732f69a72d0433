import { isText, member, type SourceNode } from './node.ts';
import type { BranchAddress, PathSegment, Selector } from './pipeline.ts';
import type { Reports } from './reports.ts';
import type { StepDraft } from './step-draft.ts';
import { imagesOf } from './step-images.ts';

/** How many of something there will be: from `least` to `most`. */
interface Count {
  readonly least: number;
  readonly most: number;
}

type Steps = ReadonlyMap<string, StepDraft>;

const one: Count = { least: 1, most: 1 };

/** No count is ever that large; a product stays a number. */
const countless = 1e6;

const times = (a: Count, b: Count): Count => ({
  least: Math.min(countless, a.least * b.least),
  most: Math.min(countless, a.most * b.most),
});

const maybe = ({ most }: Count): Count => ({ least: 0, most });

function pressed({ alternatives, optional }: Selector): Count {
  if (alternatives.some(({ kind }) => kind === 'wildcard')) return { least: 0, most: countless };
  return optional ? maybe(one) : one;
}

const allOf = ({ selectors }: PathSegment): Count =>
  selectors.map(pressed).reduce((a, b) => ({ least: a.least + b.least, most: a.most + b.most }));

/** The jobs of a cell that an address means. */
function jobsAt({ segments }: BranchAddress, target: StepDraft, steps: Steps, seen: Set<StepDraft>): Count {
  return segments.reduce(
    (count, branch, level) => {
      if (branch === '**') return target.path.slice(level).map(allOf).reduce(times, count);
      const segment = target.path[level];
      if (segment === undefined) return count;
      if (branch === '*') return times(count, allOf(segment));
      const selector = segment.selectors.find(({ name }) => name === branch);
      // A branch that a wildcard may find.
      return times(count, selector === undefined ? maybe(one) : { ...pressed(selector), most: 1 });
    },
    jobsOf(target, steps, seen),
  );
}

/** The jobs of a cell that a step's own operation is. */
function jobsOf(step: StepDraft, steps: Steps, seen: Set<StepDraft>): Count {
  const { from, selector, when } = step;
  const target = from === undefined ? undefined : steps.get(from.step);
  // Steps that wait for each other are a mistake of their own.
  if (from !== undefined && (target === undefined || seen.has(step))) return { least: 0, most: countless };
  seen.add(step);
  const above = from === undefined || target === undefined ? one : jobsAt(from, target, steps, seen);
  const own = selector === undefined ? above : times(above, pressed(selector));
  return when === undefined ? own : maybe(own);
}

/** Blends take 2 to 5 images (service.md 8.1). */
const bounds = { least: 2, most: 5 } as const;

/** None at all, and more than five, are the schema's mistake. */
function checkList(images: SourceNode, step: StepDraft, steps: Steps, reports: Reports): void {
  const [only, ...more] = images.kind === 'list' ? images.items : [];
  if (!isText(only) || more.length > 0) return;
  const name = only.value === 'parent' ? step.from?.step : /^steps\.(.+)$/.exec(only.value)?.[1];
  // A text model may draw any number of images.
  if (name !== undefined && steps.get(name)?.kind === 'generate') return;
  const message = `A blend takes ${bounds.least} to ${bounds.most} images, and this is 1.`;
  reports.error('blend.count', images.span, message, 'Name another one, or gather them: gather: grid/*.');
}

/** Reports a blend that names no images, or gathers too few or too many, as far as the pipeline tells. */
export function checkBlend(step: StepDraft, steps: Steps, reports: Reports): void {
  const blend = step.kind === 'blend' && step.node.entries.get('blend');
  if (!blend || blend.value.kind !== 'mapping') return;
  const images = member(blend.value, 'images');
  if (images !== undefined) {
    checkList(images, step, steps, reports);
    return;
  }
  const { gather } = step;
  if (gather === undefined) {
    if (step.node.entries.has('gather')) return;
    const hint = 'Name 2 to 5 images, or gather them: gather: grid/*.';
    reports.error('blend.count', blend.keySpan, `Step "${step.name}" has no images to blend.`, hint);
    return;
  }
  const target = steps.get(gather.step);
  if (target === undefined || !target.pathKnown) return;
  const jobs = jobsAt(gather, target, steps, new Set());
  const isText = target.kind === 'generate' || imagesOf(target, steps, true) !== 'some';
  // A text model may draw any number of images.
  const { least, most } = isText ? times(jobs, { least: 1, most: countless }) : jobs;
  if (most >= bounds.least && least <= bounds.most) return;
  const number = most < bounds.least ? most : least;
  const about = least === most ? `${number}` : `${most < bounds.least ? 'at most' : 'at least'} ${number}`;
  const message = `A blend takes ${bounds.least} to ${bounds.most} images, and "${gather.source}" is ${about}.`;
  const hint = 'Gather other branches, or name the images.';
  reports.error('blend.count', gather.position, message, hint);
}
