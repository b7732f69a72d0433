import type { FormerResult, JobRecord } from '../job.ts';

/**
 * The part of a finished job that is kept while the job is redone, until there is a new result: it is paid, and may stay
 * the only result.
 */
export const formerOf = ({
  taskId,
  parentTaskId,
  from,
  kept,
  modal,
  pressed,
  speed,
  resubmits,
  submittedAt,
  finishedAt,
  result,
  text,
  turns,
  rounds,
  invalid,
  reusedFrom,
}: JobRecord): FormerResult => ({
  resubmits,
  ...(taskId === undefined ? {} : { taskId }),
  ...(parentTaskId === undefined ? {} : { parentTaskId }),
  ...(from === undefined ? {} : { from }),
  ...(kept === undefined ? {} : { kept }),
  ...(modal === undefined ? {} : { modal }),
  ...(pressed === undefined ? {} : { pressed }),
  ...(speed === undefined ? {} : { speed }),
  ...(submittedAt === undefined ? {} : { submittedAt }),
  ...(finishedAt === undefined ? {} : { finishedAt }),
  ...(result === undefined ? {} : { result }),
  ...(text === undefined ? {} : { text }),
  ...(turns === undefined ? {} : { turns }),
  ...(rounds === undefined ? {} : { rounds }),
  ...(invalid === undefined ? {} : { invalid }),
  ...(reusedFrom === undefined ? {} : { reusedFrom }),
});

/**
 * The record with the valid result: while a finished job is redone, the former result fills what is not there yet. Status,
 * error and counters are the current ones.
 */
export function standing(record: JobRecord): JobRecord {
  const { former } = record;
  if (former === undefined) return record;
  const {
    taskId: _task,
    parentTaskId: _parent,
    from: _from,
    kept: _kept,
    modal: _modal,
    pressed: _pressed,
    speed: _speed,
    submittedAt: _submitted,
    finishedAt: _finished,
    result: _result,
    text: _text,
    turns: _turns,
    rounds: _rounds,
    invalid: _invalid,
    reusedFrom: _reusedFrom,
    ...rest
  } = record;
  return { ...rest, ...former };
}
/** True where only files are missing: the buttons of the result can be pressed. */
export const lacksOnlyFiles = ({ status, result, error }: JobRecord): boolean =>
  status === 'failed' &&
  result !== undefined &&
  error?.code !== 'service.task-unknown' &&
  error?.code !== 'download.no-prompts';

/** True for a finished task whose files are still to be downloaded: its buttons can be pressed. A redo is none before its end. */
export const lacksFilesYet = ({ status, result, former }: JobRecord): boolean =>
  status === 'saving' && result !== undefined && former === undefined;
