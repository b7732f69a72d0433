import { expect, it } from 'vitest';
import { type Finish, finishOf } from '../../../src/run/effects/finish-reason.ts';

it.each<[Finish, readonly (string | undefined)[]]>([
  [
    'plain',
    [
      undefined,
      '',
      'STOP',
      'stop',
      'FINISH_REASON_UNSPECIFIED',
      'tool_calls',
      'function_call',
      'end_turn',
      'eos',
      'eos_token',
      'stop_sequence',
    ],
  ],
  ['length', ['MAX_TOKENS', 'length', 'max_tokens']],
  [
    'bad-call',
    ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE'],
  ],
  ['no-image', ['NO_IMAGE', 'no_image']],
  [
    'filtered',
    [
      'SAFETY',
      'RECITATION',
      'LANGUAGE',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'content_filter',
      'MODEL_ARMOR',
      'JAILBREAK',
      'IMAGE_SAFETY',
      'image_recitation',
    ],
  ],
  ['other', ['OTHER', 'IMAGE_OTHER', 'other']],
  ['unknown', ['NEW_REASON', 'MY_IMAGE_', 'STOPPED']],
])('the end of a reply is %s, in any case of letters', (finish, reasons) => {
  expect(reasons.map((reason) => [reason, finishOf(reason)])).toEqual(
    reasons.map((reason) => [reason, finish]),
  );
});
