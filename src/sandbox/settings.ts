import { drawingThreads } from './draw/drawers.ts';
import type { Fault } from './faults/fault.ts';
import type { Quirk } from './quirks.ts';
import type { TextMarks } from './text/compose.ts';

/** The settings of a sandbox. All times are in milliseconds. */
export interface SandboxSettings extends TextMarks {
  /** Factor on all task durations and text latencies: 0.1 is ten times quicker, 0 finishes everything at once. */
  readonly pace: number;
  /** How long a task works, by its kind of work and its speed (gateway 1.5), before `pace` and `spread`. */
  readonly durations: Readonly<Record<OperationClass, Readonly<Record<TaskSpeed, number>>>>;
  /** Largest share by which a task's duration differs from `durations`, drawn from its request: equal requests take equally long. */
  readonly spread: number;
  /** Number of tasks that work at the same time (gateway 9.2); U1 to U4 do not count. */
  readonly concurrency: number;
  /** Number of tasks that may wait until others end; a further submission is refused with code 23. */
  readonly queue: number;
  /** Image submissions a minute; further ones are refused with 429 and Retry-After. 0: no limit. */
  readonly submitsPerMinute: number;
  /** Time between two copies of a task's state; before the first one, the status is `""` and buttons null (gateway 3.5). 0: current. */
  readonly refresh: number;
  /** Submit code of a click that opens a modal; with 1, only a fetch shows MODAL (gateway 4.6). */
  readonly modalCode: 1 | 21;
  /** Whether the answer to a modal makes a new task or continues the waiting one (gateway 4.6). */
  readonly modalTask: 'new' | 'same';
  /** How long a modal may be answered; a later answer makes its task fail (gateway 4.6). 0: for ever. */
  readonly modalLife: number;
  /**
   * The fields that hold the links of a finished task (gateway 4.7). `videos`: only `videoUrls` is a list, of objects; otherwise
   * `imageUrls` too, as `objects` or `texts`. `only-…`: without `imageUrl` and `videoUrl`.
   */
  readonly linkLists: 'videos' | 'objects' | 'texts' | 'only-objects' | 'only-texts';
  /**
   * Where the sandbox reads the key (gateway 1.4). `bearer`: as the contract and the family say; `header`: on image paths only in
   * `imageKeyHeader`, at the native text endpoint only in `keyHeader`; `raw`: on image paths in `Authorization` without Bearer;
   * `none`: no key is needed.
   */
  readonly auth: 'bearer' | 'header' | 'raw' | 'none';
  /** The ways in which the gateway differs from the contract. */
  readonly quirks: ReadonlySet<Quirk>;
  /**
   * How image routes refuse an invalid body (gateway 3.3). `envelope`: the error envelope, `flat`: `{description, type, code}`,
   * both with status 400; `submit`: a submit response with code 4 and status 200.
   */
  readonly errorShape: 'envelope' | 'flat' | 'submit';
  /** Submit code when the queue is full (gateway 3.2). */
  readonly queueFullCode: 9 | 23;
  /** The response to a fetch of an unknown task (gateway 4.1): an error, 200 with an empty body, or 204. */
  readonly unknownTask: 'error' | 'empty' | 'no-content';
  /** How long an image link works after the fetch that gave it; later it answers 403. 0: for ever. */
  readonly linkLife: number;
  /** How long a customId works; then a fetch shows new ones, and the old ones are refused. 0: for ever. */
  readonly buttonLife: number;
  /** The model version of a prompt without `--v`. */
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
  /** Additional duration of a task with {@link lateMark}, before `pace`. */
  readonly lateBy: number;
  /** The beginning of a mark such as `[fail:queue-full]`: its task fails for the reason of that name (gateway 4.8). */
  readonly failMark: string;
  /** Time until the first token of a text, before `pace`. */
  readonly textLatency: number;
  /** Time for each written token, thoughts included, before `pace`. */
  readonly tokenLatency: number;
  /**
   * Whether unlisted models answer too, so that a pipeline for a real gateway can be rehearsed. The words of the id decide their
   * abilities: `…-2.5-…` is an earlier generation.
   */
  readonly anyModel: boolean;
  /** Side in pixels of a square grid and of an upscaled image; other shapes have the same area. */
  readonly pixels: number;
  /** Number of threads that draw. */
  readonly drawers: number;
  /** Bytes of finished images kept in memory. */
  readonly imageCache: number;
  /** Largest request body in bytes; a larger one is refused with 413. */
  readonly bodyLimit: number;
  /** Largest number of tasks in memory, without `state`; beyond it the oldest finished tasks are forgotten. */
  readonly taskLimit: number;
  /** Number of requests that the log keeps. */
  readonly requestLog: number;
  readonly faults: readonly Fault[];
}

/** The times of gateway 9.3, shortened so that a demonstration of a hundred images ends within a minute. */
const durations = {
  imagine: { relax: 2400, fast: 1200, turbo: 500 },
  variation: { relax: 2000, fast: 1000, turbo: 400 },
  upscale: { relax: 300, fast: 150, turbo: 80 },
  /** An upscale of a single image. */
  enlarge: { relax: 3200, fast: 1600, turbo: 700 },
  /** Zooms and pans. */
  outpaint: { relax: 2400, fast: 1200, turbo: 500 },
  blend: { relax: 2400, fast: 1200, turbo: 500 },
  describe: { relax: 600, fast: 300, turbo: 150 },
  video: { relax: 5000, fast: 2500, turbo: 1200 },
  edit: { relax: 2400, fast: 1200, turbo: 500 },
};

export const defaultSettings: SandboxSettings = {
  pace: 1,
  durations,
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
  drawers: drawingThreads(),
  imageCache: 64 * 1024 * 1024,
  bodyLimit: 32 * 1024 * 1024,
  taskLimit: 20_000,
  requestLog: 2_000,
  faults: [],
};

/** The bounds of {@link SandboxSettings.pixels}. */
export const pixelSide = { least: 64, most: 4096 };

/** Completes the settings with their defaults. @throws RangeError that names a setting outside its range */
export function completeSettings(given: Partial<SandboxSettings> = {}): SandboxSettings {
  const settings = { ...defaultSettings, ...given };
  const check = (low: number, high: number, ...names: readonly (keyof SandboxSettings)[]): void => {
    for (const name of names) {
      const value = settings[name] as number;
      if (!(value >= low && value <= high))
        throw new RangeError(
          `sandbox setting ${name}: expected a number from ${low} to ${high}, got ${value}`,
        );
    }
  };
  const most = Number.MAX_SAFE_INTEGER;
  check(0, most, 'pace', 'queue', 'submitsPerMinute', 'refresh', 'linkLife', 'buttonLife', 'modalLife');
  check(0, most, 'lateBy', 'textLatency', 'tokenLatency', 'imageCache', 'requestLog');
  check(1, most, 'concurrency', 'bodyLimit', 'taskLimit');
  check(0, 1, 'spread');
  check(pixelSide.least, pixelSide.most, 'pixels');
  check(1, 64, 'drawers');
  return settings;
}

/** The speeds of tasks, chosen by the path prefix; without one, relax (gateway 1.5). */
export type TaskSpeed = 'relax' | 'fast' | 'turbo';

/** The kinds of work that differ in how long they take. */
export type OperationClass = keyof typeof durations;
