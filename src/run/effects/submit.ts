import { type InputReader, type LoadedImage, largestMask } from '../../artifacts/inputs.ts';
import type { SaveFailure } from '../../artifacts/writer.ts';
import type { Speed } from '../../pipeline/pipeline.ts';
import { isInpaint, mayTakeMask } from '../../plan/button-match.ts';
import type { JobRecord } from '../../plan/job.ts';
import { extendsParent, type ImageSource, isTextRequest, type MaskSource } from '../../plan/job-request.ts';
import { nearestPrompt } from '../../plan/resolve/nearest-prompt.ts';
import type { RecordLookup } from '../../plan/slot.ts';
import type { ImageService, SubmitResult } from '../../service/image-service.ts';
import type { ServiceResult } from '../../service/result.ts';
import type { InlineImage } from '../../service/text-service.ts';
import type { Job } from '../machine/job.ts';
import { MissingInput, type Shown, shownImages } from './conversation.ts';
import { type InputBudget, inlined, type LoadedInputs, read, withInputs } from './input-budget.ts';

/** Ports and settings of submissions. */
export interface SubmitPorts {
  readonly service: ImageService;
  readonly inputs: InputReader;
  readonly lookup: RecordLookup;
  readonly inputBudget: InputBudget;
  readonly speed: Speed | undefined;
  /** Whether every submission has its job's key as a tag, which the task echoes (gateway 2.2). */
  readonly tags: boolean;
}

type Submitted = Promise<LoadedInputs<ServiceResult<SubmitResult>>>;

/** The fields that all submissions have. */
function common({ key, request: { extra } }: JobRecord, { speed, tags }: SubmitPorts) {
  return { speed, ...(extra === undefined ? {} : { extra }), ...(tags ? { tag: key } : {}) };
}

/** Submits a job from its record: reads the images it shows and asks the service for a task. */
export async function submit(
  { record, parentTaskId }: Job,
  ports: SubmitPorts,
  signal: AbortSignal,
): Submitted {
  const { request, pressed } = record;
  const { service, inputBudget } = ports;
  const shared = common(record, ports);
  if (isTextRequest(request))
    throw new Error(`Internal error: ${record.key} is a text job and makes no task.`);
  if (request.press !== undefined) {
    if (pressed === undefined || parentTaskId === undefined)
      throw new Error(`Internal error: click ${record.key} has no button to press.`);
    const { customId } = pressed;
    // Vary (Region) opens its modal only with remix (gateway 4.6).
    const remix = request.fields['remix'] === true || isInpaint(pressed) ? { enableRemix: true } : {};
    return { result: await service.action({ taskId: parentTaskId, customId, ...remix, ...shared }, signal) };
  }
  const { kind, fields, images: sources = [] } = request;
  const extending = extendsParent(request) ? parentTaskId : undefined;
  if (extendsParent(request) && extending === undefined)
    throw new Error(`Internal error: video ${record.key} has no task to extend.`);
  return await withInputs(inputBudget, signal, async (reserve) => {
    const { images, mask } = await pictures(record, sources, request.mask, ports, reserve, signal);
    const extended = extending === undefined ? {} : { taskId: extending };
    return await service.begin({ kind, fields, images, ...mask, ...extended, ...shared }, signal);
  });
}

/** Checks whether the mask of a click fits its image. @returns the error; undefined where it fits or there is no mask */
export async function checkMask(
  record: JobRecord,
  ports: SubmitPorts,
  signal: AbortSignal,
): Promise<SaveFailure | undefined> {
  const loaded = await withInputs(ports.inputBudget, signal, async (reserve) => {
    await modalMask(record, ports, reserve, signal);
  });
  return 'unread' in loaded ? loaded.unread : undefined;
}

/** Confirms the modal that a job's click has opened. */
export async function confirmModal(record: JobRecord, ports: SubmitPorts, signal: AbortSignal): Submitted {
  const { request, modal } = record;
  if (request.press === undefined || modal === undefined)
    throw new Error(`Internal error: job ${record.key} has no modal to confirm.`);
  const { service, lookup, inputBudget } = ports;
  const { taskId } = modal;
  // A prompt suggested by a describe is not part of the request. It is looked up here, also above a remix.
  const { prompt = nearestPrompt(record, lookup) } = request.fields;
  return await withInputs(inputBudget, signal, async (reserve) => {
    const mask = await modalMask(record, ports, reserve, signal);
    return await service.modal(
      {
        taskId,
        ...(typeof prompt === 'string' && { prompt }),
        ...(mask !== undefined && { mask }),
        ...common(record, ports),
      },
      signal,
    );
  });
}

/** The mask that confirms a modal together with the prompt, resized to the image under the button. Equal masks are made once. */
async function modalMask(
  record: JobRecord,
  { inputs, lookup }: SubmitPorts,
  reserve: (bytes: number) => Promise<void>,
  signal: AbortSignal,
): Promise<InlineImage | undefined> {
  const { request, pressed } = record;
  if (request.press === undefined || request.mask === undefined) return undefined;
  if (pressed !== undefined && !mayTakeMask(pressed)) return undefined;
  const size = sizeOfParent(record, lookup);
  await reserve(encoded(largestMask));
  const result = await inputs.mask({ ...maskOf(request.mask, record), size, form: 'white' }, signal);
  return inlined(read(result));
}

const encoded = (bytes: number): number => 4 * Math.ceil(bytes / 3);

interface Pictures {
  readonly images: readonly InlineImage[];
  readonly mask: { readonly mask?: InlineImage };
}

async function pictures(
  record: JobRecord,
  sources: readonly ImageSource[],
  mask: MaskSource | undefined,
  { inputs, lookup }: SubmitPorts,
  reserve: (bytes: number) => Promise<void>,
  signal: AbortSignal,
): Promise<Pictures> {
  const all = sources.flatMap((source): readonly Shown[] => shownImages(source, record.files, lookup));
  const bytes = all.reduce((sum, image) => sum + image.bytes, 0);
  await reserve(bytes + (mask === undefined ? 0 : encoded(largestMask)));
  const loaded: LoadedImage[] = [];
  // One at a time, so that a request does not open many files or connections at once.
  for (const { source } of all) loaded.push(read(await inputs.load(source, signal)));
  const images = loaded.map(inlined);
  if (mask === undefined) return { images, mask: {} };
  const { width, height } = loaded[0] ?? {};
  if (width === undefined || height === undefined)
    throw new MissingInput('The size of the edited image is not known, so no mask fits it.');
  const request = { ...maskOf(mask, record), size: { width, height }, form: 'transparent' } as const;
  return { images, mask: { mask: inlined(read(await inputs.mask(request, signal))) } };
}

function maskOf(mask: MaskSource, { files }: JobRecord) {
  const invert = mask.invert === true;
  if ('shapes' in mask) return { source: { kind: 'shapes', shapes: mask.shapes }, invert } as const;
  const { sha256 } = mask;
  const path = files?.[sha256];
  if (path === undefined) throw new Error(`Internal error: the path of the mask ${sha256} is unknown.`);
  return { source: { kind: 'file', path, sha256 }, invert } as const;
}

function sizeOfParent({ parent }: JobRecord, lookup: RecordLookup): { width: number; height: number } {
  const artifacts = (parent === undefined ? undefined : lookup(parent))?.artifacts ?? [];
  for (const { width, height } of artifacts)
    if (width !== undefined && height !== undefined) return { width, height };
  throw new MissingInput(
    'The size of the image to repaint is not known: its file was not kept (keep: false).',
  );
}
