/** The meaning of a finish reason for its reply (gateway 6.5, 7.1). */
export type Finish =
  | 'plain'
  /** The reply was cut off at the token limit. */
  | 'length'
  | 'filtered'
  /** The model stopped for another reason; the next reply may be better. */
  | 'other'
  /** The model made an invalid function call; the next reply may be better. */
  | 'bad-call'
  /** The request asked for an image and the model made none. */
  | 'no-image'
  /** An unknown finish reason. */
  | 'unknown';

const plain = new Set([
  'STOP',
  'FINISH_REASON_UNSPECIFIED',
  'TOOL_CALLS',
  'FUNCTION_CALL',
  'END_TURN',
  'EOS',
  'EOS_TOKEN',
  'STOP_SEQUENCE',
  'COMPLETE',
]);
const length = new Set(['MAX_TOKENS', 'LENGTH', 'MODEL_LENGTH', 'MODEL_CONTEXT_WINDOW_EXCEEDED']);
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
  'SENSITIVE',
]);
/** Finish reasons that tell the user nothing to act on (gateway 6.5). */
const other = new Set(['OTHER', 'IMAGE_OTHER']);

/** Returns the meaning of a finish reason; undefined counts as a normal end (a stream without one was rejected, gateway 6.7). */
export function finishOf(reason: string | undefined): Finish {
  const name = reason?.toUpperCase() ?? 'STOP';
  if (name === '' || plain.has(name)) return 'plain';
  if (length.has(name)) return 'length';
  if (badCall.has(name)) return 'bad-call';
  if (other.has(name)) return 'other';
  if (name === 'NO_IMAGE') return 'no-image';
  return filtered.has(name) || name.startsWith('IMAGE_') ? 'filtered' : 'unknown';
}
