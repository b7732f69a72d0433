import { isTextKind } from '../../pipeline/kinds.ts';
import { TemplateError } from '../../pipeline/templates/template.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import { standing } from './former.ts';
import { describedText, parseReply } from './reply.ts';
import type { DependencyState, ReadSteps, Resolved } from './resolved.ts';
import { doneDependency, openDependency } from './upstream.ts';

/** What templates may read of a step, by its name. */
type StepValues = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** The values of the steps that a template reads, or the state of the step that holds it up. */
export type StepReading =
  | {
      readonly kind: 'known';
      readonly values: StepValues;
      /** Open where one of them is being redone: its former reply is read, and no job is begun with that. */
      readonly dependency: DependencyState;
    }
  | Exclude<DependencyState, { kind: 'done' }>;

/**
 * Reads steps as a slot below `above` sees them: the job of each on this branch or its nearest common ancestor.
 * The first one that is not done decides.
 *
 * @throws TemplateError `template.several` where a step has several jobs there
 */
export function readNamedSteps(
  names: readonly string[],
  above: Resolved | undefined,
  resolved: ReadSteps,
): StepReading {
  const values: Record<string, Readonly<Record<string, Value>>> = {};
  let dependency: DependencyState = doneDependency;
  for (const name of names) {
    const job = nearestJob(name, above, resolved.get(name) ?? []);
    if (job.dependency.kind === 'open' && job.stands) dependency = openDependency;
    else if (job.dependency.kind !== 'done') return job.dependency;
    values[name] = isTextKind(job.template.kind) ? textValues(name, job) : taskValues(job);
  }
  return { kind: 'known', values, dependency };
}

/**
 * The job of a step that a slot below `above` sees.
 *
 * @throws TemplateError `template.several`
 */
export function nearestJob(name: string, above: Resolved | undefined, all: readonly Resolved[]): Resolved {
  const operations = all.filter(({ template }) => template.level === 0);
  for (let ancestor = above; ancestor !== undefined; ancestor = ancestor.above) {
    const common = ancestor;
    const below = operations.filter((operation) => hangsOn(operation, common));
    if (below.length > 0) return only(name, below);
  }
  return only(name, operations);
}

function hangsOn(operation: Resolved, ancestor: Resolved): boolean {
  for (let at: Resolved | undefined = operation; at !== undefined; at = at.above)
    if (at === ancestor) return true;
  return false;
}

function only(name: string, jobs: readonly Resolved[]): Resolved {
  const [job, ...more] = jobs;
  if (job !== undefined && more.length === 0) return job;
  throw new TemplateError(
    'template.several',
    job === undefined
      ? `Step "${name}" has no job in this cell, and exactly one is needed to use its result.`
      : `Step "${name}" has ${jobs.length} jobs here, and the result of exactly one can be used. Use \`gather\`.`,
  );
}

/** What a template reads of a gathered job: the variables of its cell, and its result. */
export function gatheredValue(job: Resolved, cell: Cell): Readonly<Record<string, Value>> {
  const { name } = job.template.step;
  const { vars, repeat } = job.slot.group ?? cell;
  const values = isTextKind(job.template.kind) ? textValues(name, job) : taskValues(job);
  const { image_url: image } = Object.hasOwn(values, 'image_url') ? values : {};
  const all = { ...vars, repeat, ...(image === undefined ? {} : { image }) };
  // A reply that is no JSON is an error only where its JSON is read.
  return Object.defineProperties(all, Object.getOwnPropertyDescriptors(values));
}

/** What a job with a task offers to templates; what the service did not say is not there. */
function taskValues({ slot }: Resolved): Readonly<Record<string, Value>> {
  const { prompt } = slot;
  const record = slot.record && standing(slot.record);
  const button = record?.pressed;
  const { imageUrl, videoUrls, prompts } = record?.result ?? {};
  const [videoUrl] = videoUrls ?? [];
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(button === undefined ? {} : { button: button.label === '' ? button.emoji : button.label }),
    ...(record?.taskId === undefined ? {} : { task_id: record.taskId }),
    ...(imageUrl === undefined ? {} : { image_url: imageUrl }),
    ...(videoUrl === undefined ? {} : { video_url: videoUrl }),
    ...(prompts === undefined ? {} : { prompts, text: describedText({ prompts }) ?? '' }),
  };
}

/** What a text job offers: of its first candidate, and what all its replies cost. */
function textValues(name: string, { slot }: Resolved): Readonly<Record<string, Value>> {
  const { text, usage } = slot.record === undefined ? {} : standing(slot.record);
  const [first] = text?.candidates ?? [];
  const values = {
    ...(first === undefined ? {} : { text: first.text, parts: first.parts }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  };
  return Object.defineProperty(values, 'json', {
    // A template that names it where there is none is an error; one that writes all members (`gathered | json`) leaves it out.
    enumerable: first?.isJson === true,
    get: (): Value => {
      if (first?.isJson === true) return parseReply(first.read?.json ?? first.text);
      throw new TemplateError(
        'template.no-json',
        `The answer of step "${name}" is no JSON. Give it a \`responseSchema\`.`,
      );
    },
  });
}
