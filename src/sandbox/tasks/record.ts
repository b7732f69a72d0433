import type { WireTask } from '../../service/wire.ts';
import type { SandboxNames } from '../names.ts';
import type { SandboxSettings } from '../settings.ts';
import { buttonsOf } from './buttons.ts';
import type { StoredTask } from './task.ts';
import { refreshedMoment } from './timeline.ts';

/** The task record of a fetch (protocol.md 1.2): a core that the client reads, and what the family adds. */
export interface TaskRecord extends WireTask {
  readonly customId: string;
  readonly botType: string;
  readonly maskBase64: string;
  readonly videoUrl: string;
}

/** How `image` links are written, by task and progress in percent. */
export type LinkOf = (id: string, percent: number) => string;

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
  const progress = seen.percent === undefined ? '' : `${seen.percent}%`;
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
    videoUrl: '',
    maskBase64: '',
    status: seen.status,
    progress,
    failReason: reason,
    buttons: done
      ? buttonsOf(task, names.customId, now, settings.buttonLife).map(({ wire }) => wire)
      : seen.status === ''
        ? null
        : [],
    properties:
      seen.status === ''
        ? null
        : {
            finalPrompt: task.prompt,
            botType: task.botType,
            ...(seen.status === 'MODAL' ? { remix: true } : {}),
          },
  };
}
