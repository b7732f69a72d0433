import { isArtifactName } from '../../artifacts/store/names.ts';
import { type RowValues, rowValues, variableFields } from '../../manifest/columns.ts';
import type { ManifestRow } from '../../manifest/row.ts';
import { roundMoney } from '../../plan/estimate/price.ts';
import { knownCost } from '../../plan/job.ts';
import type { PageDetail, PageResult } from './wire.ts';

/** Settings that decide how results are shown. */
export interface Shown {
  /** Names of the matrix variables, in order. */
  readonly variables: readonly string[];
  /** Removes secrets that a service repeated. It is applied to each text before the text is cut. */
  readonly mask: (text: string) => string;
}

/** The part of a result that follows from its row alone, without lineage and advice. */
export interface ShownRow {
  readonly result: PageResult;
  readonly detail: Omit<PageDetail, 'lineage' | 'inputs' | 'children' | 'advice' | 'commands'>;
}

/** Number of characters of a text in the list of results. */
const listedText = 240;

/** Number of characters of a prompt or a variable in the list of results. */
const listedPrompt = 10_000;

/** Number of characters of a text in a detail; a model may reply with more than a page can show. */
const maxText = 1_000_000;
const cutMark = ' … (cut here)';

/** Converts a row of the manifest into the shape of the page. @param at index of the row, from 0 */
export function shownRow(row: ManifestRow, at: number, { variables, mask }: Shown): ShownRow {
  const values = rowValues(row);
  const { record } = row.slot;
  const masked = (value: RowValues[keyof RowValues]): string | undefined =>
    value === undefined ? undefined : mask(String(value));
  const text = masked(values.text);
  const prompt = masked(values.prompt);
  const file = row.artifact?.file;
  const cost = record && knownCost(record);
  return {
    result: defined<PageResult>({
      at,
      cell: row.cell.number,
      step: row.slot.step,
      branch: mask(String(values.branch ?? '')),
      output: row.artifact?.output,
      frame: row.frame,
      picked: masked(values.picked),
      status: row.slot.accepted ? 'accepted' : row.slot.status,
      kind: row.slot.kind,
      job: row.slot.job?.key,
      media: mediaOf(row.artifact?.mime, text),
      // The state may come from a stranger's repository, so the page links only to artifacts.
      file: file !== undefined && isArtifactName(file) ? file : undefined,
      width: row.artifact?.width,
      height: row.artifact?.height,
      prompt: prompt === undefined ? undefined : shortened(prompt, listedPrompt),
      text: text === undefined ? undefined : shortened(text, listedText),
      errorCode: masked(values.error_code),
      errorMessage: masked(values.error_message),
      vars: variableFields(row, variables).map((value) => shortened(mask(value), listedPrompt)),
      cost: numberOf(values.cost),
      finishedAt: record?.finishedAt,
      seconds: secondsOf(record),
    }),
    detail: defined<ShownRow['detail']>({
      at,
      prompt:
        prompt === undefined || prompt.length <= listedPrompt
          ? undefined
          : shortened(prompt, maxText, cutMark),
      text: text === undefined ? undefined : shortened(text, maxText, cutMark),
      model: masked(values.model),
      mime: row.artifact?.mime,
      bytes: row.artifact?.bytes,
      sha256: row.artifact?.sha256,
      button: masked(values.button),
      speed: record?.speed,
      taskId: masked(values.task_id),
      parentTaskId: masked(values.parent_task_id),
      imageUrl: masked(values.image_url),
      requestId: masked(values.request_id),
      finishReason: masked(values.finish_reason),
      blockReason: masked(values.block_reason),
      attempts: record?.attempts,
      cost: cost === undefined ? undefined : roundMoney(cost),
      tokens: record?.usage,
      submittedAt: record?.submittedAt,
    }),
  };
}

/** Returns the seconds between submission and end, rounded to tenths; undefined if one time is unknown. */
export function secondsOf(
  times: { readonly submittedAt?: number; readonly finishedAt?: number } | undefined,
): number | undefined {
  if (times?.submittedAt === undefined || times.finishedAt === undefined) return undefined;
  const seconds = (times.finishedAt - times.submittedAt) / 1000;
  // The clock was set back.
  return seconds < 0 ? undefined : Math.round(seconds * 10) / 10;
}

function mediaOf(mime: string | undefined, text: string | undefined): PageResult['media'] {
  if (mime === undefined) return text === undefined ? undefined : 'text';
  if (mime.startsWith('image/')) return 'image';
  if (mime.startsWith('video/')) return 'video';
  if (mime === 'application/json') return 'json';
  return mime.startsWith('text/') ? 'text' : 'other';
}

const numberOf = (value: RowValues[keyof RowValues]): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Removes the undefined members of an object. */
function defined<T extends object>(members: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  const result: Partial<Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) result[name] = value;
  return result as T;
}

/** Cuts a text without splitting a surrogate pair. @param mark put where the text was cut */
function shortened(text: string, most: number, mark = ''): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${mark}`;
}
