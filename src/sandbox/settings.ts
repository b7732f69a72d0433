import type { Fault } from './faults/fault.ts';

import type { TextMarks } from './text/compose/marks.ts';

/** How the sandbox behaves. All times are milliseconds. */
export interface SandboxSettings extends TextMarks {
  /** Factor on all task durations and text latencies: 0.1 is ten times quicker, 0 finishes everything at once. */
  readonly pace: number;
  /** How long a task works, by what it does and the speed of its path prefix (gateway 1.5), before `pace` and `spread`. */
  readonly durations: Readonly<Record<OperationClass, Readonly<Record<TaskSpeed, number>>>>;
  /** Share by which one task's duration may differ from the table, either way; drawn from the request, so it repeats. */
  readonly spread: number;
  /** Tasks that work at the same time (gateway 9.2); U1 to U4 do not count. */
  readonly concurrency: number;
  /** Tasks that may wait for one of those places; the next submission answers code 23. */
  readonly queue: number;
  /** Image submissions a minute before 429 with Retry-After; 0 is no limit. */
  readonly submitsPerMinute: number;
  /** Whether a working task already shows an imageUrl, of a blurred preview (gateway 4.7). */
  readonly previews: boolean;
  /**
   * How old a task's shown state may be: it is read every so often since submission, and before the first reading
   * the status is `""` and buttons is null (gateway 3.5). 0 shows the state as it is.
   */
  readonly refresh: number;
  /** What a click that opens a modal answers: 21 at once, or 1 so that only polling shows MODAL (gateway 4.6). */
  readonly modalCode: 1 | 21;
  /** Whether confirming a modal makes another task, or continues the one that waits (gateway 4.6). */
  readonly modalTask: 'new' | 'same';
  /** Whether the task of a confirmed modal still shows MODAL until the work is done (gateway 4.6). */
  readonly modalLinger: boolean;
  /** How long a modal waits; one that is answered later fails (gateway 4.6). 0 is for ever. */
  readonly modalLife: number;
  /** Whether the account has Remix; without it a click that asks for it is refused with code 4 (gateway 5.5). */
  readonly remix: boolean;
  /** Whether enableRemix is dropped on the way: no window opens, and the parent's prompt is worked with. */
  readonly ignoreRemix: boolean;
  /**
   * Whether the text of a response to a submission is rewritten: code 22 is 1, and so is 21 but for a click on Vary (Region)
   * or Custom Zoom (gateway 3.3).
   */
  readonly rewriteCodes: boolean;
  /**
   * Whether clicks are refused that a stock gateway has no name for: Animate, a video's U, what a describe offers, a
   * bookmark (gateway 3.5).
   */
  readonly stockButtons: boolean;
  /** Whether Custom Zoom's customId has a number in it (gateway 5.3). */
  readonly numberedZoom: boolean;
  /** Whether a single image has a ❤️, whose press answers with the image's own task (gateway 5.3). */
  readonly bookmarks: boolean;
  /** Whether a single image has Manual High and Low Motion, whose presses ask for a prompt (gateway 5.4). */
  readonly manualAnimate: boolean;
  /**
   * Where the links of a finished task stand (gateway 4.7): videos alone in a list of objects, or images and videos
   * in lists of objects or of texts, beside `imageUrl` and `videoUrl` or without them.
   */
  readonly linkLists: 'videos' | 'objects' | 'texts' | 'only-objects' | 'only-texts';
  /** Whether a list shows a task that a modal went on in a second time, as the window that it was (gateway 3.5). */
  readonly twoRows: boolean;
  /** Whether buttons is null, and not empty, until a task is done (gateway 4.2). */
  readonly nullButtons: boolean;
  /** Whether progress is also given in words, and is `100%` for a failed task (gateway 4.4). */
  readonly progressTexts: boolean;
  /**
   * How a body that is not right is refused on the image routes (gateway 3.3): the error envelope, or
   * `{description, type, code}`, both with status 400, or a submit response of code 4 with status 200.
   */
  readonly errorShape: 'envelope' | 'flat' | 'submit';
  /** The code of a queue that is full (gateway 3.2). */
  readonly queueFullCode: 9 | 23;
  /** Whether an imagine that was accepted before is answered with code 21 and that task (gateway 3.2). */
  readonly deduplicate: boolean;
  /** Whether accountFilter.modes chooses the speed where the path does not; gateways strip it (gateway 1.5). */
  readonly accountModes: boolean;
  /** Whether tasks can be listed (gateway 4.1); else those paths answer 404. */
  readonly listing: boolean;
  /** What a fetch of an unknown task answers (gateway 4.1): an error, 200 with an empty body, or 204. */
  readonly unknownTask: 'error' | 'empty' | 'no-content';
  /** Writes task ids as bare 17-digit numbers in submit responses (gateway 3.4). */
  readonly bareIds: boolean;
  /** How long an image link works after the fetch that gave it; then 403. 0 is for ever. */
  readonly linkLife: number;
  /** How long a customId works after its task finished; then fetch shows new ones and the old are refused. 0 is for ever. */
  readonly buttonLife: number;
  /** The model version of a prompt that names none. */
  readonly defaultVersion: string;
  /** A prompt with this mark is refused at submission with code 24. */
  readonly bannedMark: string;
  /** A prompt with this mark is accepted and its task fails with `[Banned prompt detected] …`. */
  readonly moderatedMark: string;
  /** A prompt with this mark fails once with `[Internal error] Something went wrong`; the next submission of it succeeds. */
  readonly brokenMark: string;
  /** A prompt with this mark is accepted and its task never finishes. */
  readonly stuckMark: string;
  /** A prompt with this mark is accepted and its task ends in CANCEL. */
  readonly cancelledMark: string;
  /** A prompt with this mark is accepted and its task takes {@link lateBy} longer. */
  readonly lateMark: string;
  /** Before `pace`. */
  readonly lateBy: number;
  /** `[fail:` of `[fail:queue-full]`: such a task fails with the reason of that name (gateway 4.8). */
  readonly failMark: string;
  /** Time before the first token of a text, before `pace`. */
  readonly textLatency: number;
  /** Time for each token that is written, thoughts included, before `pace`. */
  readonly tokenLatency: number;
  /**
   * Model ids that are not listed are answered too, as what their words say (`…-2.5-…` is of the earlier generation), so
   * that a pipeline for a real gateway can be rehearsed.
   */
  readonly anyModel: boolean;
  /** Side in pixels of a square grid and of an upscaled image; other shapes have the same area. */
  readonly pixels: number;
  /** Images drawn at the same time. */
  readonly drawers: number;
  /** Bytes of finished images kept in memory. */
  readonly imageCache: number;
  /** Largest request body in bytes; then 413. */
  readonly bodyLimit: number;
  /** Tasks kept without `state`; then the oldest finished ones are forgotten. */
  readonly taskLimit: number;
  /** Requests kept in the log. */
  readonly requestLog: number;
  readonly faults: readonly Fault[];
}

/** Times are those of gateway 9.3, scaled so that a demonstration of a hundred images ends within a minute. */
export const defaultSettings: SandboxSettings = {
  pace: 1,
  durations: {
    imagine: { relax: 2400, fast: 1200, turbo: 500 },
    variation: { relax: 2000, fast: 1000, turbo: 400 },
    upscale: { relax: 300, fast: 150, turbo: 80 },
    enlarge: { relax: 3200, fast: 1600, turbo: 700 },
    outpaint: { relax: 2400, fast: 1200, turbo: 500 },
    blend: { relax: 2400, fast: 1200, turbo: 500 },
    describe: { relax: 600, fast: 300, turbo: 150 },
    video: { relax: 5000, fast: 2500, turbo: 1200 },
    edit: { relax: 2400, fast: 1200, turbo: 500 },
  },
  spread: 0.3,
  concurrency: 12,
  queue: 100,
  submitsPerMinute: 0,
  previews: true,
  refresh: 0,
  modalCode: 21,
  modalTask: 'new',
  modalLinger: false,
  modalLife: 0,
  remix: true,
  ignoreRemix: false,
  rewriteCodes: false,
  stockButtons: false,
  numberedZoom: false,
  bookmarks: false,
  manualAnimate: false,
  linkLists: 'videos',
  twoRows: false,
  nullButtons: false,
  progressTexts: false,
  errorShape: 'envelope',
  queueFullCode: 23,
  deduplicate: false,
  accountModes: true,
  listing: true,
  unknownTask: 'error',
  bareIds: false,
  linkLife: 24 * 3_600_000,
  buttonLife: 0,
  defaultVersion: '7',
  bannedMark: '[banned]',
  moderatedMark: '[moderated]',
  brokenMark: '[broken]',
  stuckMark: '[stuck]',
  cancelledMark: '[cancelled]',
  lateMark: '[late]',
  lateBy: 3_600_000,
  failMark: '[fail:',
  textLatency: 200,
  tokenLatency: 1,
  anyModel: false,
  blockedMark: '[blocked]',
  unsafeMark: '[unsafe]',
  recitedMark: '[recited]',
  emptyMark: '[empty]',
  notJsonMark: '[not-json]',
  badCallMark: '[bad-call]',
  refusedMark: '[refused]',
  cutMark: '[cut]',
  streamErrorMark: '[stream-error]',
  pixels: 1024,
  drawers: 2,
  imageCache: 64 * 1024 * 1024,
  bodyLimit: 32 * 1024 * 1024,
  taskLimit: 20_000,
  requestLog: 2_000,
  faults: [],
};

/** The settings in force; a setting outside its range is a RangeError that names it. */
export function completeSettings(given: Partial<SandboxSettings> = {}): SandboxSettings {
  const settings = { ...defaultSettings, ...given };
  const check = (name: keyof SandboxSettings, low: number, high = Number.MAX_SAFE_INTEGER): void => {
    const value = settings[name] as number;
    if (!(value >= low && value <= high)) {
      throw new RangeError(`sandbox setting ${name}: expected a number from ${low} to ${high}, got ${value}`);
    }
  };
  check('pace', 0);
  check('spread', 0, 1);
  check('concurrency', 1);
  check('queue', 0);
  check('submitsPerMinute', 0);
  check('refresh', 0);
  check('linkLife', 0);
  check('buttonLife', 0);
  check('modalLife', 0);
  check('lateBy', 0);
  check('textLatency', 0);
  check('tokenLatency', 0);
  check('pixels', 64, 4096);
  check('drawers', 1, 64);
  check('imageCache', 0);
  check('bodyLimit', 1);
  check('taskLimit', 1);
  check('requestLog', 0);
  return settings;
}

/** The speeds (gateway 1.5): chosen by the path prefix, relax without one. */
export type TaskSpeed = 'relax' | 'fast' | 'turbo';

/** What decides how long a task works. `enlarge` is an upscale of a single image, `outpaint` zoom and pan. */
export type OperationClass =
  | 'imagine'
  | 'variation'
  | 'upscale'
  | 'enlarge'
  | 'outpaint'
  | 'blend'
  | 'describe'
  | 'video'
  | 'edit';
