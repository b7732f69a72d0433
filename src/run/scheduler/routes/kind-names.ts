import { isTextKind, type PressKind, type StepKind } from '../../../pipeline/kinds.ts';
import { formatBranch } from '../../../pipeline/selectors/parse.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { Press, TextRequest } from '../../../plan/job-request.ts';
import type { Slot } from '../../../plan/slot.ts';

/** Operations of customIds (gateway 5.2 to 5.4) in the words of users; the first match counts. Others are their own name. */
const operations: readonly (readonly [RegExp, string])[] = [
  [/^upsample$/i, 'U1–U4'],
  [/^variation$/i, 'V1–V4'],
  [/^pan_/i, 'pan'],
  [/^upsample/i, 'upscale'],
  [/variation/i, 'vary'],
  [/^outpaint/i, 'zoom out'],
  [/^customzoom/i, 'custom zoom'],
  [/^inpaint/i, 'vary region'],
  [/^video_virtual/i, 'U1–U4 of videos'],
  [/_extend$/i, 'extend'],
  [/^(?:animate|video)/i, 'animate'],
  [/^picread/i, 'buttons of descriptions'],
  [/^promptanalyzer/i, 'buttons of shortened prompts'],
];

/** What kinds are called in messages and limits, where that is not their own name; text calls are called by their model first. */
const names: Partial<Readonly<Record<StepKind, string>>> = { edit: 'edits', generate: '' };

/** The operation of a button, as a user calls it: `U1–U4`, `pan`. */
export function operationOf(customId: string): string {
  const [, operation = ''] = /^[^:]*::(?:JOB::)?([^:]+)/i.exec(customId) ?? [];
  const known = operations.find(([pattern]) => pattern.test(operation))?.[1];
  // What is no operation may be an id, another one for each task.
  return known ?? (/^[a-z_]{1,40}$/i.test(operation) ? operation : 'other buttons');
}

/** The kind of a request that presses no button. */
export function kindOfRequest({
  kind,
  fields,
}: Pick<TextRequest, 'fields'> & { readonly kind: Exclude<StepKind, PressKind> }): string {
  if (!isTextKind(kind)) return names[kind] ?? kind;
  const { model } = fields;
  return `${typeof model === 'string' ? model : 'text'}${names[kind] ?? ` (${kind})`}`;
}

/** `grid/U1`: the step and the buttons that lead to a slot. */
export const slotName = ({ step, branch }: { readonly step: string; readonly branch: string }): string =>
  branch === '' ? step : `${step}/${branch}`;

/** A click, by its slot and what the file presses there; the latter absent: all clicks as deep in the step, as those of a wildcard. */
const clickName = (name: string, press?: readonly Press[]): string =>
  press === undefined ? name.split('/').fill('*', 1).join('/') : `${name} ${JSON.stringify(press)}`;

/** What jobs as this one are known by. */
export function namesOfJob({ origin, request }: Pick<JobRecord, 'origin' | 'request'>): readonly string[] {
  const name = slotName(origin);
  return request.press === undefined ? [name] : [clickName(name, request.press), clickName(name)];
}

/** The first of these names of the click of a slot, or the second while it is not known what that presses. */
export const clickOfSlot = ({ step, branch, job }: Slot): string =>
  clickName(slotName({ step, branch: formatBranch(branch) }), job?.request.press);

/** Words without what differs from one request to the next: quoted words, numbers and ids. */
export const withoutParticulars = (words: string): string =>
  words
    .replaceAll(/"[^"]*"|`[^`]*`|“[^”]*”|「[^」]*」|(?<!\w)'[^']*'/g, '…')
    .replaceAll(/[\w-]*\d[\w-]*/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim();
