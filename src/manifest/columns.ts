import { type TokenCount, tokenCounts } from '../pipeline/kinds.ts';
import { formatBranch } from '../pipeline/selectors/parse.ts';
import { renderValue, type Value } from '../pipeline/values/value.ts';
import { roundMoney } from '../plan/estimate/price.ts';
import { type JobRecord, knownCost, type TaskResult } from '../plan/job.ts';
import type { ManifestRow, RowOutput } from './row.ts';
import { type TextFields, textFields } from './text-columns.ts';

type Field = string | number | undefined;

/** The parts of a row that its columns are made of. */
interface RowParts extends Pick<ManifestRow, 'cell' | 'slot'> {
  readonly picked: string | undefined;
  readonly artifact: RowOutput | undefined;
  readonly parentTaskId: string | undefined;
  readonly record: JobRecord | undefined;
  readonly texts: TextFields;
  /** Tokens and cost are in the first row of a job only. */
  readonly paid: JobRecord | undefined;
}

type Column = (row: RowParts) => Field;

const tokenColumns = Object.fromEntries(
  tokenCounts.map((name): [string, Column] => [`${name}_tokens`, ({ paid }) => paid?.usage?.[name]]),
) as Readonly<Record<`${TokenCount}_tokens`, Column>>;

/** The columns in their order, each with the way to its value: one look-up for each part, because a manifest may have millions of rows. */
const columns = {
  file_name: ({ artifact }) => artifact?.file,
  cell: ({ cell }) => cell.number,
  step: ({ slot }) => slot.step,
  branch: ({ slot }) => formatBranch(slot.branch),
  output: ({ artifact }) => artifact?.output,
  status: ({ slot }) => slot.status,
  kind: ({ slot }) => slot.kind,
  prompt: ({ slot }) => slot.prompt,
  text: ({ texts }) => texts.text,
  model: ({ texts }) => texts.model,
  image_url: ({ record, artifact }) => linkOf(record?.result, artifact),
  task_id: ({ record }) => record?.taskId,
  parent_task_id: ({ parentTaskId }) => parentTaskId,
  // Rerolls and pans have no label, only an emoji (gateway 5.1).
  button: ({ record }) => record?.pressed?.label || record?.pressed?.emoji,
  custom_id: ({ record }) => record?.pressed?.customId,
  speed: ({ record }) => record?.speed,
  width: ({ artifact }) => artifact?.width,
  height: ({ artifact }) => artifact?.height,
  bytes: ({ artifact }) => artifact?.bytes,
  mime: ({ artifact }) => artifact?.mime,
  sha256: ({ artifact }) => artifact?.sha256,
  finish_reason: ({ texts }) => texts.finishReason,
  block_reason: ({ texts }) => texts.blockReason,
  ...tokenColumns,
  cost: ({ paid }) => amount(paid && knownCost(paid)),
  attempts: ({ record }) => record?.attempts,
  submitted_at: ({ record }) => time(record?.submittedAt),
  finished_at: ({ record }) => time(record?.finishedAt),
  error_code: ({ slot }) => slot.error?.code,
  error_message: ({ slot }) => slot.error?.message,
  // A blocked slot shows why it is blocked, but made no request of its own.
  request_id: ({ record }) => record?.error?.requestId ?? record?.text?.requestId,
  job: ({ slot }) => slot.job?.key,
  accepted: ({ slot }) => slot.accepted && 'true',
  reused_from: ({ record }) => record?.reusedFrom,
  seed: ({ record }) => record?.result?.seed,
  picked: ({ picked }) => picked,
} satisfies Readonly<Record<string, Column>>;

export type ManifestColumn = keyof typeof columns;

/** The columns of `manifest.csv` in order; `var.<name>` of each matrix variable follow. */
export const manifestColumns = Object.keys(columns) as readonly ManifestColumn[];

const fieldsOf: readonly Column[] = Object.values(columns);

/** Returns the header of a plan's manifest. `variables` as in the plan's matrix, in its order. */
export const manifestHeader = (variables: readonly string[]): readonly string[] => [
  ...manifestColumns,
  ...variables.map((name) => `var.${name}`),
];

/** Returns a row as text, one field per column of {@link manifestHeader}. An unknown value is empty, never 0. */
export function rowFields(row: ManifestRow, variables: readonly string[]): readonly string[] {
  const parts = partsOf(row);
  const fields = fieldsOf.map((field) => text(field(parts)));
  for (const name of variables) fields.push(variable(row.cell.vars[name]));
  return fields;
}

/** Returns the values of a row's variables, as text. */
export const variableFields = (
  { cell }: Pick<ManifestRow, 'cell'>,
  variables: readonly string[],
): readonly string[] => variables.map((name) => variable(cell.vars[name]));

/** The values of a row's columns before they become text; undefined: not known. */
export type RowValues = Readonly<Record<ManifestColumn, Field>>;

/** Returns the values of a row's columns, without its variables. */
export function rowValues(row: ManifestRow): RowValues {
  const parts = partsOf(row);
  return Object.fromEntries(manifestColumns.map((name) => [name, columns[name](parts)])) as RowValues;
}

function partsOf({ cell, slot, artifact, parentTaskId, firstOfJob, picked }: ManifestRow): RowParts {
  const { record } = slot;
  const texts = textFields(slot, artifact);
  return { cell, slot, artifact, parentTaskId, picked, record, texts, paid: firstOfJob ? record : undefined };
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
const maxSeconds = 64;

function time(unixMs: number | undefined): string | undefined {
  if (unixMs === undefined) return undefined;
  const unix = Math.floor(unixMs / 1000);
  let text = seconds.get(unix);
  if (text === undefined) {
    text = new Date(unixMs).toISOString().slice(0, -'123Z'.length);
    if (seconds.size >= maxSeconds) seconds.clear();
    seconds.set(unix, text);
  }
  return `${text}${String(Math.trunc(unixMs - unix * 1000)).padStart(3, '0')}Z`;
}

const amount = (cost: number | undefined): number | undefined =>
  cost === undefined ? undefined : roundMoney(cost);
