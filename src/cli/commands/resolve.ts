import { closingAfter, type Disposables } from '../../app/adapters/disposables.ts';
import type { Context } from '../../app/context.ts';
import { CliError, exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { type Decision, resolveInDoubt } from '../../app/run/doubt/resolution.ts';
import type { EngineRun } from '../../app/service/engine/run.ts';
import { lockState } from '../../app/workspace/checks/maker.ts';
import { checkAge } from '../../app/workspace/checks/stale-state.ts';
import { openJob } from '../../app/workspace/find-job.ts';
import { keptPipeline } from '../../app/workspace/last-pipeline.ts';
import { isTextKind } from '../../pipeline/kinds.ts';
import type { JobRecord } from '../../plan/job.ts';
import { type Commands, commandsOf } from '../../report/text/next-commands.ts';
import { shownLine } from '../../report/text/printable.ts';
import { isInDoubt } from '../../results/sums.ts';
import { priceOfJob } from '../../run/run-plan.ts';
import { isUsableTaskId } from '../../service/image/task-id.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Turn } from '../../state/store.ts';
import { command } from '../args/command.ts';
import { type FlagValues, toggle, valued } from '../args/flags.ts';
import { targetFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';

const taskId = (text: string, name: string): string => {
  const id = text.trim();
  if (isUsableTaskId(id)) return id;
  throw usageError(
    `${name} takes the id of one task as the service shows it, not "${text}".`,
    'An id has no white space and no comma.',
  );
};

const decisionFlags = {
  task: valued('ID', 'the service made this task: adopt it; the next run polls it', taskId),
  drop: toggle('give it up: it counts as failed (job.dropped), until --retry-failed'),
  retry: toggle('let the next run submit it again, which may be paid twice'),
} as const;

/** `promptpress resolve JOB [FILE|DIR]` */
export const resolve = command(
  {
    name: 'resolve',
    summary: summaries.resolve,
    operands: 'JOB [FILE|DIR]',
    about: `A job is in doubt when its submission was sent and no response came: the service may have made and charged it, or not. Look for its prompt in the service's list of tasks (promptpress show JOB has the prompt and the time), then decide. Nothing is sent now: the next run follows the decision. The command is refused during a run (exit 75), and for jobs that are not in doubt. Jobs of a run on an engine (postgres://…#NAME) are settled beside its workers; this is refused only while the worker that sent the job may still be sending it. For a killed worker the command waits, two leases (--lease) at most.
JOB is its key or the beginning of it. Without FILE|DIR: the current folder if that is a run directory, else the one that knows the job under runs/, here or in a folder of this one. For all jobs in doubt at once there are promptpress run FILE --in-doubt find, which searches the service's list of tasks, and --in-doubt retry.`,
    examples: [
      {
        command: 'promptpress resolve 3f9c21 --task 1762000000000123',
        does: 'it was made: this is its task',
      },
      { command: 'promptpress resolve 3f9c21 runs/foxes --retry', does: 'it was not made: submit it again' },
      { command: 'promptpress resolve 3f9c21 --drop', does: 'give the job up' },
    ],
    flags: {
      ...decisionFlags,
      ...targetFlags,
    },
  },
  { least: 1, most: 2 },
  async (flags, [named = '', target], context) =>
    await closingAfter(async (disposables) => {
      checkOneDecision(flags);
      const { io } = context;
      const job = await openJob(named, target, flags, context);
      const { directory, place, engine, key } = job;
      const decision = decisionOf(flags);
      const jobPlace =
        engine === undefined
          ? await inDirectory(directory, key, job.state, flags['trust-directory'], disposables, context)
          : await onEngine(engine, key, decision, disposables, context);
      const { reader } = jobPlace;
      const pipeline = await keptPipeline(directory, reader, io);
      const commands = await commandsOf(place, reader, pipeline, io.cwd);
      const found = await jobPlace.read(commands);
      if ('interrupted' in found) return found.interrupted;
      const record = doubtfulJob(key, found.record, commands);
      if (decision.kind === 'task' && isTextKind(record.kind))
        throw usageError(
          `Job ${key} is a text call, which has no task.`,
          '--retry asks again; --drop gives it up.',
        );
      if (decision.kind === 'task') await refuseOwnedTask(decision.taskId, record, reader);
      const price = pipeline && priceOfJob(pipeline.prices, record);
      if (!(await jobPlace.settle(resolveInDoubt(record, decision, price, io.now()))))
        throw new CliError(
          exitCodes.locked,
          `A worker has changed job ${key} meanwhile: nothing was settled.`,
          {
            hint: `What became of it: ${commands.show(key)}`,
          },
        );
      const isOn = engine !== undefined && (await place.owner()) !== undefined;
      await io.out(resolvedText(record, decision, place.name, commands, isOn));
      return exitCodes.ok;
    }),
);

/** Place of a job in doubt, and how to settle it there. */
interface JobPlace {
  readonly reader: StateReader;
  /** Reads the job to settle, or the exit code if the user interrupted the wait for it. */
  read(
    commands: Commands,
  ): Promise<{ readonly record: JobRecord | undefined } | { readonly interrupted: number }>;
  /** Settles the job. @returns false if another process has settled it */
  settle(turn: Turn): Promise<boolean>;
}

/** Opens the place of a job in a run directory and locks the directory. */
async function inDirectory(
  directory: string,
  key: string,
  opened: StateReader,
  trusted: boolean,
  disposables: Disposables,
  context: Context,
): Promise<JobPlace> {
  await opened.close();
  const state = lockState(directory, 'promptpress resolve', { trusted }, disposables, context);
  await checkAge(state.reader, directory, context.io.env);
  return {
    reader: state.reader,
    read: () => Promise.resolve({ record: state.get(key) }),
    settle: (turn) => {
      state.commit(turn);
      return Promise.resolve(true);
    },
  };
}

/** Opens the place of a job on an engine, beside its workers. */
async function onEngine(
  run: EngineRun,
  key: string,
  decision: Decision,
  disposables: Disposables,
  { io }: Context,
): Promise<JobPlace> {
  disposables.add(() => run.state.close());
  const [{ jobToSettle }, { settleSharedJob }] = await Promise.all([
    import('../../app/run/doubt/on-engine.ts'),
    import('../../engine/doubts.ts'),
  ]);
  let found: Awaited<ReturnType<typeof jobToSettle>>;
  return {
    reader: run.state,
    read: async (commands) => {
      const interrupts = io.interrupts();
      disposables.add(() => interrupts.stop());
      const say = (text: string): void => io.err(`${text}\n`);
      found = await jobToSettle(run, key, { decision, commands, drain: interrupts.drain, say });
      return found ?? { interrupted: exitCodes[interrupts.first() ?? 'SIGINT'] };
    },
    settle: async (turn) =>
      found !== undefined && (await settleSharedJob(run.engine.pool, run.run, found, turn)),
  };
}

type DecisionFlags = FlagValues<typeof decisionFlags>;

function checkOneDecision({ task, drop, retry }: DecisionFlags): void {
  const given = [
    ...(task === undefined ? [] : ['--task']),
    ...(drop ? ['--drop'] : []),
    ...(retry ? ['--retry'] : []),
  ];
  if (given.length === 1) return;
  throw usageError(
    given.length === 0
      ? 'resolve needs one of --task ID, --drop, --retry; none is given.'
      : `${given.join(' and ')} contradict one another: resolve takes one of --task ID, --drop, --retry.`,
    [
      '--task ID: the service made it, this is its task, and the next run polls it.',
      '--drop: it is given up, and counts as failed.',
      '--retry: the next run submits it again, which may be paid twice.',
    ].join('\n'),
    {
      kind: 'example',
      words: (words) =>
        given.length === 0
          ? [...words, '--drop']
          : words.filter((word) => word !== '--retry' && (task === undefined || word !== '--drop')),
    },
  );
}

function decisionOf({ task, drop }: DecisionFlags): Decision {
  if (task !== undefined) return { kind: 'task', taskId: task };
  return drop ? { kind: 'drop' } : { kind: 'retry' };
}

/** Checks that a job is in doubt. @throws CliError (exit 2) that names other commands for the job */
function doubtfulJob(key: string, record: JobRecord | undefined, commands: Commands): JobRecord {
  if (record === undefined) throw new Error(`Internal error: job ${key} was found and has no record.`);
  // No process waits for the response to its submission.
  if (isInDoubt(record, false)) return record;
  throw usageError(
    `Job ${key} is not in doubt, but ${record.status}: there is nothing to resolve.`,
    [
      ...(commands.run === undefined
        ? []
        : [`To make it again, and all jobs made from it: ${commands.run} --redo ${key}`]),
      `All facts about it: ${commands.show(key)}`,
    ].join('\n'),
  );
}

/** Checks that a task belongs to no other job, which would get the wrong image. @throws CliError (exit 2) */
async function refuseOwnedTask(id: string, { key }: JobRecord, state: StateReader): Promise<void> {
  for await (const other of jobsOfTask(id, state)) {
    if (other.key === key) continue;
    const { cell, step, branch } = other.origin;
    throw usageError(
      `Task ${id} belongs to another job: ${other.key} (cell ${cell}, ${shownLine(branch === '' ? step : `${step}/${branch}`)}).`,
      'Name a task that belongs to no other job.',
    );
  }
}

/** Yields jobs that have this task, wait for it with an open dialog, or had it before. */
async function* jobsOfTask(id: string, state: StateReader): AsyncGenerator<JobRecord> {
  for await (const record of state.mentioning(id))
    if (record.taskId === id || record.modal?.taskId === id) yield record;
  for await (const key of state.keysOfTask(id)) {
    const record = await state.get(key);
    if (record !== undefined) yield record;
  }
}

function resolvedText(
  { key, origin }: JobRecord,
  decision: Decision,
  directory: string,
  { run = 'promptpress run FILE' }: Commands,
  isOn: boolean,
): string {
  const slot = origin.branch === '' ? origin.step : `${origin.step}/${origin.branch}`;
  const job = `${key} (cell ${origin.cell}, ${shownLine(slot)})`;
  const place = shownLine(directory);
  switch (decision.kind) {
    case 'task':
      return `${job} in ${place} has task ${shownLine(decision.taskId)} now. ${isOn ? 'An active worker or the' : 'The'} next run polls it and submits nothing:\n  ${run}\n`;
    case 'drop':
      return `${job} in ${place} is given up: failed (job.dropped), and the jobs that depend on it are blocked. The next run continues without it, and its manifest shows that:\n  ${run}\n`;
    case 'retry':
      return `${job} in ${place} waits for its turn again. The next run submits it:\n  ${run}\n`;
  }
}
