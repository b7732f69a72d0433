import type { FakeTask } from './fake-task.ts';

/** What a fetch shows of a task's life at this moment. */
export interface FakeMoment {
  readonly status: string;
  /** It has come to its end, whatever that is. */
  readonly done: boolean;
}

/** The record of a task (gateway 4.2), without its id. @param task the one that does the work */
export function recordOf(
  task: FakeTask,
  { status, done }: FakeMoment,
  origin: string,
): Record<string, unknown> {
  const { script } = task;
  const success = status === 'SUCCESS';
  const file = `${origin}/images/${encodeURIComponent(task.id)}`;
  const query = `?ex=${task.link}`;
  const films = Array.from({ length: success ? task.films : 0 }, (_, n) => ({
    url: `${file}-${n + 1}.mp4${query}`,
  }));
  return {
    action: actions[task.kind],
    status,
    progress: status === 'MODAL' ? '' : done ? '100%' : `${Math.min(99, task.polls * 15)}%`,
    prompt: task.prompt,
    state: task.tag,
    imageUrl: success ? (script.imageUrl ?? `${file}.png${query}`) : '',
    ...(films.length === 0 ? {} : { videoUrl: films[0]?.url, videoUrls: films }),
    failReason: done && !success ? (script.failReason ?? '[Internal error] Something went wrong') : '',
    buttons: success ? task.buttons : [],
    properties: { finalPrompt: task.kind === 'describe' && success ? describedAs(task) : task.prompt },
    ...script.answer?.(task.polls),
  };
}

/** `action` of the record (gateway 4.2). */
const actions: Readonly<Record<FakeTask['kind'], string>> = {
  imagine: 'IMAGINE',
  action: 'ACTION',
  blend: 'BLEND',
  describe: 'DESCRIBE',
  video: 'VIDEO',
  edits: 'EDITS',
};

/** Four prompts, as image proxies write them (gateway 4.5). */
const describedAs = ({ subject }: FakeTask): string =>
  ['1️⃣', '2️⃣', '3️⃣', '4️⃣'].map((mark, n) => `${mark} ${subject}, way ${n + 1} --ar 1:1`).join('\n\n');
