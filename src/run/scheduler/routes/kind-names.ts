import { isTextRequest, type JobRequest } from '../../../plan/job-request.ts';

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
];

const entries = {
  imagine: 'imagine',
  blend: 'blend',
  describe: 'describe',
  video: 'video',
  edit: 'edits',
} as const;

/** The operation of a button, as a user calls it: `U1–U4`, `pan`. */
export function operationOf(customId: string): string {
  const [, operation = ''] = /^[^:]*::(?:JOB::)?([^:]+)/i.exec(customId) ?? [];
  const known = operations.find(([pattern]) => pattern.test(operation))?.[1];
  // What is no operation may be an id, another one for each task.
  return known ?? (/^[a-z_]{1,40}$/i.test(operation) ? operation : 'other buttons');
}

/** The kind of a request that presses no button. */
export function kindOfRequest(request: Exclude<JobRequest, { kind: 'click' }>): string {
  if (!isTextRequest(request)) return entries[request.kind];
  const { model } = request.fields;
  const name = typeof model === 'string' ? model : 'text';
  return request.kind === 'chat' ? `${name} (chat)` : name;
}

/** `grid/U1`: the step and the buttons that lead to a slot. */
export const slotName = ({ step, branch }: { readonly step: string; readonly branch: string }): string =>
  branch === '' ? step : `${step}/${branch}`;

/** Words without what differs from one request to the next: quoted words, numbers and ids. */
export const withoutParticulars = (words: string): string =>
  words
    .replaceAll(/"[^"]*"|`[^`]*`|“[^”]*”|「[^」]*」|(?<!\w)'[^']*'/g, '…')
    .replaceAll(/[\w-]*\d[\w-]*/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim();
