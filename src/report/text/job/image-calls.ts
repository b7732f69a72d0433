import { cut } from '../../../pipeline/diagnostics/columns.ts';
import { artifactsOf, type JobRecord } from '../../../plan/job.ts';
import type { ImageSource, MaskSource } from '../../../plan/job-request.ts';
import type { RecordLookup } from '../../../plan/slot.ts';
import type { JobReference, ShownFile } from '../../facts/json-outputs.generated.ts';
import { counted } from '../amounts.ts';
import { shownLine } from '../printable.ts';
import { referenceTo, slotWords } from './mention.ts';

/** An image that a request sends. */
export type ShownImage =
  | ShownFile
  /** Address as declared, without the data of a data URI. */
  | { readonly kind: 'address'; readonly url: string }
  /** All images of a job. `files` are relative to the run directory; it is empty if they were not kept. */
  | ({ readonly kind: 'job'; readonly files: readonly string[] } & JobReference);

/** The part of an image that is repainted. */
export type ShownMask = (
  | ShownFile
  /** Shapes in fractions of the image: `[x, y, width, height]`. */
  | ({ readonly kind: 'shapes' } & Pick<Extract<MaskSource, { shapes: unknown }>, 'shapes'>)
) & { readonly invert: boolean };

/** The images of a job's request, and where they are stored. */
export interface ImageReport {
  /** Images in the order of the request. */
  readonly shows: readonly ShownImage[];
  readonly mask?: ShownMask;
}

/** Collects the images of a request. @param lookup finds the jobs whose images it sends */
export function imageReport({ request, files }: JobRecord, lookup: RecordLookup): ImageReport {
  const images = 'images' in request ? (request.images ?? []) : [];
  const mask = 'mask' in request ? request.mask : undefined;
  return {
    shows: images.map((image) => shownImage(image, files, lookup)),
    ...(mask === undefined ? {} : { mask: shownMask(mask, files) }),
  };
}

function shownImage(image: ImageSource, paths: JobRecord['files'], lookup: RecordLookup): ShownImage {
  if ('sha256' in image) return fileReference(image.sha256, paths);
  if ('url' in image) return { kind: 'address', url: withoutData(image.url) };
  const record = lookup(image.job);
  const files =
    image.output === undefined ? (record?.artifacts ?? []) : record === undefined ? [] : artifactsOf(record);
  const pictures = files.filter(
    ({ mime, output }) => mime.startsWith('image/') && output === (image.output ?? output),
  );
  return { kind: 'job', ...referenceTo(image.job, record), files: pictures.map(({ file }) => file) };
}

function shownMask(mask: MaskSource, files: JobRecord['files']): ShownMask {
  const invert = mask.invert === true;
  return 'shapes' in mask
    ? { kind: 'shapes', shapes: mask.shapes, invert }
    : { ...fileReference(mask.sha256, files), invert };
}

function fileReference(sha256: string, files: JobRecord['files']): ShownFile {
  const path = files?.[sha256];
  return { kind: 'file', ...(path === undefined ? {} : { path }), sha256 };
}

/** Cuts the data from a data URI, which may be megabytes long. */
const withoutData = (url: string): string => (/^data:/i.test(url) ? url.replace(/,.*/s, ',…') : url);

const longestAddress = 200;

/** Formats the images as rows of name and text. */
export const imageRows = ({ shows, mask }: ImageReport): readonly (readonly [string, string])[] => [
  ...shows.map((image) => ['shows', imageWords(image)] as const),
  ...(mask === undefined ? [] : [['mask', maskWords(mask)] as const]),
];

function imageWords(image: ShownImage): string {
  switch (image.kind) {
    case 'file':
      return fileWords(image);
    case 'address':
      return cut(shownLine(image.url), longestAddress);
    case 'job': {
      const { job, cell, step, branch = '', files } = image;
      if (cell === undefined || step === undefined) return `${job}, which is not on record`;
      const lie = files.length === 0 ? 'no file was kept' : shownLine(files.join(', '));
      return `cell ${cell}, ${slotWords({ step, branch })}: ${lie}`;
    }
  }
}

function maskWords(mask: ShownMask): string {
  const what =
    mask.kind === 'file'
      ? fileWords(mask)
      : `${counted(mask.shapes.length, 'shape')}: ${mask.shapes.map(shapeWords).join('; ')}`;
  return mask.invert ? `${what}, inverted` : what;
}

const shapeWords = (shape: Extract<MaskSource, { shapes: unknown }>['shapes'][number]): string =>
  'rectangle' in shape ? `rectangle ${shape.rectangle.join(', ')}` : `ellipse ${shape.ellipse.join(', ')}`;

/** Characters of a hash shown to users; `--json` has all. */
const shortHash = 12;

const fileWords = ({ path, sha256 }: ShownFile): string =>
  `${path === undefined ? 'a file' : shownLine(path)} (sha256 ${sha256.slice(0, shortHash)}…)`;
