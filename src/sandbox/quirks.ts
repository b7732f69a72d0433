/** The differences of gateways from the contract that are on or off, with their help texts. */
export const quirkWords = {
  /** Gateway 4.6. */
  'modal-linger': 'a task that got its modal shows MODAL until the work is done',
  /** Refused with code 4 (gateway 5.5). */
  'no-remix': 'the account has no remix: clicks that ask for it are refused',
  'ignore-remix': 'remix is dropped on the way: no modal opens, and the earlier prompt is used',
  /** Gateway 3.3. */
  'rewrite-codes': 'code 1 is sent in place of 22, and of 21 except for Vary (Region) and Custom Zoom',
  /** Gateway 3.5. */
  'stock-buttons':
    'clicks that stock gateways do not know (Animate, the U of a video, the prompts of a describe or a shorten, a bookmark) answer 400 unknown_action',
  /** Gateway 5.3. */
  'numbered-zoom': 'the customId of Custom Zoom has a number in it: CustomZoom::1::…',
  /** Gateway 5.3. */
  bookmarks: 'a single image has a ❤️, which answers with the task that it is pressed on',
  /** Gateway 5.4. */
  'manual-animate': 'a single image has Manual High and Low Motion, which ask for a prompt',
  /** Without it, a working task has the link of a blurred preview (gateway 4.7). */
  'no-previews': 'a task that works shows no image yet',
  /** Gateway 4.2. */
  'state-words': 'states are in other words: success, FAILED, CANCELED, QUEUED',
  /** Gateway 3.4. */
  'shared-ids':
    'every fifth task that is made within a second of the one before gets its id, and takes its place',
  /** Gateway 4.7. */
  'no-grids': 'a task of four images shows each by itself: imageUrl is null, and imageUrls has four links',
  /** Gateway 4.2. */
  'null-buttons': 'buttons is null, and not empty, until a task is done',
  /** Gateway 4.4. */
  'progress-texts': 'progress is also given in words, and is 100% for a task that failed',
  /** Gateway 3.4. */
  'bare-ids': 'task ids are 17-digit numbers without quotes',
  /** Gateway 3.2. */
  deduplicate: 'an imagine that exists already is answered with code 21 and that task',
  /** Gateway 1.5. */
  'no-account-modes': 'accountFilter is ignored: its modes choose no speed',
  /** Lists answer 404 (gateway 4.1). */
  'no-listing': 'tasks cannot be listed',
  /** Gateway 4.1. */
  'no-seeds': 'no task tells its seed',
  /** Gateway 3.5. */
  'two-rows': 'lists show a task that its modal continued (--modal-task same) twice: as it is, and in MODAL',
  /** Gateway 1.4. */
  'mute-refusals': 'a key that is not taken is answered 403 without a word',
  /** Gateway 1.5. */
  'no-prefixes': 'there are no paths with a prefix for the speed: 404',
  /** Gateway 2.4. */
  'no-buttons':
    'tasks show no buttons; clicks go by submit/change alone: action, modal, video, edits, cancel and list-by-condition are 404',
  /** Gateway 7.1. */
  'no-finish-reason': 'chat gives no finish reason; a stream of it ends with [DONE] alone',
  /** Gateway 6.2. */
  'loose-json': 'JSON comes behind thinking, in a sentence and with a comma too many',
  /** Gateway 7.1. */
  'total-tokens': 'texts count a total of tokens, and none of its parts',
  /** Gateway 6.6. */
  'no-candidates':
    'a blocked prompt is a 500 "no candidates", and in a chat stream an answer without choices',
  /** Gateway 6.7. */
  'bare-errors':
    'what fails inside a stream of text says so without an envelope: on a bare line, or in a choice of chat',
  /** Gateway 6.5. */
  'snake-case': 'native texts have their members in snake case, and numbers for finish reasons',
} as const;

/** A difference from the contract that is on or off. */
export type Quirk = keyof typeof quirkWords;

export const quirkNames = Object.keys(quirkWords) as readonly Quirk[];
