import type { Fault } from './faults/fault.ts';
import type { Quirk } from './quirks.ts';
import type { TextMarks } from './text/compose.ts';

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
  /**
   * How old a task's shown state may be: it is read every so often since submission, and before the first reading
   * the status is `""` and buttons is null (gateway 3.5). 0 shows the state as it is.
   */
  readonly refresh: number;
  /** What a click that opens a modal answers: 21 at once, or 1 so that only polling shows MODAL (gateway 4.6). */
  readonly modalCode: 1 | 21;
  /** Whether confirming a modal makes another task, or continues the one that waits (gateway 4.6). */
  readonly modalTask: 'new' | 'same';
  /** How long a modal waits; one that is answered later fails (gateway 4.6). 0 is for ever. */
  readonly modalLife: number;
  /**
   * Where the links of a finished task stand (gateway 4.7): videos alone in a list of objects, or images and videos
   * in lists of objects or of texts, beside `imageUrl` and `videoUrl` or without them.
   */
  readonly linkLists: 'videos' | 'objects' | 'texts' | 'only-objects' | 'only-texts';
  /**
   * Where requests must have the key (gateway 1.4). `bearer`: as the contract and the family say; `header`: on image paths in
   * `imageKeyHeader` alone, at the native text endpoint in `keyHeader` alone; `raw`: on image paths as `Authorization`
   * without Bearer; `none`: nowhere.
   */
  readonly auth: 'bearer' | 'header' | 'raw' | 'none';
  /** What the gateway does beyond the contract, or leaves out. */
  readonly quirks: ReadonlySet<Quirk>;
  /**
   * How a body that is not right is refused on the image routes (gateway 3.3): the error envelope, or
   * `{description, type, code}`, both with status 400, or a submit response of code 4 with status 200.
   */
  readonly errorShape: 'envelope' | 'flat' | 'submit';
  /** The code of a queue that is full (gateway 3.2). */
  readonly queueFullCode: 9 | 23;
  /** What a fetch of an unknown task answers (gateway 4.1): an error, 200 with an empty body, or 204. */
  readonly unknownTask: 'error' | 'empty' | 'no-content';
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
  refresh: 0,
  modalCode: 21,
  modalTask: 'new',
  modalLife: 0,
  linkLists: 'videos',
  auth: 'bearer',
  quirks: new Set(),
  errorShape: 'envelope',
  queueFullCode: 23,
  unknownTask: 'error',
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
    if (!(value >= low && value <= high))
      throw new RangeError(`sandbox setting ${name}: expected a number from ${low} to ${high}, got ${value}`);
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
