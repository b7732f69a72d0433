import type { JobRecord } from '../plan/job.ts';
import { isTextKind } from '../plan/job-request.ts';

/**
 * True for a job whose submission was sent and whose answer nobody waits for any more: one in doubt, and one that a
 * killed run left behind, which the next run would call in doubt. A text call is asked again and never in doubt.
 *
 * @param running a run is on
 */
export const isInDoubt = ({ status, kind }: Pick<JobRecord, 'status' | 'kind'>, running: boolean): boolean =>
  status === 'in-doubt' || (status === 'submitting' && !running && !isTextKind(kind));

/** The three ways out of doubt: a command each, the beginning of which names the job. */
export const waysOut = (resolve: string): readonly { readonly command: string; readonly does: string }[] => [
  {
    command: `${resolve} --task TASK_ID`,
    does: 'the service has its task (look for the prompt in its list of tasks): takes that task on',
  },
  { command: `${resolve} --retry`, does: 'the next run submits it again: it may be paid twice' },
  { command: `${resolve} --drop`, does: 'gives it up: it counts as failed' },
];
