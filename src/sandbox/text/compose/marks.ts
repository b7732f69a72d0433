/** Words in a prompt that ask for a certain behaviour; each is a setting, an empty one is off. */
export interface TextMarks {
  /** The prompt is blocked: no candidates (gateway 6.6). */
  readonly blockedMark: string;
  /** Ends with SAFETY and without parts, unless every safety setting is BLOCK_NONE or OFF. */
  readonly unsafeMark: string;
  /** Ends with RECITATION and without parts. */
  readonly recitedMark: string;
  /** Ends with STOP and without parts. */
  readonly emptyMark: string;
  /** JSON that was asked for is broken. */
  readonly notJsonMark: string;
  /** Ends with MALFORMED_FUNCTION_CALL where functions are declared. */
  readonly badCallMark: string;
  /** A chat reply is a refusal (gateway 7.1). */
  readonly refusedMark: string;
  /** The stream of it ends in its middle, without a finishReason; the same request then succeeds. */
  readonly cutMark: string;
  /** The stream of it has an error in its middle (503 UNAVAILABLE); the same request then succeeds. */
  readonly streamErrorMark: string;
}

/** Whether a text carries a mark. */
export const isMarked = (text: string, mark: string): boolean => mark !== '' && text.includes(mark);

/** The text without any mark, so that answers do not repeat them. */
export function withoutMarks(text: string, marks: TextMarks): string {
  const all = [
    marks.blockedMark,
    marks.unsafeMark,
    marks.recitedMark,
    marks.emptyMark,
    marks.notJsonMark,
    marks.badCallMark,
    marks.refusedMark,
    marks.cutMark,
    marks.streamErrorMark,
  ];
  let left = text;
  for (const mark of all) if (mark !== '') left = left.replaceAll(mark, '');
  return left;
}
