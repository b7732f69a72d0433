import { usageError } from '../../app/errors/cli-error.ts';
import { adding } from '../../app/errors/correction.ts';
import { engineOfRun, logLevels, type RunFlags } from '../../app/flags.ts';
import { repeated, toggle, valued } from './flags.ts';
import { rehearsalFlags } from './sandbox-flags.ts';
import { selectionFlags } from './selection-flags.ts';
import { anyText, axisValue, duration, oneOf, wholeNumber } from './values.ts';

/** Flags that choose the directory and the service. */
export const placeFlags = {
  out: valued(
    'DIR',
    'run directory; default: runs/<name> beside the pipeline file, with --sandbox runs/<name>.sandbox. s3://BUCKET/PREFIX puts images, videos, manifest.csv and run.json there, and keeps the run directory for the rest',
    anyText,
  ),
  'run-directory': valued('DIR', 'with --out s3://…: the run directory; default as above', anyText),
  'trust-directory': toggle(
    'use a run directory that was begun by another user or on another machine, whose state, lock, log or inputs git tracks, or that a tracked link leads to. Otherwise it is refused, because its author decides what counts as done and what is sent',
  ),
  sandbox: toggle('use the local service: no key, no network, no cost'),
  'base-url': valued(
    'URL',
    'address of the service; overrides PROMPTPRESS_BASE_URL, which overrides the file',
    anyText,
  ),
  'new-service': toggle(
    'continue although the jobs of the run directory were made for another service: finished jobs are made, and paid, again here',
  ),
  'files-root': valued(
    'DIR',
    'folder that files named by the pipeline must lie in; default: the git work tree it is in, else its folder',
    anyText,
  ),
} as const;

/** Flags that choose a run of `FILE|DIR`, for commands that read it. */
export const targetFlags = {
  out: placeFlags.out,
  'trust-directory': placeFlags['trust-directory'],
  sandbox: toggle('with FILE: its rehearsal, in runs/<name>.sandbox beside it'),
} as const;

/** Flag that replaces axes of the matrix, for `run`, `plan` and `validate`. */
export const setFlag = {
  set: repeated(
    'AXIS=VALUE',
    'replaces an axis of the matrix: animal=lynx, "animal=[lynx, hare]", "seed={from: 1, to: 3}"; a run with it needs a directory of its own (--out)',
    axisValue,
  ),
} as const;

/** Flags that retry settled jobs. `plan` takes them too and shows their effect. */
export const revivalFlags = {
  'retry-failed': toggle(
    'try failed jobs again: finished tasks are only downloaded, the others are submitted again',
  ),
  code: valued('CODE', 'with --retry-failed: only failures of this code, for example task.failed', anyText),
  redo: repeated(
    'JOB',
    'submit this job again, even if it is done, and all jobs made from it; the beginning of its key is enough. Later runs continue with the rest',
    anyText,
  ),
  'redo-jobs': valued(
    'FILE',
    'the same for every job in this file: a selection of the report, without jobs marked "keep", or one key a line. Each job is made again only once',
    anyText,
  ),
  'redo-again': toggle('with --redo-jobs: also jobs that were made again already'),
  'redo-cancel': toggle('cancel what earlier runs have left to make again'),
  'in-doubt': valued(
    'hold|retry|find',
    'what to do with jobs whose submission was never answered: hold (default); retry, which may pay twice; or find, which searches their tasks by tag where the gateway lists tasks, and holds the rest',
    oneOf('hold', 'retry', 'find'),
  ),
} as const;

/** Flags that take over finished jobs of other run directories, for `run` and `plan`. */
export const reuseFlags = {
  reuse: repeated(
    'DIR',
    'take over finished jobs with the same request from this run directory, with their files: nothing is sent for them; of several directories the first that has a job counts',
    anyText,
  ),
  'reuse-cancel': toggle(
    'do not continue a take-over that was interrupted: what it has left is made, and paid, here',
  ),
} as const;

/** Flags for the format of the manifest. */
export const manifestFlags = {
  'escape-formulas': toggle(
    'for spreadsheets: cells of manifest.csv that begin with = + - @ tab or CR get a leading apostrophe',
  ),
} as const;

const speed = Object.assign(oneOf('relax', 'fast', 'turbo'), { example: 'fast' });

const metricsName = Object.assign((text: string, name: string): string => anyText(text, name), {
  example: 'promptpress.prom',
});

const engineExample = Object.assign((text: string, name: string): string => anyText(text, name), {
  example: 'postgres://user@db.example/promptpress?sslmode=verify-full',
});

/** Flag that chooses the engine. */
export const engineFlag = {
  engine: valued(
    'URL',
    'PostgreSQL for a run on several machines: postgres://user@host/database, with #NAME if the run is not named like the pipeline. Default: PROMPTPRESS_ENGINE, which is the place for a password',
    engineExample,
  ),
} as const;

const queueExample = Object.assign((text: string, name: string): string => anyText(text, name), {
  example: 'lease',
});

/** Flags for the part of a process in a run on an engine, for `run` and `worker`. */
export const workingFlags = {
  ...engineFlag,
  lease: valued(
    'TIME',
    'with --engine: time without a heartbeat after which a worker loses its slices to others; default 30s',
    duration,
  ),
  slots: valued(
    'N',
    'with --engine: largest number of tasks in flight of this process; default: all that limits allow',
    wholeNumber(1),
  ),
} as const;

/** Flag that chooses the queue of slices. */
export const queueFlag = (help: string) => ({ queue: valued('QUEUE', help, queueExample) });

/** Flags for leading a run on an engine. */
export const leadingFlags = {
  ...workingFlags,
  ...queueFlag(
    'with --engine: queue of the slices: bullmq (default), lease, which works through a connection pooler, or redis://HOST:PORT',
  ),
  'no-work': toggle('with --engine: only lead the run; workers do the jobs'),
  detach: toggle('with --engine: register the run and return; workers run it'),
  'move-out': toggle(
    'with --engine and --out: lead the run with another folder or bucket; all results are copied there first, and checked',
  ),
} as const;

/** The flags of `promptpress run`. */
export const runFlags = {
  ...placeFlags,
  speed: valued('SPEED', 'relax, fast or turbo; overrides the file', speed),
  ...setFlag,
  ...selectionFlags,
  ...revivalFlags,
  ...reuseFlags,
  ...rehearsalFlags,
  ...leadingFlags,
  relearn: toggle(
    'forget what earlier runs of the directory have learned about the service: how long its tasks take, and what it accepts',
  ),
  'accept-older-state': toggle(
    'continue with a state that is older than its run: jobs that the state does not know may be paid twice',
  ),
  'fail-fast': toggle(
    'stop at the first failure that failures.accept does not allow: nothing new is started, what is in flight is settled',
  ),
  'max-failures': valued(
    'N',
    'stop once N jobs of this invocation have failed, as --fail-fast does at the first one (exit 1)',
    wholeNumber(1),
  ),
  'max-submits': valued('N', 'largest number of submissions of this invocation', wholeNumber(0)),
  'max-duration': valued('TIME', 'start nothing new after this time, for example 30m', duration),
  yes: toggle(
    'continue although the estimate is above budget.ask; without this flag the run asks, or stops if there is no terminal',
  ),
  frozen: toggle('refuse to run (exit 2) unless pipeline, tables and service are those of the last run'),
  'dry-run': toggle('say what would run and why, as promptpress plan does'),
  ...manifestFlags,
  json: toggle('print one JSON object about the run on standard output'),
  'log-level': valued(
    'LEVEL',
    `what goes into run.log: ${logLevels.join(', ')}; default info`,
    oneOf(...logLevels),
  ),
  'metrics-file': valued(
    'FILE',
    'write metrics of the run into this file every few seconds and at the end, in the text format of Prometheus; the file is always complete',
    metricsName,
  ),
  notify: valued(
    'URL',
    'when the run ends, post its summary to this address, in the form of --json; a failure is only a warning. Default: PROMPTPRESS_NOTIFY',
    anyText,
  ),
  'no-progress': toggle('no progress on standard error'),
  quiet: toggle(
    'no progress, and no output at all if there is nothing to do and the exit code is 0, for cron jobs that mail their output',
  ),
} as const;

/** Checks that settings of the sandbox come with a sandbox. @throws CliError (exit 2) */
export function checkRehearsal({
  sandbox,
  pace,
  pixels,
  fault: [fault],
}: Pick<RunFlags, 'sandbox' | keyof typeof rehearsalFlags>): void {
  const [given] = Object.entries({ pace, pixels, fault }).find(([, value]) => value !== undefined) ?? [];
  if (sandbox || given === undefined) return;
  throw usageError(
    `--${given} is a setting of the sandbox, but this run is not a rehearsal.`,
    'Add --sandbox to rehearse, or leave the flag out.',
    adding('--sandbox'),
  );
}

/** Checks flags of runs on engines. @throws CliError (exit 2) for such a flag without an engine, and for one that no engine has */
export function checkEngineFlags(
  flags: RunFlags,
  io: { readonly env: Readonly<Record<string, string | undefined>> },
): void {
  if (engineOfRun(flags, io) === undefined) {
    const { lease, slots, queue, detach, 'no-work': noWork, 'move-out': moveOut } = flags;
    if (moveOut)
      throw usageError(
        '--move-out is for runs on an engine, but no engine is named.',
        'Move a run directory of one machine as a whole, while no run is active: mv runs/foxes /elsewhere/foxes; then name it with --out.',
      );
    const given = Object.entries({
      lease,
      slots,
      queue,
      detach: detach || undefined,
      'no-work': noWork || undefined,
    });
    const [first] = given.find(([, value]) => value !== undefined) ?? [];
    if (first === undefined) return;
    if (flags.sandbox)
      throw usageError(
        `--${first} is for runs on an engine, but a rehearsal always runs on this machine.`,
        `Leave --${first} or --sandbox out.`,
      );
    throw usageError(
      `--${first} is for runs on an engine, but no engine is named.`,
      'Name it with --engine postgres://… or PROMPTPRESS_ENGINE, or leave the flag out.',
    );
  }
  for (const [name, hint] of Object.entries(notOnEngines))
    if (flags[name as keyof typeof notOnEngines])
      throw usageError(`--${name} cannot be used with --engine.`, hint);
  if (flags['move-out'] && flags.out === undefined)
    throw usageError('--move-out needs --out.', 'It names the new place of the results.');
  if (flags.detach && flags['no-work'])
    throw usageError(
      '--detach and --no-work: a detached run is left to its workers anyway.',
      'Leave --no-work out.',
    );
}

/** What to use on an engine in place of these flags. */
const notOnEngines = {
  sandbox:
    'The sandbox of a run exists only in its process. Start one for all machines: promptpress sandbox --port 8080, and give its address and key to the run and its workers (PROMPTPRESS_BASE_URL, PROMPTPRESS_API_KEY).',
  'new-service': 'Give the run of another service a name of its own: --engine postgres://…#NAME',
} as const;
