import { memberAt } from '../../../pipeline/values/path.ts';
import type { Value } from '../../../pipeline/values/value.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { ReplyPlace } from '../../../plan/job-request.ts';
import { segmentPath } from '../../../state/files/segment-files.ts';
import type { JsonOutputs, ReplyLine } from '../../facts/json-outputs.generated.ts';

const lineOf = ({ segment, ...line }: ReplyPlace): ReplyLine => ({ file: segmentPath(segment), ...line });

/** The facts of the calls of a text job. */
export type TextReport = Pick<JsonOutputs['show'], 'answer' | 'usage' | 'rounds' | 'unusable'>;

/** The part of a report that only a text job has; empty for an image job. */
export function textReport({ text, usage, turns, rounds: places = [], invalid }: JobRecord): TextReport {
  const called = (turns ?? []).map(callsIn).filter((calls) => calls.length > 0);
  // Where some of them were not kept, nobody knows which.
  const areAllKept = places.length === called.length;
  const rounds = called.map((calls, index) => {
    const place = areAllKept ? places[index] : undefined;
    return { calls, ...(place === undefined ? {} : { reply: lineOf(place) }) };
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
  reply,
  ...facts
}: NonNullable<JobRecord['text']>): NonNullable<TextReport['answer']> {
  return {
    ...facts,
    candidates: candidates.map(({ text, finishReason, read }) => ({
      text,
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(read === undefined ? {} : { passedOver: read.passed }),
    })),
    ...(reply === undefined ? {} : { reply: lineOf(reply) }),
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
