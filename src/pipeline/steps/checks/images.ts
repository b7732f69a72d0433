import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { Position } from '../../diagnostics/diagnostic.ts';
import type { FileCheck } from '../../files.ts';
import { isPress, kinds } from '../../kinds.ts';
import { hasTags } from '../../templates/compile.ts';
import { isText, member, type SourceNode } from '../../yaml/node.ts';
import type { ImageUse, StepDraft } from '../draft.ts';

/** All steps of the pipeline by their names. */
type Steps = ReadonlyMap<string, StepDraft>;

/** The step whose result a click presses the buttons of, first of all; a step of another kind is that itself. */
function originOf(step: StepDraft, steps: Steps): StepDraft {
  const seen = new Set<StepDraft>();
  for (let at = step; ; ) {
    const before = isPress(at.kind) && at.from !== undefined ? steps.get(at.from.step) : undefined;
    // Another check reports steps that wait for each other.
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
 * Does a step make images: `some`, `none`, or does a template decide it.
 *
 * @param pressed a branch of its path is meant: the buttons of a describe make images, those of a video make videos
 */
export function imagesOf(step: StepDraft, steps: Steps, pressed = false): 'some' | 'none' | 'unknown' {
  const { kind, node } = step;
  if (kind === undefined) return 'unknown';
  const { makes } = kinds[kind];
  if (makes === 'prompts') return pressed ? 'some' : 'none';
  if (makes === 'text' || makesVideos(step, steps)) return 'none';
  if (makes !== 'text and images') return 'some';
  const modalities = member(member(member(node, kind), 'generationConfig'), 'responseModalities');
  const words: readonly SourceNode[] =
    modalities === undefined ? [] : modalities.kind === 'list' ? modalities.items : [modalities];
  if (words.some((word) => isText(word) && word.value.toUpperCase() === 'IMAGE')) return 'some';
  return words.some((word) => isText(word) && hasTags(word.value)) ? 'unknown' : 'none';
}

/** Reports a step among images that makes none. @param pressed see {@link imagesOf} */
export function checkMakesImages(
  target: StepDraft,
  position: Position,
  steps: Steps,
  collector: DiagnosticCollector,
  pressed = false,
): void {
  if (imagesOf(target, steps, pressed) !== 'none') return;
  const message = makesVideos(target, steps)
    ? `Step "${target.name}" makes videos, which are no images.`
    : `Step "${target.name}" is a ${target.kind} and makes no image.`;
  const hint =
    target.kind !== undefined && kinds[target.kind].makes === 'text and images'
      ? 'Name a step that makes images, or ask it for them: generationConfig: { responseModalities: [TEXT, IMAGE] }.'
      : 'Name a step that makes images.';
  collector.error('step.field', position, message, hint);
}

/** The most bytes of one image: as text in a request it is a third more, and services take 32 MiB (gateway 9.1). */
const mostBytes = 20 * 1024 * 1024;

/** The kinds of images that are sent, by the ends of their names. */
const endings = ['png', 'jpg', 'jpeg', 'webp', 'gif', 'avif', 'heic', 'heif'];

const endingsHint = `Images end in ${endings.map((ending) => `.${ending}`).join(', ')}.`;

/** Reports images that are not there, are no images, or are too large, and a parent where there is none. */
export async function checkImages(
  step: StepDraft,
  steps: ReadonlyMap<string, StepDraft>,
  fileCheck: FileCheck,
  collector: DiagnosticCollector,
): Promise<void> {
  for (const image of step.images) {
    const { text, position, mask } = image;
    if (text === '') continue;
    if (mask) await checkMask(image, fileCheck, collector);
    else if (text === 'parent') checkParent(step, steps, position, collector);
    else if (/^https?:\/\//i.test(text)) checkAddress(text, position, collector);
    else if (/^data:/i.test(text)) checkData(image, collector);
    else await checkFile(image, steps, fileCheck, collector);
  }
}

function checkParent(
  step: StepDraft,
  steps: ReadonlyMap<string, StepDraft>,
  position: Position,
  collector: DiagnosticCollector,
): void {
  const { from, node, name } = step;
  if (node.entries.has('gather') && !node.entries.has('from')) {
    const message = `Step "${name}" gathers, so it has no single parent.`;
    const hint = 'Leave it out: what a step gathers is shown, all of it and in order.';
    collector.error('step.no-parent', position, message, hint);
  } else if (!node.entries.has('from')) {
    const message = `Step "${name}" continues no other step, so it has no parent.`;
    collector.error('step.no-parent', position, message, 'Say from, or name the image.');
  }
  const parent = from === undefined ? undefined : steps.get(from.step);
  if (from === undefined || parent === undefined) return;
  checkMakesImages(parent, position, steps, collector, from.segments.length > 0);
}

function checkAddress(text: string, position: Position, collector: DiagnosticCollector): void {
  if (URL.canParse(text)) return;
  collector.error(
    'image.address',
    position,
    'This is no http(s) address.',
    'For example https://a.example/fox.png',
  );
}

const dataUri = /^data:image\/([a-z0-9.+-]{1,40})(?:;[a-z0-9.+=-]{1,40}){0,4};base64,/i;

function checkData({ text, position }: ImageUse, collector: DiagnosticCollector): void {
  const hint = 'For example data:image/png;base64,iVBORw0KGgo…';
  const head = dataUri.exec(text);
  const data = head === null ? '' : text.slice(head[0].length);
  if (head === null || data === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 === 1) {
    collector.error('image.data', position, 'This is no data URI of an image in base64.', hint);
  } else if (!endings.includes((head[1] as string).toLowerCase())) {
    collector.error('image.data', position, `image/${head[1]} is no kind of image that is taken.`, hint);
  }
}

async function checkFile(
  { text, position }: ImageUse,
  steps: Steps,
  fileCheck: FileCheck,
  collector: DiagnosticCollector,
): Promise<void> {
  const meant = steps.has(text)
    ? `The images of the step "${text}" are steps.${text}; parent stands for those of the step in from.`
    : undefined;
  const found = await fileCheck.checkWithSize(text, position, meant);
  if (found === undefined) return;
  if (!endings.includes(/\.([A-Za-z0-9]+)$/.exec(text)?.[1]?.toLowerCase() ?? '')) {
    collector.error('image.type', position, `"${text}" is no image by its name.`, endingsHint);
  } else {
    checkSize(text, found.bytes, position, collector);
  }
}

function checkSize(text: string, bytes: number, position: Position, collector: DiagnosticCollector): void {
  if (bytes <= mostBytes) return;
  const message = `"${text}" has ${bytes} bytes; at most ${mostBytes} (20 MiB) are sent.`;
  collector.error('image.too-large', position, message, 'Make it smaller; models scale images down anyway.');
}

/** A mask is looked into and brought to its image's size, so it is a file: no step, no address. */
async function checkMask(
  { text, position }: ImageUse,
  fileCheck: FileCheck,
  collector: DiagnosticCollector,
): Promise<void> {
  const found = /\.png$/i.test(text) ? await fileCheck.checkWithSize(text, position) : undefined;
  if (found !== undefined) checkSize(text, found.bytes, position, collector);
  if (/\.png$/i.test(text)) return;
  const shown = text.length > 80 ? `${text.slice(0, 79)}…` : text;
  const hint =
    'Save it as PNG (white is repainted, black is kept) and write that name, for example mask.png; or draw it: { shapes: [{ ellipse: [0.3, 0.1, 0.4, 0.5] }] }.';
  collector.error('mask.type', position, `A mask is a PNG file, and "${shown}" is none by its name.`, hint);
}
