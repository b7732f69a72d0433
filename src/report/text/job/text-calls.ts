import type { Value } from '../../../pipeline/values/value.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { JobStory } from './job.ts';

/** What a text job's story has beyond that of an image job; empty for one. */
export function textStory({
  text,
  usage,
  turns,
  invalid,
}: JobRecord): Pick<JobStory, 'answer' | 'usage' | 'rounds' | 'unusable'> {
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
}: NonNullable<JobRecord['text']>): NonNullable<JobStory['answer']> {
  return {
    ...facts,
    candidates: candidates.map(({ text, finishReason }) => ({
      text,
      ...(finishReason === undefined ? {} : { finishReason }),
    })),
    ...(answerFile === undefined ? {} : { file: answerFile }),
  };
}

/** Names of the functions that a content of the model calls (service.md 2.8); none in the answers to them. */
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
