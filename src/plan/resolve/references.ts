import { isPress, isTextKind } from '../../pipeline/kinds.ts';
import type { StepKind } from '../../pipeline/pipeline.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { Artifact, JobError, JobRecord } from '../job.ts';
import type { ImageCount } from '../request/image-files.ts';
import type { Slot } from '../slot.ts';
import { hasImages, lacksImages } from './reply.ts';
import type { DependencyState, ReadSteps, Resolved } from './resolved.ts';
import { nearestJob } from './scope.ts';
import { doneDependency, isCertain, openDependency, slotName, type Upstream } from './upstream.ts';

/** The jobs that a request names beside what its templates read, and what they mean for its slot. */
export interface NamedJobs {
  /** Key of a step's job here; undefined while it is not known. */
  readonly keyOf: (step: string) => string | undefined;
  /** Of one of those whose images are shown, by its key. */
  readonly imageCount: (key: string) => ImageCount;
  /** Of all of them together. Images that are shown must lie in the run directory. */
  readonly dependency: DependencyState;
  /** All are done, and one whose images are to be shown has none, or what is continued lacks some of its own. */
  readonly failure?: JobError;
}

const nothingNamed: NamedJobs = {
  keyOf: () => undefined,
  imageCount: () => undefined,
  dependency: doneDependency,
};

/**
 * Finds them as a slot at this place sees them: on its branch or at the nearest common ancestor. The first one that is
 * not done decides.
 *
 * @throws TemplateError `template.several` where a step has several jobs there
 */
export function readNamed(
  { kind, request: { names, shows, continues } }: SlotTemplate,
  start: Upstream,
  resolved: ReadSteps,
): NamedJobs {
  if (names.length === 0 && !shows.parent) return nothingNamed;
  const jobs = new Map(
    names.map((name) => [name, nearestJob(name, start.above, resolved.get(name) ?? [])] as const),
  );
  const shown = [...(shows.parent ? start.jobs : []), ...shows.steps.flatMap((name) => jobs.get(name) ?? [])];
  const keyOf = (name: string): string | undefined => {
    const job = jobs.get(name);
    return job !== undefined && isCertain(job) ? job.slot.job?.key : undefined;
  };
  const found = { keyOf, imageCount: (key: string) => imageCount(shown, key) };
  for (const { dependency } of jobs.values()) if (dependency.kind !== 'done') return { ...found, dependency };
  if (shown.some(({ dependency, slot }) => dependency.kind !== 'done' || slot.unsaved === true))
    return { ...found, dependency: openDependency };
  const empty = shown.find(({ slot, output }) =>
    output?.file === undefined ? imagesIn(slot.record) === 0 : !isImage(output.file),
  );
  const failure = empty === undefined ? unrepeatable(jobs.get(continues ?? '')) : noImage(empty, kind);
  return { ...found, dependency: doneDependency, ...(failure === undefined ? {} : { failure }) };
}

const isImage = ({ mime }: Artifact): boolean => mime.startsWith('image/');

const imagesIn = (record: JobRecord | undefined): number => record?.artifacts.filter(isImage).length ?? 0;

function imageCount(shown: readonly Resolved[], key: string): ImageCount {
  const job = shown.find(({ slot }) => slot.job?.key === key);
  if (job === undefined) return undefined;
  if (!isTextKind(job.template.kind)) return 'one';
  return job.dependency.kind === 'done' ? imagesIn(job.slot.record) : undefined;
}

/** A click needs an image only for the size of its mask. */
function noImage({ slot }: Resolved, kind: StepKind): JobError {
  return hasImages(slot.record?.text)
    ? notKept(slot)
    : {
        code: 'input.missing',
        message: `${slotName(slot)} made no image to ${isPress(kind) ? 'mask' : 'show'}.`,
      };
}

/** A reply is said again with its images, or not at all. */
const unrepeatable = (continued: Resolved | undefined): JobError | undefined =>
  continued?.slot.record !== undefined && lacksImages(continued.slot.record)
    ? notKept(continued.slot)
    : undefined;

const notKept = (slot: Slot): JobError => ({
  code: 'input.missing',
  message: `The images of ${slotName(slot)} were not kept when it was made. Run with --redo ${slot.record?.key ?? ''} to make it again, without keep: false.`,
});

/** Returns the keys of the jobs of these steps that a slot with this start sees. */
export const keysOf = (names: readonly string[], { above }: Upstream, steps: ReadSteps): readonly string[] =>
  names.flatMap((name) => nearestJob(name, above, steps.get(name) ?? []).slot.job?.key ?? []);
