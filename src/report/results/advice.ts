import type { JobError } from '../../plan/job.ts';
import type { Slot } from '../../plan/slot.ts';
import { acceptedAdvice, adviceFor, isOfReuse, mayHelp, nextSteps } from '../text/job/advice.ts';
import type { Commands } from '../text/next-commands.ts';
import { quoted } from '../text/printable.ts';
import type { FailureGroup, PageDetail } from './wire.ts';

/** Facts from which advice about failures is made. */
export interface Advisor {
  readonly commands: Commands;
  /** Whether a run is active. */
  readonly running: boolean;
  readonly mask: (text: string) => string;
}

const inDoubtAdvice =
  'Its submission was sent and no answer came, so it may have been made and paid. Look for its task before it is submitted again.';
const retryAdvice = 'Another try may succeed.';
const editAdvice = 'The same request will fail again: change it in the pipeline.';

function wordsFor(slot: Slot, { code }: JobError): string {
  if (slot.status === 'in-doubt' && !isOfReuse(code)) return inDoubtAdvice;
  if (slot.accepted) return acceptedAdvice;
  const { kind, record } = slot;
  const usual = record === undefined || !mayHelp(code) ? editAdvice : retryAdvice;
  return adviceFor(code, { kind, attempts: record?.attempts ?? 0 }) ?? usual;
}

/** Returns advice for a slot that failed or is in doubt; undefined for other slots. */
export function adviceOn(
  slot: Slot,
  { commands, running, mask }: Advisor,
): Pick<PageDetail, 'advice' | 'commands'> {
  const { status, error, record } = slot;
  if (error === undefined || (status !== 'failed' && status !== 'in-doubt')) return {};
  const steps = record === undefined ? [] : nextSteps({ record, running, inputs: [] }, commands);
  return {
    advice: wordsFor(slot, error),
    ...(steps.length === 0 ? {} : { commands: steps.map(({ command }) => mask(command)) }),
  };
}

/** Returns common advice for failures with one reason. @param first one of the failed slots */
export function groupAdvice(
  first: Slot & { readonly error: JobError },
  hasJobs: boolean,
  { commands: given, mask }: Advisor,
): Pick<FailureGroup, 'advice' | 'commands'> {
  const { status, error, job } = first;
  const { run, find } = given;
  const again = run ?? 'promptpress run FILE';
  const commands =
    status === 'in-doubt'
      ? [
          ...(isOfReuse(error.code) ? [`${again} --reuse DIR`] : find === undefined ? [] : [find]),
          ...(job === undefined ? [] : [given.show(job.key)]),
          `${again} --in-doubt retry`,
        ]
      : [
          ...(error.code === 'task.timeout' ? [again] : []),
          ...(hasJobs && mayHelp(error.code) ? [`${again} --retry-failed --code ${quoted(error.code)}`] : []),
        ];
  return { advice: wordsFor(first, error), commands: commands.map(mask) };
}
