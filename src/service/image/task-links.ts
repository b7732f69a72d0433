import type { RequestFacts } from '../failures/request-context.ts';
import { members } from '../http/json.ts';
import { secretMask } from '../http/secrets.ts';
import type { Task } from '../image-service.ts';

/** Bounds of the kept links: a video task makes up to four videos, a grid has four images. */
const most = { links: 25, characters: 16_384 } as const;

const videoName = /\.(mp4|m4v|webm|mov)$/i;

/**
 * Reads the links of a finished task (gateway 4.7). Lists hold objects with a `url`, or texts; null is an empty list.
 *
 * - `videoUrls`, else `videoUrl`. A `videoUrl` that is not in the list is a second link to one of its videos, for when a link of the
 *   list is refused. Without either, videos may be in the fields of images: their file names show that.
 * - `imageUrl`, else the first of `imageUrls`. Beside videos it is their poster.
 * - Several `imageUrls` without an `imageUrl`, or with it among them, are separate images; four beside it are the frames of a grid.
 */
export function readLinks(
  record: Readonly<Record<string, unknown>>,
  facts: RequestFacts,
): Pick<Task, 'imageUrl' | 'imageUrls' | 'frameUrls' | 'videoUrls' | 'spareVideoUrl'> {
  const listed = (...names: readonly string[]): readonly string[] =>
    names.map((name) => linksIn(record[name], facts)).find((links) => links.length > 0) ?? [];
  const image = listed('imageUrl');
  const images = listed('imageUrls', 'image_urls');
  const shown = [...image, ...images];
  const given = listed('videoUrls', 'video_urls', 'videoUrl', 'video_url');
  const videoUrls = given.length > 0 ? given : [...new Set(shown.filter(isVideo))];
  const imageUrl = shown.find((link) => !isVideo(link));
  const [alone] = listed('videoUrl', 'video_url');
  const spare = alone !== undefined && videoUrls.length > 0 && !videoUrls.includes(alone) ? alone : undefined;
  return {
    ...(imageUrl !== undefined && { imageUrl }),
    ...(videoUrls.length > 0 ? { videoUrls } : several(image[0], new Set(images))),
    ...(spare !== undefined && { spareVideoUrl: spare }),
  };
}

function several(
  image: string | undefined,
  listed: ReadonlySet<string>,
): Pick<Task, 'imageUrls' | 'frameUrls'> {
  const others = [...listed].filter((link) => link !== image);
  if (image !== undefined && others.length === 4) return { frameUrls: others };
  const isOneOfThem = image === undefined || listed.has(image);
  return isOneOfThem && listed.size > 1 ? { imageUrls: [...listed] } : {};
}

function linksIn(value: unknown, facts: RequestFacts): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value.slice(0, most.links) : [value];
  return items.flatMap((item) => {
    const url = members(item)?.['url'] ?? item;
    const link = typeof url === 'string' ? url.trim() : '';
    if (link === '') return [];
    // A link that holds a secret is neither followed nor kept: its mask is not a link.
    return [facts.dataMask(link) === link ? link.slice(0, most.characters) : secretMask];
  });
}

/** Whether a link names a video file. A gateway may give a path of its own in place of a link. */
const isVideo = (link: string): boolean =>
  URL.canParse(link, 'http://gateway') && videoName.test(new URL(link, 'http://gateway').pathname);
