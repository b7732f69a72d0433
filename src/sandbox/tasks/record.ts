import type { WireTask } from '../../service/wire.ts';
import type { SandboxNames } from '../names.ts';
import type { SandboxSettings } from '../settings.ts';
import { buttonsOf } from './buttons.ts';
import { finalPromptOf } from './describing.ts';
import type { StoredTask } from './task.ts';
import { type Moment, refreshedMoment } from './timeline.ts';

/** The task record of a fetch (protocol.md 1.2): a core that the client reads, and what the family adds. */
export interface TaskRecord extends WireTask {
  readonly customId: string;
  readonly botType: string;
  readonly maskBase64: string;
  readonly videoUrl: string;
  readonly videoUrls: readonly { readonly url: string }[] | null;
}

/** How links are written, by task, progress in percent, and for one of several files its number, from 1. */
export type LinkOf = (id: string, percent: number, output?: number) => string;

/** The record of a task as a fetch at `now` shows it. */
export function recordOf(
  task: StoredTask,
  now: number,
  settings: SandboxSettings,
  names: SandboxNames,
  linkOf: LinkOf,
): TaskRecord {
  const seen = refreshedMoment(task, now, settings.refresh);
  const done = seen.status === 'SUCCESS';
  const preview = settings.previews && seen.status === 'IN_PROGRESS' && (seen.percent ?? 0) > 0;
  const reason = task.outcome.kind === 'failure' && seen.status === 'FAILURE' ? task.outcome.reason : '';
  const films = done ? (task.films ?? []).map((_, index) => ({ url: linkOf(task.id, 100, index + 1) })) : [];
  return {
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
    imageUrl: done || preview ? linkOf(task.id, seen.percent ?? 0) : null,
    videoUrl: films[0]?.url ?? '',
    videoUrls: films.length === 0 ? null : films,
    maskBase64: '',
    status: seen.status,
    progress: progressOf(seen, settings.progressTexts),
    failReason: reason,
    buttons: done
      ? buttonsOf(task, names.customId, now, settings.buttonLife).map(({ wire }) => wire)
      : seen.status === '' || settings.nullButtons
        ? null
        : [],
    properties:
      seen.status === ''
        ? null
        : {
            finalPrompt: done && task.prompts !== undefined ? finalPromptOf(task.prompts) : task.prompt,
            botType: task.botType,
            ...(seen.status === 'MODAL' ? { remix: true } : {}),
          },
  };
}

function progressOf({ status, percent, finished }: Moment, inWords: boolean): string {
  if (percent !== undefined) return `${percent}%`;
  if (!inWords || status === 'MODAL') return '';
  return finished ? '100%' : 'Waiting to start';
}
