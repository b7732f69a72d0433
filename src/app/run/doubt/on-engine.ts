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

/** How often is looked whether a worker is gone, ms. */
const lookMs = 500;

/** What decides when a job of an engine may be settled. */
export interface Settling {
  readonly decision: Decision;
  /** Commands about the job. */
  readonly commands: { readonly run: string | undefined; readonly status: string };
  /** Ends the wait. */
  readonly drain: AbortSignal;
  /** Says once that it is waited, and for what. */
  readonly say: (text: string) => void;
}

/**
 * Reads a job of an engine so that it can be settled beside workers that are at work: once nobody may be sending it any more. A worker
 * of which nothing is heard is waited for, two leases at most; one that is there is not.
 *
 * @returns undefined: the wait was ended @throws StateError `state.locked` (exit 75) where a worker may be sending it; CliError (exit 2)
 *   where something was heard of it; EngineError
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
    const { record, sender, heard } = job;
    if (!isInDoubt(record, false)) return job;
    if (heard !== undefined) throw heardMeanwhile(key, heard.taskId, settling);
    // A task that is there was sent: whoever sends it can only hear of it.
    const isSent = decision.kind === 'task' && record.status === 'in-doubt';
    if (sender === undefined || isSent) return job;
    if (sender.isThere) throw atWork(key, sender, record.status === 'in-doubt', settling);
    if (!isSaid)
      say(
        `Worker ${shownLine(sender.name)} may have been sending this job when it was heard of last. Once nothing is heard of it for ${secondsOf(sender.leaseMs)} it is known to be gone, and the job is settled. Ctrl-C leaves the job as it is.`,
      );
    await dead.look();
    await pause(clock, lookMs, drain);
  }
  return undefined;
}

function heardMeanwhile(key: string, taskId: string | undefined, { commands }: Settling): Error {
  const { run = 'promptpress run FILE --engine …' } = commands;
  return usageError(
    taskId === undefined
      ? `A worker has heard since that job ${key} certainly has no task: it settles itself.`
      : `A worker has heard since which task job ${key} has: ${shownLine(taskId)}. It settles itself.`,
    `A run that is on does so, or the next one: ${run}`,
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
      hint: `What it hears settles the job. Try again once the worker has ended, or ${secondsOf(leaseMs)} after it was killed: ${commands.status}`,
    },
  );
}

/** For how long nothing is to be heard of a worker, in words. */
const secondsOf = (leaseMs: number): string => `${Math.ceil((leasesSilent * leaseMs) / 1000)} s`;
