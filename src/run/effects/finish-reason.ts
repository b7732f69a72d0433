/** What a finish reason says about the answer it ends (gateway 6.5, 7.1). */
export type Finish =
  | 'plain'
  /** Cut off: the most tokens of an answer. */
  | 'length'
  | 'filtered'
  /** The model made a call that is none; the next answer may be better. */
  | 'bad-call'
  /** An image was wanted and none was made. */
  | 'no-image'
  /** Nobody here knows it. */
  | 'unknown';

const plain = new Set([
  'STOP',
  'FINISH_REASON_UNSPECIFIED',
  'TOOL_CALLS',
  'FUNCTION_CALL',
  'END_TURN',
  'EOS',
]);
const length = new Set(['MAX_TOKENS', 'LENGTH']);
const badCall = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);
const filtered = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'CONTENT_FILTER',
  'MODEL_ARMOR',
  'JAILBREAK',
]);

/** An answer that names no reason ended plainly: a stream without one never gets here (gateway 6.7). */
export function finishOf(reason: string | undefined): Finish {
  const name = reason?.toUpperCase() ?? 'STOP';
  if (name === '' || plain.has(name)) return 'plain';
  if (length.has(name)) return 'length';
  if (badCall.has(name)) return 'bad-call';
  if (name === 'NO_IMAGE') return 'no-image';
  return filtered.has(name) || name.startsWith('IMAGE_') ? 'filtered' : 'unknown';
}
