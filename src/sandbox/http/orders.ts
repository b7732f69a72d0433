import { ownMask, readMask } from '../images/mask.ts';
import type { ReadImage, SentImage } from '../images/read.ts';
import type { ImageShelf } from '../images/shelf.ts';
import type { SandboxNames } from '../names.ts';
import type { TaskSpeed } from '../settings.ts';
import type {
  ActionOrder,
  BlendOrder,
  ChangeOrder,
  CommonOrder,
  DescribeOrder,
  EditOrder,
  ImagineOrder,
  ModalOrder,
  ShortenOrder,
  VideoOrder,
} from '../tasks/submission.ts';

/** An unchecked JSON object. */
export type OrderMembers = Readonly<Record<string, unknown>>;

/** The error of a malformed body (gateway 8.2). `refused`: the body is well-formed, but the service refuses it with code 4. */
export class OrderError extends Error {
  readonly refused: boolean;

  constructor(message: string, refused = false) {
    super(message);
    this.refused = refused;
  }
}

function wrong(message: string, refused = false): never {
  throw new OrderError(message, refused);
}

/** Reads a body as a JSON object. @throws OrderError */
export function readMembers(bytes: Buffer): OrderMembers {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    wrong(`invalid JSON: ${cause instanceof Error ? cause.message.slice(0, 200) : 'unreadable'}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    wrong('invalid JSON: expected an object');
  return value as OrderMembers;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;

/** Reads a text; absent: empty. */
function textOf(members: OrderMembers, name: string): string {
  const value = members[name] ?? '';
  return typeof value === 'string' ? value : wrong(`${name}: expected a string, got ${kindOf(value)}`);
}

function requiredText(members: OrderMembers, name: string): string {
  const text = textOf(members, name);
  return text.trim() === '' ? wrong(`${name} is required`) : text;
}

/** Reads one of several words or numbers; absent: `usual`. */
function oneOf<const T extends string | number>(
  members: OrderMembers,
  name: string,
  choices: readonly T[],
  usual: T,
  refused = true,
): T {
  const value = members[name] ?? usual;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const isPlain = typeof value === 'string' || typeof value === 'number';
  const got = isPlain ? String(value).slice(0, 100) : kindOf(value);
  return wrong(`${name}: expected ${choices.join(', ')}, got ${got}`, refused);
}

function flagOf(members: OrderMembers, name: string): boolean {
  const value = members[name] ?? false;
  return typeof value === 'boolean' ? value : wrong(`${name}: expected a boolean`);
}

function dataUris(members: OrderMembers): readonly string[] {
  const list = members['base64Array'] ?? [];
  if (!Array.isArray(list) || !list.every((image) => typeof image === 'string'))
    wrong('base64Array: expected an array of data URIs');
  return list;
}

function botTypeOf(members: OrderMembers, names: SandboxNames): string {
  const value = textOf(members, 'botType') || names.botTypes[0];
  if (!names.botTypes.includes(value))
    wrong(`botType: expected ${names.botTypes.join(' or ')}, got ${value.slice(0, 100)}`);
  return value;
}

/** Checks `state`, `notifyHook` and `accountFilter` against the limits of gateway 2.2. */
function commonFields(members: OrderMembers): CommonOrder {
  const state = members['state'] ?? '';
  if (typeof state !== 'string' || state.length > 255)
    wrong('state: expected a string of at most 255 characters');
  const hook = members['notifyHook'] ?? '';
  if (typeof hook !== 'string' || hook.length > 2000)
    wrong('notifyHook: expected a string of at most 2000 characters');
  const filter = members['accountFilter'] ?? {};
  if (typeof filter !== 'object' || Array.isArray(filter)) wrong('accountFilter: expected an object');
  const modes = (filter as OrderMembers)['modes'] ?? [];
  if (!Array.isArray(modes) || !modes.every((mode) => typeof mode === 'string'))
    wrong('accountFilter.modes: expected an array of strings');
  return { state };
}

/** Returns the preferred speed of accountFilter.modes, which is the first (gateway 1.5). */
export function filteredSpeed(members: OrderMembers): TaskSpeed | undefined {
  const filter = members['accountFilter'];
  const modes = typeof filter === 'object' && filter !== null ? (filter as OrderMembers)['modes'] : undefined;
  const known: readonly TaskSpeed[] = ['relax', 'fast', 'turbo'];
  const [first] = Array.isArray(modes) ? modes : [];
  return known.find((speed) => speed.toUpperCase() === first);
}

// The following functions check the bodies of submissions (gateway 2.3 to 2.6). Each throws an OrderError.

/** Checks an imagine. Its image prompts stay unread. */
export function imagineOrder(
  members: OrderMembers,
  names: SandboxNames,
): Omit<ImagineOrder, 'images'> & { readonly base64Array: readonly string[] } {
  const prompt = requiredText(members, 'prompt');
  if (!names.familyClients) requiredText(members, 'botType');
  const botType = botTypeOf(members, names);
  return { prompt, botType, ...commonFields(members), base64Array: dataUris(members) };
}

export const actionOrder = (members: OrderMembers): ActionOrder => ({
  taskId: requiredText(members, 'taskId'),
  customId: requiredText(members, 'customId'),
  enableRemix: flagOf(members, 'enableRemix'),
  ...commonFields(members),
});

/** Checks the answer to a modal, as far as that does not depend on the task. */
export const modalOrder = (members: OrderMembers): ModalOrder => ({
  taskId: requiredText(members, 'taskId'),
  prompt: textOf(members, 'prompt'),
  maskBase64: textOf(members, 'maskBase64'),
  ...commonFields(members),
});

/** The actions of the old form of a click. The second word of a `simple-change` begins with the same letter. */
const actions = ['UPSCALE', 'VARIATION', 'REROLL'] as const;

const pressOf = (action: (typeof actions)[number], index: number): ChangeOrder['press'] =>
  action === 'REROLL' ? { kind: 'reroll' } : { kind: action === 'UPSCALE' ? 'upscale' : 'variation', index };

/** Checks a change (gateway 2.4): `{taskId, action, index}`; a reroll has no index. */
export function changeOrder(members: OrderMembers): ChangeOrder {
  const taskId = requiredText(members, 'taskId');
  requiredText(members, 'action');
  const action = oneOf(members, 'action', actions, 'REROLL', false);
  if (action === 'REROLL') return { taskId, press: pressOf(action, 0), ...commonFields(members) };
  if ((members['index'] ?? undefined) === undefined) wrong('index is required');
  const index = oneOf(members, 'index', [1, 2, 3, 4], 1, false);
  return { taskId, press: pressOf(action, index - 1), ...commonFields(members) };
}

/** Checks a simple change (gateway 2.4): `{content: "<taskId> U2"}`, also V1 to V4 and R. */
export function simpleChangeOrder(members: OrderMembers): ChangeOrder {
  const content = requiredText(members, 'content');
  const [, taskId, letter, digit] = /^\s*(\S+)\s+(?:([uv])([1-4])|r)\s*$/i.exec(content) ?? [];
  if (taskId === undefined) wrong('content: expected a task id and U1 to U4, V1 to V4 or R');
  const action = actions.find((each) => each.startsWith((letter ?? 'r').toUpperCase())) ?? 'REROLL';
  return { taskId, press: pressOf(action, Number(digit ?? 1) - 1), ...commonFields(members) };
}

/** The parts that checks of bodies with images work with. */
export interface EntryParts {
  readonly names: SandboxNames;
  readonly shelf: ImageShelf;
  /** Reads an image. `where`: its field, for errors; `links`: whether it may be an address. */
  readonly image: (text: string, where: string, links: boolean) => Promise<ReadImage>;
}

const commonOf = (members: OrderMembers, { names }: EntryParts) => ({
  botType: botTypeOf(members, names),
  ...commonFields(members),
});

async function imageOf(
  { image }: EntryParts,
  text: string,
  where: string,
  links: boolean,
): Promise<SentImage> {
  const read = await image(text, where, links);
  return read.ok ? read.value : wrong(read.error, true);
}

const maxImages = 5;

/** Reads the images of data URIs, one after another. @throws OrderError */
export async function readImages(list: readonly string[], parts: EntryParts): Promise<readonly SentImage[]> {
  const images: SentImage[] = [];
  for (const [index, text] of list.slice(0, maxImages).entries())
    images.push(await imageOf(parts, text, `base64Array[${index}]`, false));
  return images;
}

const dimensions = { PORTRAIT: 2 / 3, SQUARE: 1, LANDSCAPE: 3 / 2 } as const;

/** Checks a blend of 2 to 5 images. */
export async function blendOrder(members: OrderMembers, parts: EntryParts): Promise<BlendOrder> {
  const common = commonOf(members, parts);
  const list = dataUris(members);
  if (list.length < 2 || list.length > maxImages)
    wrong(`base64Array: expected 2 to ${maxImages} images, got ${list.length}`, true);
  const shape = oneOf(members, 'dimensions', ['PORTRAIT', 'SQUARE', 'LANDSCAPE'], 'SQUARE');
  return { ...common, images: await readImages(list, parts), aspect: dimensions[shape] };
}

/** Checks a describe of an image or of a link. */
export async function describeOrder(members: OrderMembers, parts: EntryParts): Promise<DescribeOrder> {
  const common = commonOf(members, parts);
  const base64 = textOf(members, 'base64');
  const link = textOf(members, 'link');
  if (base64 === '' && link === '') wrong('base64 or link is required');
  const image = await (base64 === ''
    ? imageOf(parts, link, 'link', true)
    : imageOf(parts, base64, 'base64', false));
  return { ...common, image };
}

export const shortenOrder = (members: OrderMembers, parts: EntryParts): ShortenOrder => ({
  ...commonOf(members, parts),
  prompt: requiredText(members, 'prompt'),
});

/** Checks an edit: an image, a prompt and a mask. */
export async function editOrder(members: OrderMembers, parts: EntryParts): Promise<EditOrder> {
  const common = commonOf(members, parts);
  const prompt = requiredText(members, 'prompt');
  const named = requiredText(members, 'image');
  const maskBase64 = textOf(members, 'maskBase64');
  const image = await imageOf(parts, named, 'image', true);
  if (maskBase64 !== '') {
    const mask = await readMask(maskBase64, 'transparent', image.photo, parts.shelf);
    return mask.ok ? { ...common, prompt, image, mask: mask.value } : wrong(mask.error, true);
  }
  const mask = await ownMask(image.bytes, parts.shelf);
  return mask === undefined
    ? wrong('maskBase64 is required, or an image that is transparent where it is edited', true)
    : { ...common, prompt, image, mask };
}

const videoTypes = [
  'vid_1.1_i2v_480',
  'vid_1.1_i2v_720',
  'vid_1.1_i2v_start_end_480',
  'vid_1.1_i2v_start_end_720',
] as const;

/** Checks a video: one made from an image, or the extension of a video. */
export async function videoOrder(members: OrderMembers, parts: EntryParts): Promise<VideoOrder> {
  const common = commonOf(members, parts);
  const prompt = textOf(members, 'prompt');
  const motion = oneOf(members, 'motion', ['low', 'high'], 'low');
  const batchSize = oneOf(members, 'batchSize', [1, 2, 4], 4);
  const videoType = oneOf(members, 'videoType', videoTypes, 'vid_1.1_i2v_480');
  const shot = { ...common, prompt, motion, batchSize };
  if (oneOf(members, 'action', ['', 'extend'], '') === 'extend') {
    const taskId = requiredText(members, 'taskId');
    const index = oneOf(members, 'index', [0, 1, 2, 3], 0);
    return { ...shot, from: { kind: 'extend', taskId, index } };
  }
  const loop = flagOf(members, 'loop');
  const named = requiredText(members, 'image');
  const endImage = textOf(members, 'endImage');
  const image = await imageOf(parts, named, 'image', true);
  const end = endImage === '' ? {} : { end: await imageOf(parts, endImage, 'endImage', true) };
  const lines = videoType.endsWith('720') ? 720 : 480;
  return { ...shot, from: { kind: 'image', image, ...end, loop, lines } };
}
