import type { ArtifactWriter } from '../artifacts/writer.ts';

/**
 * Downloads of a run in the sandbox. A sandbox that is started again goes on with its tasks on another port, so a link
 * that it gave before leads nowhere by now: each link is followed at the address that the sandbox has now.
 */
export const followedAt = (baseUrl: string, writer: ArtifactWriter): ArtifactWriter => ({
  save: (request, signal) => writer.save({ ...request, url: moved(request.url, baseUrl) }, signal),
  keep: (request, signal) => writer.keep(request, signal),
  close: () => writer.close(),
});

function moved(link: string, baseUrl: string): string {
  // What is no link is told by who is asked to follow it.
  if (!URL.canParse(link)) return link;
  const { pathname, search } = new URL(link);
  return `${baseUrl}${pathname}${search}`;
}
