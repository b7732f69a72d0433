import { kinds } from '../../pipeline/kinds.ts';
import { nameOfButton, stageAfter } from '../../pipeline/selectors/button-stage.ts';
import type { Artifact, Button, JobError, JobRecord } from '../job.ts';
import type { SlotTemplate } from './slot-template.ts';

/**
 * Largest width times height of a grid that is cut: four frames of 4096 × 4096. Decoding it takes some hundred megabytes; the grids of
 * services have a sixteenth of its size.
 */
export const maxGridPixels = 8192 * 8192;

/** The file of a grid that can be cut into four equal frames, or the reason why a finished image stays whole. */
export type Grid =
  | { readonly ok: true; readonly file: Artifact }
  /** Codes: `frames.no-grid`, `frames.odd-size`, `frames.too-large`. */
  | { readonly ok: false; readonly error: JobError };

/**
 * Returns a job's file as a grid; undefined if the job does not have exactly one image: nothing was downloaded, or videos, or texts. The
 * buttons decide, because a size does not show what an image contains.
 */
export function gridOf({ artifacts, result }: Pick<JobRecord, 'artifacts' | 'result'>): Grid | undefined {
  const [file, ...others] = artifacts;
  if (file === undefined || others.length > 0 || result === undefined) return undefined;
  if (!file.mime.startsWith('image/') || (result.videoUrls ?? []).length > 0) return undefined;
  if (!offersFrames(result.buttons))
    return whole('frames.no-grid', 'Its task offers no U1 to U4, so it is not a grid of four.');
  const { width = 0, height = 0 } = file;
  const size = `${width} × ${height} pixels`;
  if (width < 2 || height < 2 || width % 2 !== 0 || height % 2 !== 0)
    return whole('frames.odd-size', `It has ${size}, which cannot be halved in both directions.`);
  if (width * height > maxGridPixels)
    return whole('frames.too-large', `It has ${size}; at most ${maxGridPixels} can be cut.`);
  return { ok: true, file };
}

const whole = (code: JobError['code'], message: string): Grid => ({ ok: false, error: { code, message } });

/** Whether there is a button for each of four images, by label or by customId (gateway 5.2): only a grid has them. */
const offersFrames = (buttons: readonly Button[]): boolean =>
  [1, 2, 3, 4].every((number) =>
    buttons.some(
      ({ label, customId }) => label.trim() === `U${number}` || customId.includes(`::upsample::${number}::`),
    ),
  );

/** Whether a grid has its file but no recorded cut. While its job is redone, its former frames remain. */
export const isUncut = (record: JobRecord): boolean =>
  record.frames === undefined && record.former === undefined && gridOf(record)?.ok === true;

/** Whether a finished grid was never asked for its seed. While its job is redone, it is asked for that of the new result. */
export const lacksSeed = ({ result, taskId, former }: JobRecord): boolean =>
  result !== undefined &&
  result.seed === undefined &&
  taskId !== undefined &&
  former === undefined &&
  offersFrames(result.buttons);

/** Returns why a finished image has no frames, or not those of the service; undefined if it has them, or may still get them. */
export function framesError(record: JobRecord): JobError | undefined {
  if (record.frames !== undefined) return record.frames.error;
  const grid = gridOf(record);
  return grid?.ok === false ? grid.error : undefined;
}

/** Whether a place makes grids, as far as its kind and the names of buttons show. */
export const isGrid = ({ kind, selector }: Pick<SlotTemplate, 'kind' | 'selector'>): boolean =>
  selector === undefined
    ? kinds[kind].makes === 'grid'
    : selector.alternatives.every((match) => stageAfter(nameOfButton(match), 'unknown') === 'grid');

/** Upper bound of the outputs of a job that a place names, as far as the file says: a grid that is cut has four. */
export const framesIn = (
  output: SlotTemplate['output'],
  place: Pick<SlotTemplate, 'split' | 'selector'>,
): number => (output === 'each' && place.split === true && mayBeGrid(place) ? 4 : 1);

/** False for a place that makes single images, as far as the names of buttons show. */
export const mayBeGrid = ({ selector }: Pick<SlotTemplate, 'selector'>): boolean =>
  selector === undefined ||
  selector.alternatives.some((match) => stageAfter(nameOfButton(match), 'unknown') !== 'single');
