import { resolve } from 'node:path';
import { parseFault } from '../../sandbox/faults/parse.ts';
import { namePresets } from '../../sandbox/names.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.ts';
import { defaultSettings, type SandboxSettings } from '../../sandbox/settings.ts';
import type { OperationClass, Speed } from '../../sandbox/tasks/task.ts';
import { sandboxKey } from '../../service/secrets.ts';
import { closingAfter } from '../closing.ts';
import { command } from '../command.ts';
import { exitCodes, usageError } from '../failure.ts';
import { anyText, duration, oneOf, wholeNumber } from '../flag-values.ts';
import { type FlagValues, repeated, toggle, valued } from '../flags.ts';

const keyVariable = 'PROMPTPRESS_API_KEY';

const modalCode = (text: string, name: string): 1 | 21 => (oneOf('1', '21')(text, name) === '1' ? 1 : 21);

const queueFullCode = (text: string, name: string): 9 | 23 => (oneOf('9', '23')(text, name) === '9' ? 9 : 23);

const factor = (text: string, name: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw usageError(`${name} takes a number of at least 0, for example 0.1, not "${text}".`);
  }
  return value;
};

const portNumber = (text: string, name: string): number => {
  const port = wholeNumber(0)(text, name);
  if (port > 65_535) throw usageError(`${name} takes a number from 0 to 65535, not "${text}".`);
  return port;
};

const workNames = Object.keys(defaultSettings.durations) as readonly OperationClass[];

const workTime = (text: string, name: string): { readonly work: OperationClass; readonly ms: number } => {
  const [word = '', time] = text.split('=', 2);
  if (time === undefined) throw usageError(`${name} takes WORK=TIME, for example imagine=5s, not "${text}".`);
  return { work: oneOf(...workNames)(word, name), ms: duration(time, name) };
};

const {
  blockedMark,
  unsafeMark,
  recitedMark,
  emptyMark,
  notJsonMark,
  badCallMark,
  refusedMark,
  cutMark,
  streamErrorMark,
} = defaultSettings;

/** What the marks in the prompt of a text do, in the words of help. */
const textMarks =
  `${blockedMark} blocks the prompt, ${unsafeMark} and ${recitedMark} filter the answer, ${refusedMark} is refused, ` +
  `${emptyMark} and ${notJsonMark} spoil it, ${badCallMark} spoils a function call, ${cutMark} and ${streamErrorMark} break a stream off`;

/** How the service behaves. */
const settingFlags = {
  pace: valued(
    'FACTOR',
    'factor on all task durations: 0.1 is ten times quicker, 0 is at once; default 1',
    factor,
  ),
  concurrency: valued('N', 'tasks that work at the same time; default 12', wholeNumber(1)),
  queue: valued('N', 'tasks that may wait for their turn; default 100', wholeNumber(0)),
  'submits-per-minute': valued('N', 'submissions a minute before 429; default 0: no limit', wholeNumber(0)),
  refresh: valued(
    'TIME',
    'how old the shown state of a task may be, for example 15s; default: not at all',
    duration,
  ),
  'modal-code': valued('1|21', 'what a click that opens a modal answers; default 21', modalCode),
  'modal-task': valued(
    'new|same',
    'whether the answer to a modal makes another task; default new',
    oneOf('new', 'same'),
  ),
  'modal-linger': toggle('a task that got its modal shows MODAL until the work is done'),
  'modal-life': valued('TIME', 'how long a modal may be answered; default: for ever', duration),
  'no-remix': toggle('the account has no remix: clicks that ask for it are refused'),
  'null-buttons': toggle('buttons is null until a task is done'),
  'progress-texts': toggle('progress is also told in words'),
  'bare-ids': toggle('task ids are 17-digit numbers without quotes'),
  'error-shape': valued(
    'SHAPE',
    'how a wrong body is refused: envelope, flat or submit; default envelope',
    oneOf('envelope', 'flat', 'submit'),
  ),
  'queue-full-code': valued('9|23', 'the code of a full queue; default 23', queueFullCode),
  deduplicate: toggle('an imagine that exists already is answered with code 21 and that task'),
  'no-account-modes': toggle('accountFilter is ignored'),
  'no-listing': toggle('tasks cannot be listed'),
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
  'any-model': toggle('answer for every model id, also those that are not listed; a rehearsal does'),
  pixels: valued('N', 'side of a square grid in pixels; default 1024', wholeNumber(64)),
  fault: repeated(
    'FAULT',
    'something that goes wrong, for example fetch:latency=300ms or image:truncate:every 5',
    (text) => {
      const parsed = parseFault(text);
      if (!parsed.ok) throw usageError(parsed.error);
      return parsed.value;
    },
  ),
} as const;

/** `promptpress sandbox` */
export const sandbox = command(
  {
    name: 'sandbox',
    summary: 'the local service on 127.0.0.1, for development and tests',
    operands: '',
    about: `Serves the image workflow and the text endpoints on this machine only, with images drawn and texts written from the prompt: the same prompt gives the same answer. Its first line on standard output is its address. It runs until Ctrl-C. Its key is PROMPTPRESS_API_KEY, or the word sandbox where that is not set. For a rehearsal of a pipeline it is not needed: promptpress run FILE --sandbox starts one of its own.
Prompts with [banned], [moderated], [broken] or [stuck] in them are refused, fail, fail once, or never finish. Texts: ${textMarks}. Faults on demand are written route:fault[=detail][:when].`,
    examples: [
      { command: 'promptpress sandbox --port 8080', does: 'on a port of your choice' },
      { command: 'promptpress sandbox --pace 0', does: 'every task is finished at once' },
      {
        command: 'promptpress sandbox --fault submit:429=2:10%',
        does: 'every tenth submission, about, is refused for 2 s',
      },
      {
        command: 'promptpress sandbox --fault imagine:reset-after:at 3',
        does: 'the third imagine is carried out and not answered',
      },
    ],
    flags: {
      port: valued('PORT', 'port on 127.0.0.1; default 0: any free one', portNumber),
      names: valued(
        'NAMES',
        `the words of the service: ${Object.keys(namePresets).join(' or ')}; default neutral`,
        anyText,
      ),
      state: valued(
        'DIR',
        'keep the tasks in this folder, so that a sandbox started later goes on; default: memory',
        anyText,
      ),
      ...settingFlags,
    },
  },
  { least: 0, most: 0 },
  async (flags, _operands, { io }) =>
    await closingAfter(async (closing) => {
      const interrupts = io.interrupts();
      closing.add(() => interrupts.stop());
      const names = namePresets[flags.names ?? 'neutral'];
      if (names === undefined) {
        throw usageError(
          `--names takes one of ${Object.keys(namePresets).join(', ')}, not "${flags.names}".`,
        );
      }
      const running = await started({
        apiKey: io.env[keyVariable] || sandboxKey,
        names,
        port: flags.port ?? 0,
        ...(flags.state === undefined ? {} : { state: resolve(io.cwd, flags.state) }),
        settings: settingsOf(flags),
      });
      closing.add(() => running.close());
      await io.out(`${running.url}\n`);
      const key = io.env[keyVariable] ? `the one in ${keyVariable}` : `"${sandboxKey}"`;
      io.err(`The key is ${key}. Counters: ${running.url}/sandbox/counters. Ctrl-C ends it.\n`);
      await aborted(interrupts.drain);
      return exitCodes.ok;
    }),
);

/** @throws CliError (exit 2) for a setting out of range or a port that is taken */
async function started(options: SandboxOptions): Promise<Sandbox> {
  // Loaded when it is wanted: it brings an image library along.
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  try {
    return await startSandbox(options);
  } catch (error) {
    if (error instanceof RangeError) throw usageError(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw usageError(
        `Port ${options.port} cannot be used: ${(error as Error).message}`,
        'Take another --port; 0 takes any free one.',
      );
    }
    throw error;
  }
}

function settingsOf(flags: FlagValues<typeof settingFlags>): Partial<SandboxSettings> {
  const durations: Record<OperationClass, Record<Speed, number>> = { ...defaultSettings.durations };
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
    modalLinger: flags['modal-linger'],
    modalLife: flags['modal-life'],
    remix: !flags['no-remix'],
    nullButtons: flags['null-buttons'],
    progressTexts: flags['progress-texts'],
    bareIds: flags['bare-ids'],
    errorShape: flags['error-shape'],
    queueFullCode: flags['queue-full-code'],
    deduplicate: flags.deduplicate,
    accountModes: !flags['no-account-modes'],
    listing: !flags['no-listing'],
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

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    // A server in the same process keeps it alive until then.
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
