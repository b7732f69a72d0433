import { formatBranch } from '../pipeline/selectors/parse.ts';
import { renderValue, type Value } from '../pipeline/values/value.ts';
import { roundMoney } from '../plan/estimate/price.ts';
import { knownCost, type TaskResult } from '../plan/job.ts';
import type { ManifestRow, RowOutput } from './row.ts';
import { textFields, tokenColumns, tokenFields } from './text-columns.ts';

/** The columns of `manifest.csv` in order; `var.<name>` of each matrix variable follow. */
export const manifestColumns = [
  'file_name',
  'cell',
  'step',
  'branch',
  'output',
  'status',
  'kind',
  'prompt',
  'text',
  'model',
  'image_url',
  'task_id',
  'parent_task_id',
  'button',
  'custom_id',
  'speed',
  'width',
  'height',
  'bytes',
  'mime',
  'sha256',
  'finish_reason',
  'block_reason',
  ...tokenColumns,
  'cost',
  'attempts',
  'submitted_at',
  'finished_at',
  'error_code',
  'error_message',
  'request_id',
  'job',
] as const;

export type ManifestColumn = (typeof manifestColumns)[number];

/** Returns the header of a plan's manifest. `variables` as in the plan's matrix, in its order. */
export const manifestHeader = (variables: readonly string[]): readonly string[] => [
  ...manifestColumns,
  ...variables.map((name) => `var.${name}`),
];

/** Returns a row as text, one field per column of {@link manifestHeader}. An unknown value is empty, never 0. */
export function rowFields(row: ManifestRow, variables: readonly string[]): readonly string[] {
  const named = rowValues(row);
  const fields = manifestColumns.map((column) => text(named[column]));
  fields.push(...variableFields(row, variables));
  return fields;
}

/** Returns the values of a row's variables, as text. */
export const variableFields = (
  { cell }: Pick<ManifestRow, 'cell'>,
  variables: readonly string[],
): readonly string[] => variables.map((name) => variable(cell.vars[name]));

type Field = string | number | undefined;

/** The values of a row's columns before they become text; absent or undefined: not known. */
export type RowValues = Readonly<Partial<Record<ManifestColumn, Field>>>;

/** Returns the values of a row's columns, without its variables. */
export function rowValues({ cell, slot, artifact, firstOfJob, parentTaskId }: ManifestRow): RowValues {
  const { record } = slot;
  const { text, model, finishReason, blockReason } = textFields(slot, artifact);
  const values: RowValues = {
    file_name: artifact?.file,
    cell: cell.number,
    step: slot.step,
    branch: formatBranch(slot.branch),
    output: artifact?.output,
    status: slot.status,
    kind: slot.kind,
    prompt: slot.prompt,
    text,
    model,
    image_url: linkOf(record?.result, artifact),
    task_id: record?.taskId,
    parent_task_id: parentTaskId,
    // Rerolls and pans have no label, only an emoji (gateway 5.1).
    button: record?.pressed?.label || record?.pressed?.emoji,
    custom_id: record?.pressed?.customId,
    speed: record?.speed,
    width: artifact?.width,
    height: artifact?.height,
    bytes: artifact?.bytes,
    mime: artifact?.mime,
    sha256: artifact?.sha256,
    finish_reason: finishReason,
    block_reason: blockReason,
    cost: firstOfJob ? amount(record && knownCost(record)) : undefined,
    attempts: record?.attempts,
    submitted_at: time(record?.submittedAt),
    finished_at: time(record?.finishedAt),
    error_code: slot.error?.code,
    error_message: slot.error?.message,
    // A blocked slot shows why it is blocked, but made no request of its own.
    request_id: record?.error?.requestId ?? record?.text?.requestId,
    job: slot.job?.key,
  };
  // Returned separately: a spread inside such a large literal makes all later code slow.
  return firstOfJob && record?.usage !== undefined ? { ...values, ...tokenFields(record.usage) } : values;
}

/** Returns the link of a row's file; a job of several files has one for each of them (`TaskResult`). */
function linkOf(result: TaskResult | undefined, artifact: RowOutput | undefined): string | undefined {
  const { output = 1 } = artifact ?? {};
  const links = result?.videoUrls ?? result?.imageUrls;
  return links?.[output - 1] ?? result?.frameUrls?.[output - 2] ?? result?.imageUrl;
}

const text = (field: Field): string => (field === undefined ? '' : String(field));

const variable = (value: Value | undefined): string => (value === undefined ? '' : renderValue(value));

/** Cache of seconds as text. Most rows have the same seconds as their neighbours. */
const seconds = new Map<number, string>();
const mostSeconds = 64;

function time(unixMs: number | undefined): string | undefined {
  if (unixMs === undefined) return undefined;
  const unix = Math.floor(unixMs / 1000);
  let text = seconds.get(unix);
  if (text === undefined) {
    text = new Date(unixMs).toISOString().slice(0, -'123Z'.length);
    if (seconds.size >= mostSeconds) seconds.clear();
    seconds.set(unix, text);
  }
  return `${text}${String(Math.trunc(unixMs - unix * 1000)).padStart(3, '0')}Z`;
}

const amount = (cost: number | undefined): number | undefined =>
  cost === undefined ? undefined : roundMoney(cost);
