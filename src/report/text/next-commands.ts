import type { AxisSetting, Pipeline } from '../../pipeline/pipeline.ts';
import type { Selection } from '../../plan/cell.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import { finding } from '../facts/in-doubt.ts';
import type { End } from '../facts/json-outputs.generated.ts';
import { artifactPlaceFact, runDirectory } from '../facts/layout.ts';
import { type RunPlace, seenFrom } from '../facts/place.ts';
import { readRunFacts } from '../facts/run.ts';
import { sandboxId } from '../facts/services.ts';
import { quoted, shownLine } from './printable.ts';

/** Command lines to copy, for a run directory and its jobs. */
export interface Commands {
  /** Repeats the last run: same pipeline, directory and selection. Undefined if nothing has run. */
  readonly run: string | undefined;
  /** Like {@link run}, with `--in-doubt find`. Undefined if submissions have no tag (`service.tag`). */
  readonly find: string | undefined;
  readonly status: string;
  readonly manifest: string;
  readonly report: string;
  show(key: string): string;
  /** Settles a job; `--task ID`, `--drop` or `--retry` must follow. */
  resolve(key: string): string;
}

/** Returns the commands that name a job. @param directory relative to the current folder */
export const jobCommands = (
  directory: string,
): Pick<Commands, 'status' | 'manifest' | 'report' | 'show' | 'resolve'> => ({
  manifest: `promptpress manifest ${quoted(directory)}`,
  report: `promptpress report ${quoted(directory)}`,
  status: `promptpress status ${quoted(directory)}`,
  show: (key) => `promptpress show ${key} ${quoted(directory)}`,
  resolve: (key) => `promptpress resolve ${key} ${quoted(directory)}`,
});

/**
 * Returns the commands for the last run of a directory.
 *
 * @param pipeline its name decides whether a run uses this directory by default; absent: the directory is named and submissions have
 *   tags
 */
export async function commandsOf(
  place: RunPlace,
  state: StateReader,
  pipeline: Pick<Pipeline, 'name' | 'source' | 'service'> | undefined,
  cwd: string,
): Promise<Commands> {
  const run = await lastRun(place, state, pipeline, cwd);
  const isTagged = pipeline?.service.tag !== false;
  const find = run !== undefined && isTagged ? `${run} --in-doubt find` : undefined;
  return { ...jobCommands(place.name), run, find };
}

async function lastRun(
  { name, directory, engine }: RunPlace,
  state: StateReader,
  pipeline: Pick<Pipeline, 'name' | 'source'> | undefined,
  cwd: string,
): Promise<string | undefined> {
  const facts = await readRunFacts(state);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || path === undefined) return undefined;
  const { limit, filters, shard, only } = facts.selection;
  const sandbox = facts.serviceId === sandboxId;
  const isDefault =
    pipeline !== undefined && runDirectory(pipeline, { out: undefined, sandbox }, cwd) === directory;
  return runAgain(seenFrom(cwd, path), {
    sandbox,
    engine,
    out: isDefault ? undefined : engine === undefined ? name : await outOf(directory, state, cwd),
    // The run directory knows the place of its files, and the user must give --trust-directory each time.
    set: facts.set ?? [],
    limit,
    filter: filters ?? [],
    shard,
    only: only ?? [],
  });
}

/** Returns the place of a run's files, as in its `--out`. */
const outOf = async (directory: string, state: StateReader, cwd: string): Promise<string> =>
  (await state.fact(artifactPlaceFact)) ?? seenFrom(cwd, directory);

/** Flags with a value that select the directory of a run, in the order of a command. */
const valueFlags = ['pace', 'engine', 'out', 'run-directory', 'base-url', 'files-root', 'speed'] as const;

/** Flags that select the directory of a run and a part of its plan. Faults of the sandbox are left out, so that the next run succeeds. */
interface PlaceAndPart extends Partial<Record<(typeof valueFlags)[number], string | number | undefined>> {
  readonly sandbox: boolean;
  readonly 'trust-directory'?: boolean;
  readonly set: readonly AxisSetting[];
  readonly limit: Selection['limit'] | undefined;
  readonly filter: NonNullable<Selection['filters']>;
  readonly shard: Selection['shard'] | undefined;
  readonly only: NonNullable<Selection['only']>;
}

/** Returns the command that continues a run with the same pipeline, directory and selection. */
export function runAgain(file: string, flags: PlaceAndPart): string {
  const { limit, shard } = flags;
  const words = [
    'promptpress run',
    quoted(file),
    ...(flags.sandbox ? ['--sandbox'] : []),
    ...valueFlags.slice(0, 4).flatMap((name) => flag(name, flags[name])),
    ...(flags['trust-directory'] ? ['--trust-directory'] : []),
    ...valueFlags.slice(4).flatMap((name) => flag(name, flags[name])),
    ...flags.set.flatMap(({ axis, value }) => flag('set', `${axis}=${value}`)),
    ...flag('limit', limit),
    ...flags.filter.flatMap(({ axis, value }) => flag('filter', `${axis}=${value}`)),
    ...flag('shard', shard && `${shard.index}/${shard.of}`),
    ...flags.only.flatMap((step) => flag('only', step)),
  ];
  return words.join(' ');
}

/** Formats axis settings as flags for a shell: `--set animal=lynx --set seed=7`. */
export const setWords = (set: readonly AxisSetting[]): string =>
  set.flatMap(({ axis, value }) => flag('set', `${axis}=${value}`)).join(' ');

const flag = (name: string, value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name} ${quoted(String(value))}`];

interface Place {
  readonly directory: string;
  readonly running: boolean;
}

/**
 * Returns commands for all jobs in doubt and for the first of them.
 *
 * @param engine present for a run on an engine, whose jobs can be settled beside its workers
 */
export function inDoubtAdvice(
  {
    directory,
    inDoubt,
    running,
    engine,
  }: Place & { readonly inDoubt: readonly { readonly job: string }[]; readonly engine?: unknown },
  find: string | undefined,
): readonly string[] {
  const [first] = inDoubt;
  if (first === undefined) return [];
  const { show, resolve } = jobCommands(directory);
  return [
    ...(find === undefined
      ? []
      : ['', `${running ? 'Once the run is over, this' : 'This'} ${finding}:`, `  ${shownLine(find)}`]),
    '',
    running && engine === undefined
      ? 'To see the facts about one, and to settle it once the run is over:'
      : 'To see the facts about one, and to settle it:',
    `  ${shownLine(show(first.job))}`,
    `  ${shownLine(resolve(first.job))} --task TASK_ID | --retry | --drop`,
  ];
}

/** Advice for a run that was killed or aborted, so that its manifest is missing or old. */
export const manifestAdvice = ({
  directory,
  running,
  startedAt,
  end,
}: Place & { readonly startedAt?: string; readonly end?: End }): readonly string[] =>
  running || startedAt === undefined || (end !== undefined && !(end.kind === 'interrupted' && end.forced))
    ? []
    : [
        '',
        'A run writes its manifest when it ends, and the last one did not get that far. This writes it from the state:',
        `  ${shownLine(jobCommands(directory).manifest)}`,
      ];

/** Returns one sentence of advice for a run on an engine in a state; undefined if there is none. @param name `postgres://…#name` */
export function stageAdvice(state: string, name: string): string | undefined {
  const engine = quoted(name.split('#', 1)[0] ?? '');
  switch (state) {
    case 'registered':
      return `no worker has begun; start one: promptpress worker --engine ${engine}`;
    case 'waiting':
      return `no worker is at work; start one: promptpress worker --engine ${engine}`;
    case 'running':
      return `promptpress status ${quoted(name)} --watch shows it, promptpress stop ${quoted(name)} ends it.`;
    case 'killed':
      return 'its coordinator ended before all cells were given; the same command continues it.';
    case 'stopped':
    case 'interrupted':
    case 'budget':
    case 'disk':
      return 'the same command continues it.';
    default:
      return undefined;
  }
}
