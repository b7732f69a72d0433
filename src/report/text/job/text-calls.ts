import { memberAt } from '../../../pipeline/values/path.ts';
import type { Value } from '../../../pipeline/values/value.ts';
import type { JobRecord, TokenUsage } from '../../../plan/job.ts';

/** The facts of the calls of a text job. */
export interface TextReport {
  /** Of a text job: the facts of its last reply, also where that reply failed the job. */
  readonly answer?: {
    /** The model version that answered. */
    readonly model?: string;
    readonly requestId?: string;
    readonly responseId?: string;
    readonly blockReason?: string;
    readonly candidates: readonly { readonly text: string; readonly finishReason?: string }[];
    /** The service's whole reply, relative to the run directory. */
    readonly file?: string;
  };
  /** Tokens of all replies that it was ever given. */
  readonly usage?: TokenUsage;
  /** Rounds of function calls that were answered, oldest first. */
  readonly rounds?: readonly { readonly calls: readonly string[] }[];
  /** Replies that came and could not be used. */
  readonly unusable?: number;
}

/** The part of a report that only a text job has; empty for an image job. */
export function textReport({ text, usage, turns, invalid }: JobRecord): TextReport {
  const rounds = (turns ?? []).flatMap((turn) => {
    const calls = callsIn(turn);
    return calls.length === 0 ? [] : [{ calls }];
  });
  return {
    ...(text === undefined ? {} : { answer: replyFactsOf(text) }),
    ...(usage === undefined ? {} : { usage }),
    ...(rounds.length === 0 ? {} : { rounds }),
    ...(invalid === undefined || invalid === 0 ? {} : { unusable: invalid }),
  };
}

function replyFactsOf({
  candidates,
  answerFile,
  ...facts
}: NonNullable<JobRecord['text']>): NonNullable<TextReport['answer']> {
  return {
    ...facts,
    candidates: candidates.map(({ text, finishReason }) => ({
      text,
      ...(finishReason === undefined ? {} : { finishReason }),
    })),
    ...(answerFile === undefined ? {} : { file: answerFile }),
  };
}

/** Names of the functions that a content of the model calls (gateway 6.5); none in the replies to them. */
function callsIn(turn: Value): readonly string[] {
  const parts = memberAt(turn, ['parts']);
  if (!Array.isArray(parts)) return [];
  return (parts as readonly Value[]).flatMap((part) => {
    const name = memberAt(part, ['functionCall', 'name']);
    return typeof name === 'string' ? [name] : [];
  });
}
