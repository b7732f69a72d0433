import type { Address } from './fake-address.ts';
import { makeFilm } from './fake-film.ts';
import type { FakeGatewayOptions } from './fake-options.ts';
import { json, type Reply } from './fake-reply.ts';
import type { FakeTask } from './fake-task.ts';
import { makePng } from './png.ts';

/** The image or the film that a link leads to, as long as it works. @param path the link's, its version in it */
export function fileReply(
  task: FakeTask | undefined,
  path: string,
  { output }: Address,
  { downloads = Infinity, image = { width: 8, height: 8 } }: FakeGatewayOptions,
): Reply {
  // gateway 4.7: the image route's own refusal is a 400.
  if (task === undefined) return json({ error: 'midjourney_task_not_found' }, 400);
  if (!path.endsWith(`?ex=${task.link}`) || task.downloads >= downloads)
    return json({ error: 'This content is no longer available.' }, 403);
  task.downloads += 1;
  const { width, height } = image;
  if (output !== undefined) {
    const body = makeFilm(task.script.film ?? task.number, width, height + output);
    return { status: 200, headers: { 'content-type': 'video/mp4' }, body };
  }
  const body = task.script.image ?? makePng(task.number, width, height);
  return { status: 200, headers: { 'content-type': 'image/png' }, body };
}
