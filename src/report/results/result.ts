import { isArtifactName } from '../../artifacts/store/names.ts';
import { type RowValues, rowValues, variableFields } from '../../manifest/columns.ts';
import type { ManifestRow } from '../../manifest/row.ts';
import { roundMoney } from '../../plan/estimate/price.ts';
import { knownCost } from '../../plan/job.ts';
import type { PageDetail, PageResult } from './wire.ts';

/** How results are shown. */
export interface Shown {
  /** Of the plan's matrix, in its order. */
  readonly variables: readonly string[];
  /** Takes secrets out that a service repeated; applied to each text by itself, before any is cut. */
  readonly mask: (text: string) => string;
}

/** What is known of a row by itself: without what it comes from and leads to, and what to do about it. */
export interface ShownRow {
  readonly result: PageResult;
  readonly detail: Omit<PageDetail, 'lineage' | 'inputs' | 'children' | 'advice' | 'commands'>;
}

/** Characters of a text that stand in the list of results. */
const listedText = 240;

/** Characters of a prompt and of a variable in that list. */
const listedPrompt = 10_000;

/** Characters of a text that a detail has: a model may answer with more than a page can show. */
const mostText = 1_000_000;
const cutMark = ' … (cut here)';

/** A row of the manifest as the page shows it, with the values of the manifest's columns. @param at its place, from 0 */
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
      status: row.slot.status,
      kind: row.slot.kind,
      job: row.slot.job?.key,
      media: mediaOf(row.artifact?.mime, text),
      // The state may have come with a repository: the page leads to artifacts alone.
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
          : shortened(prompt, mostText, cutMark),
      text: text === undefined ? undefined : shortened(text, mostText, cutMark),
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

/** Whole seconds, or parts of them where there are few, between the submission and the end; undefined where one of them is not known. */
export function secondsOf(
  times: { readonly submittedAt?: number; readonly finishedAt?: number } | undefined,
): number | undefined {
  if (times?.submittedAt === undefined || times.finishedAt === undefined) return undefined;
  const seconds = (times.finishedAt - times.submittedAt) / 1000;
  // A clock that was set back tells nothing.
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

/** An object without the members that are undefined. */
function defined<T extends object>(members: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  const result: Partial<Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) result[name] = value;
  return result as T;
}

/** The beginning of a text, never with half of a character in two code units at its end. @param mark stands where something was cut off */
function shortened(text: string, most: number, mark = ''): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${mark}`;
}
