import type { TextPiece } from '../artifacts/writer.ts';
import { isMapping, type Value } from '../pipeline/values/value.ts';
import type { TextCandidate, TextResult } from '../plan/job.ts';

/**
 * The files of a finished answer without images, as they would have been written when it came. Its record has all that
 * stands in them.
 */
export const textsOf = ({ candidates }: TextResult): readonly TextPiece[] =>
  candidates.flatMap((candidate, index): readonly TextPiece[] =>
    candidate.text.trim() === ''
      ? []
      : [
          {
            kind: 'text',
            candidate: index + 1,
            text: candidate.text,
            mime: candidate.isJson || onlyCalls(candidate) ? 'application/json' : 'text/plain',
          },
        ],
  );

/** Its text is then that of the calls, which is JSON. */
const onlyCalls = ({ parts }: TextCandidate): boolean =>
  parts.some((part) => isMapping(part) && isMapping(part['functionCall'])) && !parts.some(isSaid);

const isSaid = (part: Value): boolean =>
  isMapping(part) &&
  part['thought'] !== true &&
  typeof part['text'] === 'string' &&
  part['text'].trim() !== '';
