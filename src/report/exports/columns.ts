import type { ManifestColumn } from '../../manifest/columns.ts';
import { manifestColumns } from '../../manifest/columns.ts';
import type { VariableKind } from './variable-kinds.ts';

/** Type of the values in a column of a data set. */
export type ColumnKind = 'text' | VariableKind | 'time';

/** A typed column of a data set. Names and order are those of the manifest. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Description of the column for the card of the data set. */
  readonly about: string;
}

const about = {
  file_name: ['text', 'the file, relative to this table'],
  cell: ['integer', 'number of the combination of variables, from 1'],
  step: ['text', 'step of the pipeline'],
  branch: ['text', 'buttons that led here, in order'],
  output: ['integer', 'number of the file or text within its job'],
  status: ['text', 'what became of the planned result'],
  kind: ['text', 'kind of the step'],
  prompt: ['text', 'prompt, exactly as it was sent'],
  text: ['text', 'text that a model wrote, or the caption'],
  model: ['text', 'text model'],
  image_url: ['text', 'link that the file came from; it may have expired'],
  task_id: ['text', 'id of the task on the service'],
  parent_task_id: ['text', 'id of the task whose button was pressed'],
  button: ['text', 'button that was pressed'],
  custom_id: ['text', "the service's id of that button"],
  speed: ['text', 'speed of the service'],
  width: ['integer', 'pixels'],
  height: ['integer', 'pixels'],
  bytes: ['integer', 'size of the file or text'],
  mime: ['text', 'media type'],
  sha256: ['text', 'SHA-256 of the file or text, in hexadecimal'],
  finish_reason: ['text', 'why the model stopped'],
  block_reason: ['text', 'why the service refused the prompt'],
  prompt_tokens: ['integer', 'tokens of the request'],
  cached_tokens: ['integer', 'of these, from a cache'],
  candidates_tokens: ['integer', 'tokens of the answer'],
  thoughts_tokens: ['integer', 'tokens that the model thought with'],
  tool_tokens: ['integer', 'tokens of tools'],
  other_tokens: ['integer', 'tokens that only the total counts'],
  total_tokens: ['integer', 'all tokens'],
  cost: ['number', 'price of the job, on its first row'],
  attempts: ['integer', 'submissions'],
  submitted_at: ['time', 'when the job was submitted, UTC'],
  finished_at: ['time', 'when the job ended, UTC'],
  error_code: ['text', 'why there is no result'],
  error_message: ['text', "why there is no result, in the service's words"],
  request_id: ['text', "the service's id of the request"],
  job: ['text', 'key of the job: a hash of all that determines the result'],
  accepted: ['boolean', 'true for a failure that the pipeline accepts, and for what it blocks'],
  reused_from: ['text', 'run directory that the result was taken over from, and paid in'],
  seed: ['text', 'seed of the grid, as the service told it'],
  picked: ['text', 'what a step that picks took it as: the name of the step and its place, best/1'],
} as const satisfies Record<ManifestColumn, readonly [ColumnKind, string]>;

/**
 * Returns the columns of a data set: those of the manifest, then one for each variable.
 *
 * @param variables of the matrix, in its order, each with the kind of its values
 */
export function columnsOf(
  variables: readonly (readonly [string, VariableKind | 'text'])[],
): readonly Column[] {
  return [
    ...manifestColumns.map((name): Column => ({ name, kind: about[name][0], about: about[name][1] })),
    ...variables.map(
      ([name, kind]): Column => ({ name: `var.${name}`, kind, about: `variable ${name} of the matrix` }),
    ),
  ];
}

/** A value in a data set. Unknown values are null, never 0; times are Unix ms. */
export type Datum = string | number | boolean | null | { readonly json: string };

/**
 * Converts a field of the manifest into a typed value.
 *
 * @param field text of the field in the manifest
 */
export function datumOf(field: string, kind: ColumnKind): Datum {
  if (field === '') return null;
  switch (kind) {
    case 'integer':
    case 'number':
      return Number(field);
    case 'boolean':
      return field === 'true';
    case 'time':
      return Date.parse(field);
    case 'json':
      return { json: field };
    case 'text':
      return field;
  }
}
