import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { Position } from '../../diagnostics/diagnostic.ts';
import { isPress, kinds } from '../../kinds.ts';
import type { BranchAddress } from '../../pipeline.ts';
import { isOutputName } from '../../selectors/output.ts';
import { hasTags } from '../../templates/compile.ts';
import { renderValue } from '../../values/value.ts';
import { entryAt, isText, itemsOf, member, nodeAt, type SourceNode } from '../../yaml/node.ts';
import { countless, jobsAt, times } from '../count.ts';
import { stepOfImage } from '../domain/image-reference.ts';
import type { CheckContext, ImageUse, StepDraft, Steps } from '../draft.ts';

/** Returns the first step that is not a click, on the way up from a step. */
function originOf(step: StepDraft, steps: Steps): StepDraft {
  const seen = new Set<StepDraft>();
  for (let at = step; ; ) {
    const before = isPress(at.kind) && at.from !== undefined ? steps.get(at.from.step) : undefined;
    // Another check reports circular steps.
    if (before === undefined || seen.has(before)) return at;
    seen.add(before);
    at = before;
  }
}

function makesVideos(step: StepDraft, steps: Steps): boolean {
  const { kind } = originOf(step, steps);
  return kind !== undefined && kinds[kind].makes === 'videos';
}

/**
 * Whether a step makes images: `some`, `none`, or `unknown` if a template decides.
 *
 * @param pressed for a branch of its path: buttons of a describe make images, those of a video make videos
 */
export function imagesOf(step: StepDraft, steps: Steps, pressed = false): 'some' | 'none' | 'unknown' {
  const { kind, node } = step;
  if (kind === undefined) return 'unknown';
  const { makes } = kinds[kind];
  if (makes === 'prompts') return pressed ? 'some' : 'none';
  if (makes === 'text' || makesVideos(step, steps)) return 'none';
  if (makes !== 'text and images') return 'some';
  const modalities = nodeAt(node, [kind, 'generationConfig', 'responseModalities']);
  const words = modalities?.kind === 'scalar' ? [modalities] : itemsOf(modalities);
  if (words.some((word) => isText(word) && word.value.toUpperCase() === 'IMAGE')) return 'some';
  return words.some((word) => isText(word) && hasTags(word.value)) ? 'unknown' : 'none';
}

/** Reports a step that is used as an image but makes none. @param pressed see {@link imagesOf} */
export function checkMakesImages(
  target: StepDraft,
  position: Position,
  { steps, collector }: CheckContext,
  pressed = false,
): void {
  if (imagesOf(target, steps, pressed) !== 'none') return;
  const message = makesVideos(target, steps)
    ? `Step "${target.name}" makes videos, not images.`
    : `Step "${target.name}" is a ${target.kind}, which makes no image.`;
  const hint =
    target.kind !== undefined && kinds[target.kind].makes === 'text and images'
      ? 'Name a step that makes images, or ask it for them: generationConfig: { responseModalities: [TEXT, IMAGE] }.'
      : 'Name a step that makes images.';
  collector.error('step.field', position, message, hint);
}

/** Most bytes of one image: as text in a request it is a third larger, and services accept 32 MiB (gateway 9.1). */
const maxBytes = 20 * 1024 * 1024;

const endings = ['png', 'jpg', 'jpeg', 'webp', 'gif', 'avif', 'heic', 'heif'];

const endingsHint = `Images end in ${endings.map((ending) => `.${ending}`).join(', ')}.`;

/** Reports images that are missing, are not images or are too large, and `parent` in a step without a parent. */
export async function checkImages(step: StepDraft, context: CheckContext): Promise<void> {
  const { collector } = context;
  for (const image of step.images) {
    const { text, position, mask } = image;
    if (text === '') continue;
    if (mask) await checkMask(image, context);
    else if (text === 'parent') checkParent(step, position, context);
    else if (/^https?:\/\//i.test(text)) checkAddress(text, position, collector);
    else if (/^data:/i.test(text)) checkData(image, collector);
    else await checkFile(image, context);
  }
}

/** Whether an address means something else than the step's own operation and its outputs. */
export const isBranch = ({ segments }: BranchAddress): boolean =>
  segments.some((segment) => !isOutputName(segment));

function checkParent({ from, node, name }: StepDraft, position: Position, context: CheckContext): void {
  const { steps, collector } = context;
  if (node.entries.has('gather') && !node.entries.has('from')) {
    const message = `Step "${name}" gathers, so it has no single parent.`;
    const hint = 'Leave it out: everything that a step gathers is shown, in order.';
    collector.error('step.no-parent', position, message, hint);
  } else if (!node.entries.has('from')) {
    const message = `Step "${name}" continues no other step, so it has no parent.`;
    collector.error('step.no-parent', position, message, 'Add from, or name the image.');
  }
  const parent = from === undefined ? undefined : steps.get(from.step);
  if (from === undefined || parent === undefined) return;
  checkMakesImages(parent, position, context, isBranch(from));
}

function checkAddress(text: string, position: Position, collector: DiagnosticCollector): void {
  if (URL.canParse(text)) return;
  const hint = 'For example https://a.example/fox.png';
  collector.error('image.address', position, 'This is not an http(s) address.', hint);
}

const dataUri = /^data:image\/([a-z0-9.+-]{1,40})(?:;[a-z0-9.+=-]{1,40}){0,4};base64,/i;

function checkData({ text, position }: ImageUse, collector: DiagnosticCollector): void {
  const hint = 'For example data:image/png;base64,iVBORw0KGgo…';
  const head = dataUri.exec(text);
  const data = head === null ? '' : text.slice(head[0].length);
  if (head === null || data === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 === 1) {
    collector.error('image.data', position, 'This is not a data URI of an image in base64.', hint);
  } else if (!endings.includes((head[1] as string).toLowerCase())) {
    collector.error('image.data', position, `image/${head[1]} is not a supported type of image.`, hint);
  }
}

async function checkFile(
  { text, position }: ImageUse,
  { steps, fileCheck, collector }: CheckContext,
): Promise<void> {
  const meant = steps.has(text)
    ? `The images of the step "${text}" are steps.${text}; parent stands for those of the step in from.`
    : undefined;
  const found = await fileCheck.checkWithSize(text, position, meant);
  if (found === undefined) return;
  if (!endings.includes(/\.([A-Za-z0-9]+)$/.exec(text)?.[1]?.toLowerCase() ?? '')) {
    collector.error('image.type', position, `"${text}" does not have the ending of an image.`, endingsHint);
  } else {
    checkSize(text, found.bytes, position, collector);
  }
}

function checkSize(text: string, bytes: number, position: Position, collector: DiagnosticCollector): void {
  if (bytes <= maxBytes) return;
  const message = `"${text}" has ${bytes} bytes; at most ${maxBytes} (20 MiB) are sent.`;
  collector.error('image.too-large', position, message, 'Make it smaller; models scale images down anyway.');
}

/** Checks a mask. It is read and scaled to its image, so it must be a file, not a step or an address. */
async function checkMask(
  { text, position }: ImageUse,
  { fileCheck, collector }: CheckContext,
): Promise<void> {
  const found = /\.png$/i.test(text) ? await fileCheck.checkWithSize(text, position) : undefined;
  if (found !== undefined) checkSize(text, found.bytes, position, collector);
  if (/\.png$/i.test(text)) return;
  const shown = text.length > 80 ? `${text.slice(0, 79)}…` : text;
  const hint =
    'Save it as PNG (white is repainted, black is kept) and write that name, for example mask.png; or draw it: { shapes: [{ ellipse: [0.3, 0.1, 0.4, 0.5] }] }.';
  collector.error('mask.type', position, `A mask is a PNG file, but "${shown}" does not end in .png.`, hint);
}

const drawsAnyNumber = (target: StepDraft | undefined): boolean =>
  target?.kind !== undefined && kinds[target.kind].makes === 'text and images';

/** Checks a list of images; the schema reports an empty or too long one. */
function checkList(
  images: SourceNode,
  takes: string,
  step: StepDraft,
  { steps, collector }: CheckContext,
): void {
  const [only, ...more] = itemsOf(images);
  if (!isText(only) || more.length > 0) return;
  const name = only.value === 'parent' ? step.from?.step : stepOfImage(only.value);
  if (name !== undefined && drawsAnyNumber(steps.get(name))) return;
  const hint = 'Name another image, or gather them: gather: grid/*.';
  collector.error('blend.count', images.span, `${takes}, but this is 1.`, hint);
}

/** Reports a step with too few or too many images for its kind, named or gathered, as far as the pipeline alone determines the number. */
export function checkImageCount(step: StepDraft, context: CheckContext): void {
  const { steps, collector } = context;
  const { kind } = step;
  const bounds = kind && kinds[kind].images;
  const operation = kind && step.node.entries.get(kind);
  if (typeof bounds !== 'object' || operation?.value.kind !== 'mapping') return;
  const takes = `A ${kind} takes ${bounds.least} to ${bounds.most} images`;
  const images = member(operation.value, 'images');
  if (images !== undefined) return checkList(images, takes, step, context);
  const { gather } = step;
  if (gather === undefined) {
    if (step.node.entries.has('gather')) return;
    const hint = `Name ${bounds.least} to ${bounds.most} images, or gather them: gather: grid/*.`;
    collector.error('blend.count', operation.keySpan, `Step "${step.name}" has no images to ${kind}.`, hint);
    return;
  }
  const target = steps.get(gather.step);
  if (target === undefined || !target.pathKnown) return;
  const jobs = jobsAt(gather, target, steps);
  const isOpen =
    step.over !== undefined || drawsAnyNumber(target) || imagesOf(target, steps, true) !== 'some';
  const { least, most } = isOpen ? times(jobs, { least: 1, most: countless }) : jobs;
  if (most >= bounds.least && least <= bounds.most) return;
  const number = most < bounds.least ? most : least;
  const about = least === most ? `${number}` : `${most < bounds.least ? 'at most' : 'at least'} ${number}`;
  const message = `${takes}, but "${gather.source}" is ${about}.`;
  const hint = 'Gather other branches, or name the images.';
  collector.error('blend.count', gather.position, message, hint);
}

/** Reports a video step that extends something other than a video. */
export function checkVideo(step: StepDraft, { steps, collector }: CheckContext): void {
  const extend = entryAt(videoOf(step), 'extend');
  if (extend === undefined) return;
  const { from } = step;
  if (from === undefined) {
    // An address with errors has been reported already.
    if (step.node.entries.has('from')) return;
    const message = 'There is no video to extend.';
    collector.error('video.extend', extend.keySpan, message, 'Add from: with the name of a video step.');
    return;
  }
  const target = steps.get(from.step);
  if (target?.kind === undefined) return;
  const extended = videoOf(target);
  if (extended === undefined) {
    const message = `Step "${target.name}" is of kind ${target.kind}; only the result of a video step can be extended.`;
    const hint =
      'To make a video of an image, write image: parent. To extend a video that a button made, press Extend (Low motion) or Extend (High motion) on its U1 to U4.';
    collector.error('video.extend', from.position, message, hint);
  } else if (from.segments.length > 0) {
    const message = `"${from.source}" is a branch of it, but only the step's own result can be extended.`;
    const hint = `Write from: ${target.name}; or press Extend (Low motion) or Extend (High motion).`;
    collector.error('video.extend', from.position, message, hint);
  } else {
    const made = literalNumber(member(extended, 'batchSize'));
    const wanted = literalNumber(extend.value);
    if (made === undefined || wanted === undefined || wanted <= made) return;
    const message = `Step "${target.name}" makes ${made} (batchSize), so there is no video ${wanted} to extend.`;
    collector.error('video.extend', extend.value.span, message, 'Videos count from 1.');
  }
}

const videoOf = ({ kind, node }: StepDraft): SourceNode | undefined =>
  kind !== undefined && kinds[kind].makes === 'videos' ? member(node, kind) : undefined;

/** Returns the number written in the file, also as a text; undefined for a template. */
function literalNumber(node: SourceNode | undefined): number | undefined {
  const value = node?.kind === 'scalar' ? Number(renderValue(node.value)) : Number.NaN;
  return Number.isNaN(value) ? undefined : value;
}
