import { readSharedJob, type SharedJob } from '../../../engine/doubts.ts';
import { leasesSilent } from '../../../engine/slices/beat-fence.ts';
import { DeadSessions } from '../../../engine/slices/dead-sessions.ts';
import { pause } from '../../../engine/slices/feeder.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { isInDoubt } from '../../../results/sums.ts';
import { StateError } from '../../../state/store.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { EngineRun } from '../../service/engine/run.ts';
import type { Decision } from './resolution.ts';

/** How often to check whether a worker is gone, ms. */
const lookMs = 500;

/** The context of a command that settles a job of an engine. */
export interface Settling {
  readonly decision: Decision;
  /** Commands about the job, for hints. */
  readonly commands: { readonly run: string | undefined; readonly status: string };
  /** Aborts the wait. */
  readonly drain: AbortSignal;
  /** Reports, once, what the command waits for. */
  readonly say: (text: string) => void;
}

/**
 * Reads a job of an engine once no worker can be sending it, so that it can be settled while workers are running. Waits for a worker
 * without a heartbeat, two leases at most; does not wait for a live worker.
 *
 * @returns undefined if the wait was aborted
 * @throws StateError `state.locked` (exit 75) if a worker may be sending it; CliError (exit 2) if an answer to it has arrived; EngineError
 */
export async function jobToSettle(
  { engine: { pool, clock }, run }: EngineRun,
  key: string,
  settling: Settling,
): Promise<SharedJob | undefined> {
  const { decision, drain, say } = settling;
  const dead = new DeadSessions(pool, run);
  for (let isSaid = false; !drain.aborted; isSaid = true) {
    const job = await readSharedJob(pool, run, key);
    if (job === undefined) throw new Error(`Internal error: job ${key} was found and has no record.`);
    const { record, sender, lateFact } = job;
    if (!isInDoubt(record, false)) return job;
    if (lateFact !== undefined) throw foundMeanwhile(key, lateFact.taskId, settling);
    // A task that exists was sent: its sender can only receive the answer.
    const isSent = decision.kind === 'task' && record.status === 'in-doubt';
    if (sender === undefined || isSent) return job;
    if (sender.isThere) throw atWork(key, sender, record.status === 'in-doubt', settling);
    if (!isSaid)
      say(
        `Worker ${shownLine(sender.name)} may have been sending this job when it was last heard from. Once nothing is heard from it for ${secondsOf(sender.leaseMs)} it is known to be gone, and the job is settled. Ctrl-C leaves the job as it is.`,
      );
    await dead.look();
    await pause(clock, lookMs, drain);
  }
  return undefined;
}

function foundMeanwhile(key: string, taskId: string | undefined, { commands }: Settling): Error {
  const { run = 'promptpress run FILE --engine …' } = commands;
  return usageError(
    taskId === undefined
      ? `A worker has learned since that job ${key} certainly has no task: the job settles itself.`
      : `A worker has learned since which task job ${key} has: ${shownLine(taskId)}. The job settles itself.`,
    `The current run does so, or the next one: ${run}`,
  );
}

function atWork(
  key: string,
  { name, leaseMs }: NonNullable<SharedJob['sender']>,
  isLost: boolean,
  { commands }: Settling,
): Error {
  const worker = shownLine(name);
  return new StateError(
    'state.locked',
    isLost
      ? `Worker ${worker} may still be sending job ${key}: it has lost the job to others, and is still there.`
      : `Worker ${worker} is sending job ${key} now: it is not in doubt.`,
    {
      hint: `Its answer settles the job. Try again once the worker has ended, or ${secondsOf(leaseMs)} after it was killed: ${commands.status}`,
    },
  );
}

/** Returns how long a worker must be silent before it counts as gone, in words. */
const secondsOf = (leaseMs: number): string => `${Math.ceil((leasesSilent * leaseMs) / 1000)} s`;
