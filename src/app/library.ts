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

/** What the library takes of the process that it is loaded into; it reads nothing else of it, and changes nothing. */
export interface Host {
  readonly machine: Machine;
  /** The current folder at the moment: what relative paths begin at. */
  cwd(): string;
  freeBytes: Io['freeBytes'];
  every: Io['every'];
}

/** What a pipeline is, and which service and which results are meant. */
export interface PipelineOptions {
  /** Rehearse with the local service: no key, no network, no cost. */
  readonly sandbox?: boolean;
  /** Address of the service; beats the variables and the file. */
  readonly baseUrl?: string;
  /** Key of the service; beats the variables and the file. */
  readonly apiKey?: string;
  /** Run directory, or `s3://BUCKET/PREFIX` for its results; default: `runs/<name>` beside the pipeline, in a rehearsal `runs/<name>.sandbox`. */
  readonly out?: string;
  /** Only cells with these values, by axis; several values of one axis: any of them. */
  readonly filter?: Readonly<Record<string, FilterValue | readonly FilterValue[]>>;
  /** Values in the place of axes of the matrix, as the pipeline may have them: a value, a list, `{ from, to }`. */
  readonly set?: Readonly<Record<string, unknown>>;
  /**
   * The variables of the environment, which no function here reads by itself: those that the pipeline names, `PROMPTPRESS_…`, proxies, `PATH`
   * (where git is), `XDG_STATE_HOME` and `HOME` (what is trusted). `process.env` makes a run the one that the command would make. Default:
   * none, and git where systems have it.
   */
  readonly env?: Environment;
}

/** A value of an axis, as `--filter` takes it. */
export type FilterValue = string | number | boolean;

/** How a pipeline is run. */
export interface RunOptions extends PipelineOptions {
  /**
   * Ends the run as Ctrl-C does: nothing new is started, what is in flight is settled, and the summary says `interrupted`. Aborted before the
   * run has begun, its reason is thrown.
   */
  readonly signal?: AbortSignal;
  /** Told of everything that happens, in order; where it throws, the run is ended in the same way, and its error thrown. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Run although the estimate is above `budget.ask`. */
  readonly yes?: boolean;
}

/** A run that has come to its end, whatever its end is: `summary.end` says which, `summary.exitCode` as the command would. */
export interface FinishedRun {
  /** Paths in it are relative to the current folder, as that was when the run began. */
  readonly summary: RunSummary;
  /** The rows of the manifest, read anew from the run directory each time; what ran there since is in them. It throws as the functions do. */
  readonly rows: () => AsyncIterable<ManifestRow>;
  /** The run directory, absolute. */
  readonly directory: string;
}

/** What was found in a pipeline, as `validate --json` says it of a file. */
export type ValidationResult = CheckedFile;

/** A failure that is expected: a pipeline that is not valid, a wrong option, a directory that another run holds, a disk that is full. */
export class PromptpressError extends Error {
  /** `pipeline.invalid`; `usage` for options, variables and files; else what the state, the disk or the bucket says, as `state.locked`. */
  readonly code: string;
  /** What the command would end with. */
  readonly exitCode: number;
  /** What to do about it; where no option here does that, it names the flag of the command. */
  readonly hint: string | undefined;
  /** Every mistake of the pipeline, with line and column; empty for all other failures. */
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

/** Folders in which systems have git. */
const usualPath = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';

/** Runs a pipeline on this machine. @throws PromptpressError for what is refused, before anything is sent */
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
    if (summary === undefined) throw new Error('Internal error: nobody goes on with a run of a library.');
    const directory = resolve(context.io.cwd, summary.directory);
    return { summary, directory, rows: () => rowsOf(directory, opened.read.path, flags, context) };
  });
  // As it is: an error of the caller's own file is no failure of the run's disk.
  if (thrown !== undefined) throw thrown.error;
  return finished;
}

/** Says what a run would do, and why; asks no service, and changes nothing. @throws PromptpressError */
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

/** Finds every mistake of a pipeline and its tables, all at once. @throws PromptpressError where there is no such file */
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

/** What stands for the process: no terminal, no questions, no signals. What it would print is told as notices. */
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
      // The heap and the compiler are the caller's.
      boundHeapGrowth: () => {},
      boundCompiler: () => {},
    },
    redactor,
  );
  const showProgress = () => ({ listener: tell, say: (text: string) => io.err(text), end: () => {} });
  return { io, redactor, showProgress };
}

/** Options as the flags of the command; all others as they are where a command line gives none. */
const flagsOf = ({
  sandbox = false,
  baseUrl,
  out,
  filter = {},
  set = {},
  ...more
}: RunOptions): RunFlags => ({
  ...noFlags,
  sandbox,
  'base-url': baseUrl,
  out,
  filter: Object.entries(filter).flatMap(([axis, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) => ({ axis, value: String(value) })),
  ),
  // JSON is YAML.
  set: Object.entries(set).map(([axis, value]) => ({ axis, value: JSON.stringify(value) })),
  yes: more.yes ?? false,
  'no-progress': true,
});

/** Flags and variables in messages, and what they are called here; variables become members of `env`. */
const optionWords: readonly (readonly [RegExp, string])[] = [
  [/--base-url\b/g, 'baseUrl'],
  [/: promptpress run \S+ --sandbox\b/g, ' (sandbox: true)'],
  [/--(sandbox|yes)\b/g, '$1: true'],
  [/--(out|filter|set)\b/g, '`$1`'],
  [/ \(export \w+=…\)/g, ''],
  [/(?:The environment variable )?(?<![.\w{])PROMPTPRESS_API_KEY\b/g, 'apiKey (or env.PROMPTPRESS_API_KEY)'],
  [/(?:The environment variable )?(?<![.\w{])(PROMPTPRESS_\w+)/g, 'env.$1'],
  [/The environment variable (\w+)/g, 'env.$1'],
];
const inOptions = (text: string): string =>
  optionWords.reduce((said, [word, option]) => said.replace(word, option), text);

/** Expected failures as errors of one type, without secrets; a bug is thrown as it is. */
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
  // An error that holds a secret is not handed on.
  const cause = redactor.apply(error.stack ?? '') === error.stack ? { cause: error } : {};
  const message =
    diagnostics.length === 0
      ? inOptions(redactor.apply(words))
      : redactor.apply(diagnostics.map((one) => formatDiagnostic(one)).join('\n'));
  const options = { ...cause, diagnostics, hint: hint && inOptions(redactor.apply(hint)) };
  return new PromptpressError(code, exitCode, message, options);
}
