import { meaningOfCode } from '../../../pipeline/diagnostics/job-errors.ts';
import { isTextKind } from '../../../pipeline/kinds.ts';
import type { JobRecord, JobStatus } from '../../../plan/job.ts';
import { isInDoubt } from '../../../results/sums.ts';
import { isConfirmSent } from '../../../run/machine/modal.ts';
import { waysOut } from '../../facts/in-doubt.ts';
import type { JsonOutputs } from '../../facts/json-outputs.generated.ts';
import type { Commands } from '../next-commands.ts';
import { quoted } from '../printable.ts';

/** A command to copy, with a description. */
export type NextStep = JsonOutputs['show']['next'][number];

/** Advice about a failure that the pipeline accepts. */
export const acceptedAdvice = 'The pipeline accepts this failure (failures.accept): nothing has to be done.';

/** Whether a retry without changes may have another result. */
export const mayHelp = (code: string): boolean => meaningOfCode(code)?.retried !== 'no';

/** Whether another run directory has the job (`--reuse`): it is settled or repaired there. */
export const isOfReuse = (code: string): boolean => code.startsWith('reuse.');

/** The change where a message says what is wrong. */
export const byMessage = 'fix what the message above says; after an edit only changed jobs run';

/** Returns what the user must change after a failure; undefined if a retry may help. */
export const changeFor = (code: string): string | undefined =>
  mayHelp(code) ? undefined : (meaningOfCode(code)?.todo ?? byMessage);

const byKind: Readonly<Record<string, string>> = {
  download: 'The image is made and paid for: another try only downloads it.',
  service: 'The operator of the service can find the request by its id.',
};

/** Returns advice about an error code; undefined if the message says everything. */
export function adviceFor(
  code: string,
  { kind, attempts }: Pick<JobRecord, 'kind' | 'attempts'>,
): string | undefined {
  if (isTextKind(kind) && code.startsWith('download.'))
    return attempts === 0
      ? 'An image of its request could not be downloaded; nothing was sent, and nothing is paid.'
      : 'If an image of its answer could not be kept, another try calls the model again and is paid again.';
  return meaningOfCode(code)?.todo ?? byKind[code.split('.', 1)[0] ?? ''];
}

/** Returns possible next steps for a job, with commands to copy. */
export function nextSteps(
  about: {
    readonly record: JobRecord;
    /** Whether a run is active. */
    readonly running: boolean;
    /** Whether the job belongs to a run on an engine, where a job in doubt is settled beside the workers. */
    readonly shared?: boolean;
    /** The jobs that this job continues. */
    readonly inputs: readonly { readonly job: string; readonly status?: JobStatus | 'skipped' }[];
  },
  commands: Commands,
): readonly NextStep[] {
  const { record, running, shared = false, inputs } = about;
  const { key, status, error } = record;
  const { run = 'promptpress run FILE' } = commands;
  const wait: readonly NextStep[] = running
    ? [{ command: commands.status, does: 'shows the active run; the commands below are for after it' }]
    : [];
  const isText = isTextKind(record.kind);
  const goOn = (does: string): NextStep => ({ command: run, does });
  const redo: NextStep = {
    command: `${run} --redo ${key}`,
    does:
      record.attempts === 0 && status !== 'done'
        ? 'tries this job again: it was never sent'
        : `${isText ? 'asks this' : 'submits this job'} again: it is paid again`,
  };
  if (isInDoubt(record, running))
    return [
      ...(shared ? [] : wait),
      // After a confirmed dialog, a gateway that hides the task until the work is done reports the result to any later poll.
      ...(!running && isConfirmSent(record) && record.modal?.accepted !== true
        ? [goOn('polls its task again, which costs nothing: it continues if the confirmation arrived')]
        : []),
      ...(isOfReuse(error?.code ?? '')
        ? [
            {
              command: `${run} --reuse DIR`,
              does: 'takes it over, once the other run has settled or repaired it: nothing is paid for it',
            },
          ]
        : []),
      // A text call is in doubt only where another run has it, and has no task.
      ...(isText
        ? waysOut(commands.resolve(key), undefined).slice(1)
        : waysOut(commands.resolve(key), commands.find)),
    ];
  switch (status) {
    case 'done':
      return [...wait, redo];
    case 'failed':
      return [
        ...wait,
        ...(error?.code === 'task.timeout' ? [goOn('polls its task once more')] : []),
        ...(mayHelp(error?.code ?? '')
          ? [
              {
                command: `${run} --retry-failed --code ${quoted(error?.code ?? '')}`,
                does: 'retries all jobs that failed for this reason',
              },
            ]
          : []),
        // The image exists and only needs a download; making it again would pay twice.
        ...(error?.code.startsWith('download.') && !isText ? [] : [redo]),
      ];
    case 'pending': {
      const held = inputs.find((input) => input.status !== undefined && input.status !== 'done');
      return [
        ...wait,
        ...(held === undefined
          ? []
          : [{ command: commands.show(held.job), does: `it waits for this job, which is ${held.status}` }]),
        ...(running ? [] : [goOn('continues, and submits it when its turn comes')]),
      ];
    }
    case 'submitting':
    case 'running':
    case 'modal':
    case 'saving':
    case 'in-doubt':
      if (running) return wait;
      return [
        goOn(
          isText ? 'asks again: a text call is never in doubt' : 'continues it; nothing is submitted again',
        ),
      ];
  }
}
