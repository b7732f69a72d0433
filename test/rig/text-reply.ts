import type { Artifact, JobRecord } from '../../src/plan/job.ts';
import { evaluateReply } from '../../src/run/effects/evaluate-reply.ts';
import type { CallResult } from '../../src/run/machine/job.ts';
import type { ReplyCandidate, TextReply } from '../../src/service/text-service.ts';

/** An answer of one candidate, to be changed by a test. */
export function textReply(
  candidate: Partial<ReplyCandidate> = {},
  reply: Partial<TextReply> = {},
): TextReply {
  const { text = '', images = [], functionCalls = [] } = candidate;
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...images.map((image) => ({ inlineData: image })),
    ...functionCalls.map((functionCall) => ({ functionCall })),
  ];
  return {
    candidates: [{ parts, text, images, functionCalls, finishReason: 'STOP', ...candidate }],
    usage: { prompt: 10, candidates: 5, total: 15 },
    whole: {},
    ...reply,
  };
}

/** What the effect makes of an answer, with files of which only the names are true. */
export function askedOf(record: JobRecord, reply: TextReply): CallResult {
  const { verdict, text, pieces } = evaluateReply(record, reply);
  const { key } = record;
  const artifacts = pieces.map((piece, index): Artifact => {
    const output = index + 1;
    const place = (folder: string, extension: string): string =>
      `${folder}/${key.slice(0, 2)}/${key}-${output}.${extension}`;
    const { candidate } = piece;
    return piece.kind === 'text'
      ? { output, file: place('text', 'txt'), bytes: 1, sha256: key, mime: piece.mime, candidate }
      : { output, file: place('images', 'png'), bytes: 1, sha256: key, mime: 'image/png', candidate };
  });
  return {
    kind: 'answered',
    asked: {
      verdict,
      text,
      artifacts: record.keep ? artifacts : [],
      ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    },
  };
}
