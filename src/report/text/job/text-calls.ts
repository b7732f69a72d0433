import type { Value } from '../../../pipeline/values/value.ts';
import type { JobRecord, TokenUsage } from '../../../plan/job.ts';

/** What is known of the calls of a text job. */
export interface TextStory {
  /** Of a text job: what its last answer came to, also where the job failed for it. */
  readonly answer?: {
    /** The model version that answered. */
    readonly model?: string;
    readonly requestId?: string;
    readonly responseId?: string;
    readonly blockReason?: string;
    readonly candidates: readonly { readonly text: string; readonly finishReason?: string }[];
    /** The service's whole answer, relative to the run directory. */
    readonly file?: string;
  };
  /** Tokens of all answers that it was ever given. */
  readonly usage?: TokenUsage;
  /** Rounds of function calls that were answered, oldest first. */
  readonly rounds?: readonly { readonly calls: readonly string[] }[];
  /** Answers that came and could not be used. */
  readonly unusable?: number;
}

/** What a text job's story has beyond that of an image job; empty for one. */
export function textStory({ text, usage, turns, invalid }: JobRecord): TextStory {
  const rounds = (turns ?? []).flatMap((turn) => {
    const calls = callsIn(turn);
    return calls.length === 0 ? [] : [{ calls }];
  });
  return {
    ...(text === undefined ? {} : { answer: answerOf(text) }),
    ...(usage === undefined ? {} : { usage }),
    ...(rounds.length === 0 ? {} : { rounds }),
    ...(invalid === undefined || invalid === 0 ? {} : { unusable: invalid }),
  };
}

function answerOf({
  candidates,
  answerFile,
  ...facts
}: NonNullable<JobRecord['text']>): NonNullable<TextStory['answer']> {
  return {
    ...facts,
    candidates: candidates.map(({ text, finishReason }) => ({
      text,
      ...(finishReason === undefined ? {} : { finishReason }),
    })),
    ...(answerFile === undefined ? {} : { file: answerFile }),
  };
}

/** Names of the functions that a content of the model calls (gateway 6.5); none in the answers to them. */
function callsIn(turn: Value): readonly string[] {
  const parts = member(turn, 'parts');
  if (!Array.isArray(parts)) return [];
  return (parts as readonly Value[]).flatMap((part) => {
    const call = member(part, 'functionCall');
    const name = call === undefined ? undefined : member(call, 'name');
    return typeof name === 'string' ? [name] : [];
  });
}

const member = (value: Value, name: string): Value | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Value>>)[name]
    : undefined;
