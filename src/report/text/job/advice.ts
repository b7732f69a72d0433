import { isTextKind } from '../../../pipeline/kinds.ts';
import { droppedCode, type JobRecord, type JobStatus } from '../../../plan/job.ts';
import { isInDoubt } from '../../../results/sums.ts';
import { isConfirmSent } from '../../../run/machine/modal.ts';
import { waysOut } from '../../facts/in-doubt.ts';
import type { JsonOutputs } from '../../facts/json-outputs.generated.ts';
import type { Commands } from '../next-commands.ts';
import { quoted } from '../printable.ts';

/** A command to copy, with a description. */
export type NextStep = JsonOutputs['show']['next'][number];

const byCode: Readonly<Record<string, string>> = {
  [droppedCode]: 'You gave it up with promptpress resolve --drop.',
  'button.missing':
    'Name a button that its parent offers, or offer alternatives (A | B). After an edit only changed jobs run.',
  'button.ambiguous':
    'Name one of the buttons exactly, or fan out with a wildcard (Zoom Out *); a pattern may match only one.',
  'button.no-task': 'Press another button that its parent offers: this one will never be a single task.',
  'button.not-offered': 'Remove prompt and remix: such a gateway presses a button without changes.',
  'modal.unanswered':
    'Put the answer into its path (`prompt`, for a region `mask` too), or press a button that opens no dialog.',
  'mask.size':
    'Give a mask of exactly the size of the image, or draw it with shapes, which take any size. After an edit only changed jobs run.',
  'mask.unused':
    'Nothing was pressed, and nothing is paid: remove the mask, or, if a wildcard presses other buttons too, give it only to Vary (Region).',
  'modal.not-opened':
    'Its image was made without the answer of the path, and another try is paid again: set remix: true, press a button that opens a dialog, or remove the answer.',
  'parent.lost': 'Its parent is gone from the service: redo the parent with --redo, and this job with it.',
  'task.moderated': 'The same prompt will be refused again: change it in the pipeline.',
  'task.rejected': 'The same request will be refused again: change it in the pipeline.',
  'download.no-prompts':
    'Another try polls its task once more and costs nothing; with --redo it is described, and paid, again.',
  'task.timeout': 'Every later run polls its task once more before anything else.',
  'task.unknown': "Look its prompt up in the service's list of tasks, and name the task again.",
  'service.task-unknown': 'The service no longer knows its task: it can only be submitted again.',
  'text.blocked': 'The prompt itself was refused: change it, or the safetySettings, in the pipeline.',
  'text.filtered': 'The answer was held back by a filter: change the prompt or the safetySettings.',
  'text.max-tokens':
    'Raise generationConfig.maxOutputTokens (chat: max_tokens), or accept cut answers with accept: [MAX_TOKENS].',
  'text.empty': 'If thinking took all the tokens, raise maxOutputTokens or lower thinking.',
  'text.not-json':
    'Another model, or a simpler schema, may do better; retry.invalid says how often it is asked again.',
  'text.schema':
    'Another model, or a simpler schema, may do better; retry.invalid says how often it is asked again.',
  'function.unanswered': 'Give the function an answer in the step, or remove it from its tools.',
  'function.undeclared':
    'Declare the function (functions, or tools), or ask for an answer in words; what the model called is in the full answer.',
  'input.missing': 'Put the image where the pipeline says it is; the next run with --retry-failed sends it.',
  'input.changed': 'Run again: that plans with the file as it is now.',
  'service.not-offered':
    'Run the step on a gateway that offers it, or run the others with --only; --retry-failed asks for it again.',
  'service.no-channel': 'The service had no channel for it: nothing was made, and another try costs nothing.',
  'submit.refused': 'The service did not accept the request: its message shows whether another try can help.',
};

/** Advice about a failure that the pipeline accepts. */
export const acceptedAdvice = 'The pipeline accepts this failure (failures.accept): nothing has to be done.';

/** Error codes that a retry reproduces: the pipeline must be edited, or the parent job made again. */
const needChange: ReadonlySet<string> = new Set([
  droppedCode,
  ...(
    'button.missing button.ambiguous button.no-task button.not-offered modal.unanswered modal.not-opened mask.size mask.unused ' +
    'parent.lost task.moderated task.rejected text.blocked text.filtered text.max-tokens input.changed'
  ).split(' '),
]);

/** Whether a retry without changes may have another result. */
export const mayHelp = (code: string): boolean => !needChange.has(code);

/** Returns what the user must change after a failure; undefined if a retry may help. */
export const changeFor = (code: string): string | undefined => (mayHelp(code) ? undefined : byCode[code]);

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
  return byCode[code] ?? byKind[code.split('.', 1)[0] ?? ''];
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
      record.attempts === 0
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
      ...waysOut(commands.resolve(key), commands.find),
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
