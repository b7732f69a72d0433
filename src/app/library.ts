import { resolve } from 'node:path';
import type { ManifestRow } from '../manifest/row.ts';
import { manifestRows } from '../manifest/rows.ts';
import type { Diagnostic } from '../pipeline/diagnostics/diagnostic.ts';
import { formatDiagnostic } from '../pipeline/diagnostics/format.ts';
import type { PlanReport } from '../plan/estimate/report.ts';
import type { RunSummary } from '../report/text/summary.ts';
import type { CheckedFile } from '../report/text/validation.ts';
import type { RunEvent } from '../run/events.ts';
import { closingAfter } from './adapters/disposables.ts';
import type { Context } from './context.ts';
import { exitCodes } from './errors/cli-error.ts';
import { shownErrorOf } from './errors/render.ts';
import { noFlags, type RunFlags } from './flags.ts';
import { localRunner } from './local.ts';
import type { Environment, Interrupts, Io, Machine } from './output/io.ts';
import { Redactor } from './output/redact.ts';
import { safeIo } from './output/safe-io.ts';
import { estimateRun } from './run/dry-run.ts';
import { openRun, runOpened } from './run.ts';
import { keyVariable } from './service/trust-file.ts';
import { planOfDirectory } from './workspace/last-plan.ts';
import { openTarget } from './workspace/open.ts';
import { loadPipeline, type PipelineText } from './workspace/read-pipeline.ts';
import { validateFile } from './workspace/validate.ts';

/** The access to its process that the library needs; it reads and changes nothing else of the process. */
export interface Host {
  readonly machine: Machine;
  /** Returns the current folder, which relative paths start from. */
  cwd(): string;
  freeBytes: Io['freeBytes'];
  every: Io['every'];
}

/** Options that select the service, the results and the part of a pipeline. */
export interface PipelineOptions {
  /** Rehearse with the local service: no key, no network, no cost. */
  readonly sandbox?: boolean;
  /** Address of the service; overrides the variables and the file. */
  readonly baseUrl?: string;
  /** Key of the service; overrides the variables and the file. */
  readonly apiKey?: string;
  /** Run directory, or `s3://BUCKET/PREFIX` for its results; default: `runs/<name>` beside the pipeline, in a rehearsal `runs/<name>.sandbox`. */
  readonly out?: string;
  /** Runs only cells with these values, by axis; with several values of one axis, any of them. */
  readonly filter?: Readonly<Record<string, FilterValue | readonly FilterValue[]>>;
  /** Values that replace axes of the matrix, in any form that a pipeline allows: a value, a list, `{ from, to }`. */
  readonly set?: Readonly<Record<string, unknown>>;
  /**
   * Run directories whose finished jobs with the same requests are taken over, with their files: nothing is sent for them. Of several the
   * first that has a job counts.
   */
  readonly reuse?: readonly string[];
  /**
   * Environment variables; the library reads none by itself. Used are those that the pipeline names, `PROMPTPRESS_…`, proxies, `PATH` (to
   * find git), `XDG_STATE_HOME` and `HOME` (for what is trusted). `process.env` gives the same run as the command. Default: none, and git
   * in the usual folders.
   */
  readonly env?: Environment;
}

/** A value of an axis in a filter, as for `--filter`. */
export type FilterValue = string | number | boolean;

/** Options of a run. */
export interface RunOptions extends PipelineOptions {
  /**
   * Ends the run as Ctrl-C does: nothing new is started, jobs in flight are settled, and the summary says `interrupted`. If aborted before
   * the run has begun, the signal's reason is thrown.
   */
  readonly signal?: AbortSignal;
  /** Called with every event, in order; if it throws, the run ends in the same way and the error is thrown. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Runs even if the estimate is above `budget.ask`. */
  readonly yes?: boolean;
}

/** A run that has ended in any way: `summary.end` says how, and `summary.exitCode` is that of the command. */
export interface FinishedRun {
  /** The summary; its paths are relative to the folder that was current when the run began. */
  readonly summary: RunSummary;
  /** Reads the rows of the manifest from the run directory, with those of later runs there. Throws the same errors as the functions. */
  readonly rows: () => AsyncIterable<ManifestRow>;
  /** Absolute path of the run directory. */
  readonly directory: string;
}

/** The findings in a pipeline, as `validate --json` lists them for a file. */
export type ValidationResult = CheckedFile;

/** An expected failure: an invalid pipeline, a wrong option, a directory locked by another run, a full disk. */
export class PromptpressError extends Error {
  /** `pipeline.invalid`; `usage` for options, variables and files; else the code of a state, disk or bucket error (`state.locked`). */
  readonly code: string;
  /** The exit code of the command for the same failure. */
  readonly exitCode: number;
  /** What to do about it; where no option of the library does that, it names the flag of the command. */
  readonly hint: string | undefined;
  /** All mistakes of the pipeline, with line and column; empty for other failures. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: string,
    exitCode: number,
    message: string,
    options: ErrorOptions & {
      readonly hint?: string | undefined;
      readonly diagnostics?: readonly Diagnostic[];
    },
  ) {
    super(message, options);
    this.name = 'PromptpressError';
    this.code = code;
    this.exitCode = exitCode;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

/** Folders in which systems usually have git. */
const usualPath = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';

/** Runs a pipeline on this machine. @throws PromptpressError if it is refused, before anything is sent */
export async function runPipeline(
  host: Host,
  pipeline: string | PipelineText,
  options: RunOptions = {},
): Promise<FinishedRun> {
  const { signal, onEvent } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const drain = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  let thrown: { readonly error: unknown } | undefined;
  const tell = (event: RunEvent): void => {
    if (thrown !== undefined) return;
    try {
      onEvent?.(event);
    } catch (error) {
      thrown = { error };
      stop.abort();
    }
  };
  const finished = await typed(new Redactor(), async (redactor) => {
    const context = contextOf(host, options, redactor, drain, tell);
    const flags = flagsOf(options);
    const opened = await openRun(pipeline, flags, context);
    signal?.throwIfAborted();
    const silent = { onWork: () => {}, warn: (text: string) => context.io.err(text), tell: () => {} };
    const summary = await runOpened(opened, flags, context, silent, localRunner);
    if (summary === undefined) throw new Error('Internal error: a run of the library has no summary.');
    const directory = resolve(context.io.cwd, summary.directory);
    return { summary, directory, rows: () => rowsOf(directory, opened.read.path, flags, context) };
  });
  // Rethrown as it is: an error in the caller's listener is not a disk error of the run.
  if (thrown !== undefined) throw thrown.error;
  return finished;
}

/** Plans what a run would do, and why; contacts no service and changes nothing. @throws PromptpressError */
export const planPipeline = (
  host: Host,
  pipeline: string | PipelineText,
  options: PipelineOptions = {},
): Promise<PlanReport> =>
  typed(new Redactor(), (redactor) =>
    closingAfter(async (disposables) => {
      const context = contextOf(host, options, redactor);
      const flags = flagsOf(options);
      const read = await loadPipeline(pipeline, flags, context);
      return await estimateRun(read, flags, disposables, context);
    }),
  );

/** Finds every mistake of a pipeline and its tables, all at once. @throws PromptpressError if there is no such file */
export const validatePipeline = (
  host: Host,
  pipeline: string | PipelineText,
  options: Pick<PipelineOptions, 'set' | 'env'> = {},
): Promise<ValidationResult> =>
  typed(new Redactor(), async (redactor) => {
    const found = await validateFile(pipeline, flagsOf(options), contextOf(host, options, redactor));
    return found.checked;
  });

async function* rowsOf(
  directory: string,
  file: string,
  flags: RunFlags,
  context: Context,
): AsyncGenerator<ManifestRow> {
  try {
    const { state } = await openTarget(directory, { ...flags, out: undefined }, context, 'place');
    try {
      const { plan, facts } = await planOfDirectory(directory, state, context, file);
      yield* manifestRows(plan, facts.selection, state);
    } finally {
      await state.close();
    }
  } catch (error) {
    throw typedError(error, context.redactor);
  }
}

/** Makes a context in place of a process: no terminal, no questions, no signals. Output becomes notices. */
function contextOf(
  host: Host,
  { env = { PATH: usualPath }, apiKey }: PipelineOptions,
  redactor: Redactor,
  drain = new AbortController().signal,
  tell: (event: RunEvent) => void = () => {},
): Context {
  const { PROMPTPRESS_ENGINE: _engine, ...variables } = env;
  const say = (message: string): void => tell({ type: 'run:notice', code: 'message', message });
  const never = new AbortController().signal;
  const interrupts: Interrupts = {
    drain,
    leave: never,
    first: () => (drain.aborted ? 'SIGINT' : undefined),
    listen: () => {},
    stop: () => {},
  };
  const io = safeIo(
    {
      ...host,
      cwd: host.cwd(),
      env: { ...variables, ...(apiKey === undefined ? {} : { [keyVariable]: apiKey }) },
      out: () => Promise.resolve(),
      outClosed: never,
      err: (text) => say(text.trimEnd()),
      colors: false,
      now: () => host.machine.clock.now(),
      interrupts: () => interrupts,
      // The heap and the compiler belong to the caller.
      boundHeapGrowth: () => {},
      boundCompiler: () => {},
    },
    redactor,
  );
  const showProgress = () => ({ listener: tell, say: (text: string) => io.err(text), end: () => {} });
  return { io, redactor, showProgress };
}

/** Turns options into flags of the command; all other flags have their default values. */
const flagsOf = ({
  sandbox = false,
  baseUrl,
  out,
  filter = {},
  set = {},
  reuse = [],
  ...more
}: RunOptions): RunFlags => ({
  ...noFlags,
  sandbox,
  'base-url': baseUrl,
  out,
  filter: Object.entries(filter).flatMap(([axis, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) => ({ axis, value: String(value) })),
  ),
  // Every JSON text is YAML.
  set: Object.entries(set).map(([axis, value]) => ({ axis, value: JSON.stringify(value) })),
  reuse,
  yes: more.yes ?? false,
  'no-progress': true,
});

/** Flags and variables in messages, and their names in the library; variables become members of `env`. */
const optionWords: readonly (readonly [RegExp, string])[] = [
  [/--base-url\b/g, 'baseUrl'],
  [/: promptpress run \S+ --sandbox\b/g, ' (sandbox: true)'],
  [/--(sandbox|yes)\b/g, '$1: true'],
  [/--(out|filter|set|reuse)\b/g, '`$1`'],
  [/ \(export \w+=…\)/g, ''],
  [/(?:The environment variable )?(?<![.\w{])PROMPTPRESS_API_KEY\b/g, 'apiKey (or env.PROMPTPRESS_API_KEY)'],
  [/(?:The environment variable )?(?<![.\w{])(PROMPTPRESS_\w+)/g, 'env.$1'],
  [/The environment variable (\w+)/g, 'env.$1'],
];
const inOptions = (text: string): string =>
  optionWords.reduce((said, [word, option]) => said.replace(word, option), text);

/** Throws expected failures as PromptpressError, without secrets; rethrows a bug as it is. */
async function typed<T>(redactor: Redactor, work: (redactor: Redactor) => Promise<T>): Promise<T> {
  try {
    return await work(redactor);
  } catch (error) {
    throw typedError(error, redactor);
  }
}

function typedError(error: unknown, redactor: Redactor): unknown {
  const { exitCode, code, message: words, hint, diagnostics = [] } = shownErrorOf(error);
  if (exitCode === exitCodes.internal || !(error instanceof Error)) return error;
  // An error that contains a secret is not passed on as the cause.
  const cause = redactor.apply(error.stack ?? '') === error.stack ? { cause: error } : {};
  const message =
    diagnostics.length === 0
      ? inOptions(redactor.apply(words))
      : redactor.apply(diagnostics.map((one) => formatDiagnostic(one)).join('\n'));
  const options = { ...cause, diagnostics, hint: hint && inOptions(redactor.apply(hint)) };
  return new PromptpressError(code, exitCode, message, options);
}
