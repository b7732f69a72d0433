import type { JobRecord } from '../plan/job.ts';
import { isTextRequest, type TextCandidate } from '../plan/job-request.ts';
import { describedText } from '../plan/resolve/reply.ts';
import type { Slot } from '../plan/slot.ts';
import type { RowOutput } from './row.ts';

/** The values of the text columns of one row. */
export interface TextFields {
  readonly text?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly blockReason?: string;
}

/**
 * Returns the text columns of one row. Each text has a row of its own; if no text was kept, the first one is on the slot's only row. A
 * reply that could not be used is shown too, because it was paid.
 */
export function textFields({ job, record }: Slot, artifact: RowOutput | undefined): TextFields {
  const request = record?.request ?? job?.request;
  const described = describedText(record?.result);
  if (described !== undefined) return artifact === undefined || isText(artifact) ? { text: described } : {};
  if (request === undefined || !isTextRequest(request)) return {};
  const result = record?.text;
  const { model: asked } = request.fields;
  // Before the first reply, only the requested model is known, not the one that answers.
  const model = result?.model ?? (typeof asked === 'string' ? asked : undefined);
  const candidate = result?.candidates[(artifact?.candidate ?? 1) - 1];
  const shown = { ...(model === undefined ? {} : { model }), ...reasons(candidate, result?.blockReason) };
  if (candidate === undefined || (artifact !== undefined && !isText(artifact))) return shown;
  return candidate.text === '' ? shown : { ...shown, text: candidate.text };
}

const reasons = (
  candidate: TextCandidate | undefined,
  blockReason: string | undefined,
): Pick<TextFields, 'finishReason' | 'blockReason'> => ({
  ...(candidate?.finishReason === undefined ? {} : { finishReason: candidate.finishReason }),
  ...(blockReason === undefined ? {} : { blockReason }),
});

const isText = ({ mime }: RowOutput): boolean => !mime.startsWith('image/');

/** Whether a job has cost or tokens, which its first row shows. */
export const hasAccount = ({ cost, usage, doubtful, assumed }: JobRecord): boolean =>
  cost !== undefined || usage !== undefined || doubtful !== undefined || assumed !== undefined;
