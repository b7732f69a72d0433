import { imagineDrawing, upscaleDrawing } from '../../draw/lineage.ts';
import type { LinkReader } from '../../images/read.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { momentOf } from '../../tasks/timeline.ts';
import type { ServiceParts } from '../visit.ts';
import { endpointOf } from './route.ts';

/**
 * Returns the image for a link in a request. A link of this sandbox is its picture. The sandbox sends no request itself:
 * any other address is drawn from its own words, so that the same link is always the same picture.
 */
export function linkReader({ book, studio, names, now, ports }: ServiceParts): LinkReader {
  return async (link) => {
    if (!URL.canParse(link)) return undefined;
    const { hostname, port, pathname } = new URL(link);
    const isOwn = (hostname === '127.0.0.1' || hostname === 'localhost') && Number(port) === ports().service;
    if (!isOwn) return await studio.picture(drawnFrom(link, pathname));
    const route = endpointOf('GET', pathname, names);
    const task = route?.name === 'image' ? book.get(route.taskId) : undefined;
    if (task === undefined || momentOf(task, now()).status !== 'SUCCESS') return undefined;
    return await studio.picture(task.drawing);
  };
}

function drawnFrom(link: string, pathname: string) {
  const name = pathname.split('/').at(-1) ?? '';
  const words = name
    .replace(/\.\w{1,5}$/, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const prompt = parsePrompt(words === '' ? 'a landscape' : words.slice(0, 200));
  return upscaleDrawing(imagineDrawing(prompt, undefined, link), 0);
}
