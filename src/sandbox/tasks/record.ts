import type { WireLink, WireTask } from '../../service/wire.ts';
import type { SandboxNames } from '../names.ts';
import type { SandboxSettings } from '../settings.ts';
import { taskButtons } from './buttons.ts';
import { finalPromptOf, shortenedPromptOf } from './desks/describing.ts';
import { type Moment, refreshedMoment, type StoredTask } from './task.ts';

/** The task record of a fetch (gateway 4.2): the members that the client reads, and those that the family adds. */
export interface TaskRecord extends WireTask {
  readonly customId: string;
  readonly botType: string;
  readonly maskBase64: string;
  readonly videoUrl: string;
  readonly videoUrls: readonly WireLink[] | null;
}

/** Writes the link of a task's file. `percent`: progress; `output`: number of the file, from 1, if the task has several. */
export type LinkOf = (id: string, percent: number, output?: number) => string;

/** Returns the record that a fetch shows at `now`, in unix ms. */
export function recordOf(
  task: StoredTask,
  now: number,
  settings: SandboxSettings,
  names: SandboxNames,
  linkOf: LinkOf,
): TaskRecord {
  const seen = refreshedMoment(task, now, settings.refresh);
  const done = seen.status === 'SUCCESS';
  const preview =
    !settings.quirks.has('no-previews') && seen.status === 'IN_PROGRESS' && (seen.percent ?? 0) > 0;
  const reason = task.outcome.kind === 'failure' && seen.status === 'FAILURE' ? task.outcome.reason : '';
  const links = linksOf(task, linkOf, { done, preview, percent: seen.percent ?? 0 }, settings);
  const { buttons, ...record }: TaskRecord = {
    id: task.id,
    action: task.action,
    customId: '',
    botType: task.botType,
    prompt: task.prompt,
    promptEn: task.prompt,
    description: task.description,
    state: task.state,
    submitTime: task.submitAt,
    startTime: seen.started ? task.startAt : null,
    finishTime: seen.finished ? task.endAt : null,
    ...links,
    maskBase64: '',
    status: settings.quirks.has('state-words') ? (stateWords[seen.status] ?? seen.status) : seen.status,
    progress: progressOf(seen, settings.quirks.has('progress-texts')),
    failReason: reason,
    buttons: done
      ? taskButtons(task, names.customId, now, settings).map(({ wire }) => wire)
      : seen.status === '' || settings.quirks.has('null-buttons')
        ? null
        : [],
    properties:
      seen.status === ''
        ? null
        : {
            finalPrompt: done ? foundBy(task) : task.prompt,
            botType: task.botType,
            ...(seen.status === 'MODAL' ? { remix: true } : {}),
          },
  };
  return settings.quirks.has('no-buttons') ? record : { ...record, buttons };
}

function foundBy({ action, prompt, prompts }: StoredTask): string {
  if (prompts === undefined) return prompt;
  return action === 'SHORTEN' ? shortenedPromptOf(prompt, prompts) : finalPromptOf(prompts);
}

/** The links of a task, in the fields of the setting `linkLists` (gateway 4.7). */
function linksOf(
  { id, films, action, drawing }: StoredTask,
  linkOf: LinkOf,
  { done, preview, percent }: { readonly done: boolean; readonly preview: boolean; readonly percent: number },
  { linkLists: lists, quirks }: Pick<SandboxSettings, 'linkLists' | 'quirks'>,
): Pick<TaskRecord, 'imageUrl' | 'videoUrl' | 'videoUrls'> & Pick<WireTask, 'imageUrls'> {
  const image = action !== 'SHORTEN' && (done || preview) ? linkOf(id, percent) : null;
  const videos = done ? (films ?? []).map((_, index) => linkOf(id, 100, index + 1)) : [];
  const [first = ''] = videos;
  if (done && quirks.has('no-grids') && films === undefined && drawing.frames.length > 1) {
    const imageUrls = drawing.frames.map((_, index) => linkOf(id, 100, index + 1));
    return { imageUrl: null, imageUrls, videoUrl: '', videoUrls: null };
  }
  if (lists === 'videos') {
    const videoUrls = videos.length === 0 ? null : videos.map((url) => ({ url }));
    return { imageUrl: image, videoUrl: first, videoUrls };
  }
  const listed = (links: readonly string[]): readonly WireLink[] | null =>
    links.length === 0
      ? null
      : lists.endsWith('texts')
        ? links
        : links.map((url) => ({ url, thumbnail: image ?? url }));
  const only = lists.startsWith('only');
  return {
    imageUrl: only ? null : image,
    imageUrls: listed(done && image !== null ? [image] : []),
    videoUrl: only ? '' : first,
    videoUrls: listed(videos),
  };
}

/** The states in the words of other gateways (gateway 4.3). */
const stateWords: Readonly<Partial<Record<string, string>>> = {
  NOT_START: 'QUEUED',
  SUCCESS: 'success',
  FAILURE: 'FAILED',
  CANCEL: 'CANCELED',
};

function progressOf({ status, percent, finished }: Moment, inWords: boolean): string {
  if (percent !== undefined) return `${percent}%`;
  if (!inWords || status === 'MODAL') return '';
  return finished ? '100%' : 'Waiting to start';
}
