import { usageError } from '../../app/errors/cli-error.ts';
import { revaluing } from '../../app/errors/correction.ts';
import { sandboxNames } from '../../app/service/sandbox.ts';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import type { Fault } from '../../sandbox/faults/fault.ts';
import { parseFault } from '../../sandbox/faults/parse.ts';
import type { SandboxNames } from '../../sandbox/names.ts';
import { type Quirk, quirkNames, quirkWords } from '../../sandbox/quirks.ts';
import {
  defaultSettings,
  type OperationClass,
  pixelSide,
  type SandboxSettings,
  type TaskSpeed,
} from '../../sandbox/settings.ts';
import { type NamePreset, nameKeys, namePresets, resolveNames } from '../../service/names.ts';
import { type Flag, type FlagValues, type Reading, repeated, toggle, valued } from './flags.ts';
import { duration, oneOf, wholeNumber } from './values.ts';

const modalCode: Reading<1 | 21> = Object.assign(
  (text: string, name: string) => (oneOf('1', '21')(text, name) === '1' ? 1 : 21),
  { words: ['1', '21'] },
);

const queueFullCode: Reading<9 | 23> = Object.assign(
  (text: string, name: string) => (oneOf('9', '23')(text, name) === '9' ? 9 : 23),
  { words: ['9', '23'] },
);

const factor: Reading<number> = Object.assign(
  (text: string, name: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
    // `2x` is a speed, the inverse of a factor on durations.
    const [, times] = /^(\d{1,4}(?:\.\d{1,4})?)\s*[x×]$/i.exec(text.trim()) ?? [];
    const speed = Number(times ?? 0);
    throw usageError(
      `${name} takes a number of at least 0, not "${text}".`,
      `It is a factor on the time that all tasks take: 0.1 is ten times quicker, 0.5 twice as quick, 0 at once.`,
      speed > 0 ? revaluing(name, text, [String(Number((1 / speed).toPrecision(3)))]) : undefined,
    );
  },
  { example: '0.1' },
);

const fault: Reading<Fault> = Object.assign(
  (text: string): Fault => {
    const parsed = parseFault(text);
    if (parsed.ok) return parsed.value;
    const { error, hint } = parsed;
    throw usageError(`--${error}.`, hint);
  },
  { example: 'fetch:latency=300ms' },
);

const quirk: Reading<Quirk> = Object.assign(
  (text: string, name: string): Quirk => {
    const known = quirkNames.find((one) => one === text);
    if (known !== undefined) return known;
    throw usageError(
      `${name} has no value "${text}". Its values: ${quirkNames.join(', ')}.`,
      didYouMean(text, quirkNames),
    );
  },
  { words: quirkNames },
);

const workNames = Object.keys(defaultSettings.durations) as readonly OperationClass[];

const workTime: Reading<{ readonly work: OperationClass; readonly ms: number }> = Object.assign(
  (text: string, name: string) => {
    const [word = '', time] = text.split('=', 2);
    if (time === undefined)
      throw usageError(`${name} takes WORK=TIME, for example imagine=5s, not "${text}".`);
    return { work: oneOf(...workNames)(word, name), ms: duration(time, name) };
  },
  { example: 'imagine=5s' },
);

/** Flags for the behaviour of the sandbox, one for each setting that is more than an internal number. */
export const settingFlags = {
  pace: valued(
    'FACTOR',
    'factor on all task durations: 0.1 is ten times quicker, 0 is at once; default 1',
    factor,
  ),
  concurrency: valued('N', 'tasks that work at the same time; default 12', wholeNumber(1)),
  queue: valued('N', 'tasks that may wait for their turn; default 100', wholeNumber(0)),
  'submits-per-minute': valued('N', 'submissions a minute before 429; default 0: no limit', wholeNumber(0)),
  refresh: valued('TIME', 'how old the shown state of a task may be, for example 15s; default 0', duration),
  'modal-code': valued('1|21', 'what a click that opens a modal answers; default 21', modalCode),
  'modal-task': valued(
    'new|same',
    'whether the answer to a modal makes a new task; default new',
    oneOf('new', 'same'),
  ),
  'modal-life': valued('TIME', 'how long a modal may be answered; default: for ever', duration),
  auth: valued(
    'FORM',
    'where requests must have the key: bearer, header (image paths in imageKeyHeader alone, native texts in keyHeader alone), ' +
      'raw (image paths as Authorization without Bearer) or none; default bearer',
    oneOf('bearer', 'header', 'raw', 'none'),
  ),
  quirk: repeated(
    'NAME',
    `deviations of a gateway from the contract:\n${quirkNames.map((name) => `${name}: ${quirkWords[name]}`).join('\n')}`,
    quirk,
  ),
  'link-lists': valued(
    'SHAPE',
    'which links are listed: videos as objects, or images and videos as objects or texts; only-objects and only-texts leave ' +
      'imageUrl and videoUrl out; default videos',
    oneOf('videos', 'objects', 'texts', 'only-objects', 'only-texts'),
  ),
  'error-shape': valued(
    'SHAPE',
    'how a wrong body is refused: envelope, flat or submit; default envelope',
    oneOf('envelope', 'flat', 'submit'),
  ),
  'queue-full-code': valued('9|23', 'the code of a full queue; default 23', queueFullCode),
  'unknown-task': valued(
    'ANSWER',
    'what a fetch of an unknown task answers: error, empty or no-content; default error',
    oneOf('error', 'empty', 'no-content'),
  ),
  'late-by': valued('TIME', 'how much longer a task with [late] in its prompt takes; default 1h', duration),
  duration: repeated(
    'WORK=TIME',
    `how long a kind of work takes, for example imagine=5s; kinds: ${workNames.join(', ')}`,
    workTime,
  ),
  'link-life': valued('TIME', 'how long an image link works; default 24h', duration),
  'button-life': valued('TIME', 'how long a button works; default: for ever', duration),
  'text-latency': valued(
    'TIME',
    'how long a text model thinks before its first word; default 200ms',
    duration,
  ),
  'any-model': toggle('answer for every model id, even if it is not listed; default in a rehearsal'),
  pixels: valued(
    'N',
    `side in pixels of a square picture, ${pixelSide.least} to ${pixelSide.most}; default 1024. A small one is drawn faster`,
    wholeNumber(pixelSide.least, pixelSide),
  ),
  fault: repeated(
    'FAULT',
    'a fault to cause, for example fetch:latency=300ms or image:truncate:every-5',
    fault,
  ),
} as const;

const withSandbox = <T>(flag: Flag<T>): Flag<T> => ({ ...flag, help: `with --sandbox: ${flag.help}` });

/** Flags for the sandbox of a rehearsal. */
export const rehearsalFlags = {
  pace: withSandbox(settingFlags.pace),
  pixels: withSandbox(settingFlags.pixels),
  fault: withSandbox(settingFlags.fault),
} as const;

/** Returns the settings that flags ask for, without defaults. */
export function flagSettings(flags: FlagValues<typeof settingFlags>): Partial<SandboxSettings> {
  const durations: Record<OperationClass, Record<TaskSpeed, number>> = { ...defaultSettings.durations };
  for (const { work, ms } of flags.duration) durations[work] = { relax: ms, fast: ms, turbo: ms };
  const given: Partial<Record<keyof SandboxSettings, unknown>> = {
    durations,
    faults: flags.fault,
    pace: flags.pace,
    concurrency: flags.concurrency,
    queue: flags.queue,
    submitsPerMinute: flags['submits-per-minute'],
    refresh: flags.refresh,
    modalCode: flags['modal-code'],
    modalTask: flags['modal-task'],
    modalLife: flags['modal-life'],
    linkLists: flags['link-lists'],
    auth: flags.auth,
    quirks: new Set(flags.quirk),
    errorShape: flags['error-shape'],
    queueFullCode: flags['queue-full-code'],
    unknownTask: flags['unknown-task'],
    lateBy: flags['late-by'],
    linkLife: flags['link-life'],
    buttonLife: flags['button-life'],
    textLatency: flags['text-latency'],
    anyModel: flags['any-model'],
    pixels: flags.pixels,
  };
  const settings = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(settings);
}

const familyPreset: NamePreset = 'midjourney-proxy';

const presets = Object.keys(namePresets) as readonly NamePreset[];

/**
 * Parses the names of a service: a preset, single names, or both, `midjourney-proxy,keyHeader=x-api-key`. They have the meaning of
 * `service.names` in a pipeline. With the preset midjourney-proxy the sandbox also accepts what other clients of that family send.
 * @throws CliError (exit 2) for an unknown preset or name, a repeated one, and an invalid value
 */
export function namesOf(text: string, name: string): SandboxNames {
  const [first = '', ...rest] = text.split(',').map((part) => part.trim());
  const preset = first.includes('=') ? 'neutral' : first;
  if (!presets.some((known) => known === preset)) {
    throw usageError(
      `${name} takes ${presets.join(' or ')} and words such as path=art after it, not "${preset}".`,
      didYouMean(preset, presets),
    );
  }
  const own = new Map<string, string>();
  for (const part of first.includes('=') ? [first, ...rest] : rest) {
    const at = part.indexOf('=');
    const word = at < 0 ? part : part.slice(0, at).trim();
    if (!nameKeys.some((known) => known === word)) {
      throw usageError(
        `${name} has no word "${word}". Its words: ${nameKeys.join(', ')}.`,
        didYouMean(word, nameKeys),
      );
    }
    if (at < 0) throw usageError(`${name} takes ${word}=VALUE, not "${part}".`);
    if (own.has(word)) throw usageError(`${name} gives ${word} twice.`);
    own.set(word, part.slice(at + 1).trim());
  }
  const names = resolveNames(preset, Object.fromEntries(own));
  if (!names.ok) throw usageError(`${name}: ${names.error.map(({ message }) => message).join(' ')}`);
  return { ...sandboxNames(names.value), familyClients: preset === familyPreset };
}

/** Returns `Did you mean --x?`, or undefined. @param prefix of the names as the user writes them */
function didYouMean(word: string, known: readonly string[], prefix = ''): string | undefined {
  const candidate = nearest(word, known);
  return candidate === undefined ? undefined : `Did you mean ${prefix}${candidate}?`;
}
