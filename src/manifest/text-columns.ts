import type { Artifact, JobRecord, TextCandidate, TokenUsage } from '../plan/job.ts';
import { isTextRequest } from '../plan/job-request.ts';
import type { Slot } from '../plan/slot.ts';

/** What the text columns of one row show. */
export interface TextFields {
  readonly text?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly blockReason?: string;
}

/**
 * The text columns of one row. A text stands on the row of its own file; where no file was kept, on the slot's only row. A
 * reply that could not be used is shown too, because it was paid.
 */
export function textFields({ job, record }: Slot, artifact: Artifact | undefined): TextFields {
  const request = record?.request ?? job?.request;
  if (request?.kind === 'describe') return describedText(record, artifact);
  if (request === undefined || !isTextRequest(request)) return {};
  const result = record?.text;
  const { model: asked } = request.fields;
  // Before the first reply the model that is asked is known, not the one that answers.
  const model = result?.model ?? (typeof asked === 'string' ? asked : undefined);
  const candidate = result?.candidates[(artifact?.candidate ?? 1) - 1];
  const shown = { ...(model === undefined ? {} : { model }), ...reasons(candidate, result?.blockReason) };
  if (candidate === undefined || (artifact !== undefined && !isText(artifact))) return shown;
  return candidate.text === '' ? shown : { ...shown, text: candidate.text };
}

/** What an image was described by: the prompts, joined by blank lines as in their file. */
function describedText(record: JobRecord | undefined, artifact: Artifact | undefined): TextFields {
  const prompts = record?.result?.prompts ?? [];
  if (prompts.length === 0 || (artifact !== undefined && !isText(artifact))) return {};
  return { text: prompts.join('\n\n') };
}

const reasons = (
  candidate: TextCandidate | undefined,
  blockReason: string | undefined,
): Pick<TextFields, 'finishReason' | 'blockReason'> => ({
  ...(candidate?.finishReason === undefined ? {} : { finishReason: candidate.finishReason }),
  ...(blockReason === undefined ? {} : { blockReason }),
});

const isText = ({ mime }: Artifact): boolean => !mime.startsWith('image/');

/** Something was counted: the job's first row shows it. */
export const hasAccount = ({ cost, usage, doubtful, assumed }: JobRecord): boolean =>
  cost !== undefined || usage !== undefined || doubtful !== undefined || assumed !== undefined;

/** Token counts in the manifest's order; a property name each, so that sums and columns cannot disagree. */
export const tokenColumns = {
  prompt_tokens: 'prompt',
  cached_tokens: 'cached',
  candidates_tokens: 'candidates',
  thoughts_tokens: 'thoughts',
  tool_tokens: 'tool',
  total_tokens: 'total',
} as const satisfies Record<string, keyof TokenUsage>;
