import { ownMask, readMask } from '../../images/mask.ts';
import type { ReadImage, SentImage } from '../../images/read.ts';
import type { ImageShelf } from '../../images/shelf.ts';
import type { SandboxNames } from '../../names.ts';
import type { BlendOrder, DescribeOrder, EditOrder, ShortenOrder, VideoOrder } from '../../tasks/orders.ts';
import { rejected, type SubmitResponse } from '../../tasks/submission.ts';
import { type Checked, memberOneOf, no, type OrderMembers, optionalText, requiredText } from './members.ts';
import { botTypeOf, commonFields } from './orders.ts';

/** A body that was understood; one that is malformed; or one that the service understands and refuses with code 4. */
export type Ordered<T> = Checked<T> | { readonly ok: false; readonly rejection: SubmitResponse };

/** What the readers of these bodies need. */
export interface EntryParts {
  readonly names: SandboxNames;
  readonly shelf: ImageShelf;
  /** Reads an image that is named so; `links` allows addresses. */
  readonly image: (text: string, where: string, links: boolean) => Promise<ReadImage>;
}

const four = (description: string): { readonly ok: false; readonly rejection: SubmitResponse } => ({
  ok: false,
  rejection: rejected(4, description),
});

/** Most images of one body. */
const mostImages = 5;

/** Reads a list of data URIs, one after another. */
export async function readImages(
  list: readonly string[],
  { image }: EntryParts,
): Promise<Ordered<readonly SentImage[]>> {
  const images: SentImage[] = [];
  for (const [index, text] of list.slice(0, mostImages).entries()) {
    const read = await image(text, `base64Array[${index}]`, false);
    if (!read.ok) return four(read.error);
    images.push(read.value);
  }
  return { ok: true, value: images };
}

const dimensions = { PORTRAIT: 2 / 3, SQUARE: 1, LANDSCAPE: 3 / 2 } as const;

/** Checks the body of a blend: 2 to 5 images (gateway 2.6). */
export async function blendOrder(members: OrderMembers, parts: EntryParts): Promise<Ordered<BlendOrder>> {
  const common = commonOf(members, parts);
  if (!common.ok) return common;
  const list = members['base64Array'] ?? [];
  if (!Array.isArray(list) || !list.every((image) => typeof image === 'string')) {
    return no('base64Array: expected an array of data URIs');
  }
  if (list.length < 2 || list.length > mostImages) {
    return four(`base64Array: expected 2 to ${mostImages} images, got ${list.length}`);
  }
  const shape = memberOneOf(members, 'dimensions', ['PORTRAIT', 'SQUARE', 'LANDSCAPE'], 'SQUARE');
  if (!shape.ok) return four(shape.error);
  const images = await readImages(list, parts);
  if (!images.ok) return images;
  return { ok: true, value: { ...common.value, images: images.value, aspect: dimensions[shape.value] } };
}

/** Checks the body of a describe: an image, or a link to one. */
export async function describeOrder(
  members: OrderMembers,
  parts: EntryParts,
): Promise<Ordered<DescribeOrder>> {
  const common = commonOf(members, parts);
  if (!common.ok) return common;
  const base64 = optionalText(members, 'base64');
  if (!base64.ok) return base64;
  const link = optionalText(members, 'link');
  if (!link.ok) return link;
  if (base64.value === '' && link.value === '') return no('base64 or link is required');
  const image =
    base64.value === ''
      ? await parts.image(link.value, 'link', true)
      : await parts.image(base64.value, 'base64', false);
  return image.ok ? { ok: true, value: { ...common.value, image: image.value } } : four(image.error);
}

/** Checks the body of a shorten: a prompt. */
export function shortenOrder(members: OrderMembers, parts: EntryParts): Checked<ShortenOrder> {
  const common = commonOf(members, parts);
  if (!common.ok) return common;
  const prompt = requiredText(members, 'prompt');
  return prompt.ok ? { ok: true, value: { ...common.value, prompt: prompt.value } } : prompt;
}

/** Checks the body of an edit: an image, what is to be painted, and where. */
export async function editOrder(members: OrderMembers, parts: EntryParts): Promise<Ordered<EditOrder>> {
  const common = commonOf(members, parts);
  if (!common.ok) return common;
  const prompt = requiredText(members, 'prompt');
  if (!prompt.ok) return prompt;
  const named = requiredText(members, 'image');
  if (!named.ok) return named;
  const maskBase64 = optionalText(members, 'maskBase64');
  if (!maskBase64.ok) return maskBase64;
  const image = await parts.image(named.value, 'image', true);
  if (!image.ok) return four(image.error);
  const whole = { ...common.value, prompt: prompt.value, image: image.value };
  if (maskBase64.value !== '') {
    const mask = await readMask(maskBase64.value, 'transparent', image.value.photo, parts.shelf);
    return mask.ok ? { ok: true, value: { ...whole, mask: mask.value } } : four(mask.error);
  }
  const mask = await ownMask(image.value.bytes, parts.shelf);
  if (mask === undefined)
    return four('maskBase64 is required, or an image that is transparent where it is edited');
  return { ok: true, value: { ...whole, mask } };
}

const videoTypes = [
  'vid_1.1_i2v_480',
  'vid_1.1_i2v_720',
  'vid_1.1_i2v_start_end_480',
  'vid_1.1_i2v_start_end_720',
] as const;

/** Checks the body of a video: from an image, or an extension of a video. */
export async function videoOrder(members: OrderMembers, parts: EntryParts): Promise<Ordered<VideoOrder>> {
  const common = commonOf(members, parts);
  if (!common.ok) return common;
  const prompt = optionalText(members, 'prompt');
  if (!prompt.ok) return prompt;
  const motion = memberOneOf(members, 'motion', ['low', 'high'], 'low');
  if (!motion.ok) return four(motion.error);
  const batchSize = memberOneOf(members, 'batchSize', [1, 2, 4], 4);
  if (!batchSize.ok) return four(batchSize.error);
  const videoType = memberOneOf(members, 'videoType', videoTypes, 'vid_1.1_i2v_480');
  if (!videoType.ok) return four(videoType.error);
  const shot = { ...common.value, prompt: prompt.value, motion: motion.value, batchSize: batchSize.value };
  const action = memberOneOf(members, 'action', ['', 'extend'], '');
  if (!action.ok) return four(action.error);
  if (action.value === 'extend') {
    const taskId = requiredText(members, 'taskId');
    if (!taskId.ok) return taskId;
    const index = memberOneOf(members, 'index', [0, 1, 2, 3], 0);
    if (!index.ok) return four(index.error);
    return {
      ok: true,
      value: { ...shot, from: { kind: 'extend', taskId: taskId.value, index: index.value } },
    };
  }
  const loop = members['loop'] ?? false;
  if (typeof loop !== 'boolean') return no('loop: expected a boolean');
  const named = requiredText(members, 'image');
  if (!named.ok) return named;
  const endImage = optionalText(members, 'endImage');
  if (!endImage.ok) return endImage;
  const image = await parts.image(named.value, 'image', true);
  if (!image.ok) return four(image.error);
  const from = {
    kind: 'image' as const,
    image: image.value,
    loop,
    lines: videoType.value.endsWith('720') ? (720 as const) : (480 as const),
  };
  if (endImage.value === '') return { ok: true, value: { ...shot, from } };
  const end = await parts.image(endImage.value, 'endImage', true);
  if (!end.ok) return four(end.error);
  return { ok: true, value: { ...shot, from: { ...from, end: end.value } } };
}

function commonOf(
  members: OrderMembers,
  { names }: EntryParts,
): Checked<{ readonly botType: string; readonly state: string }> {
  const botType = botTypeOf(members, names);
  if (!botType.ok) return botType;
  const common = commonFields(members);
  return common.ok ? { ok: true, value: { botType: botType.value, ...common.value } } : common;
}
