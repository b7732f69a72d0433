import type { FormerResult, JobRecord } from '../job.ts';

/** What is kept of a finished job that is made anew, until there is a new result: it is paid, and may be all there will be. */
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
  invalid,
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
  ...(invalid === undefined ? {} : { invalid }),
});

/**
 * The record with the result that stands: while a finished job is made anew, the former one in place of what is not there yet.
 * Status, error and all that is counted are those of now.
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
    invalid: _invalid,
    ...rest
  } = record;
  return { ...rest, ...former };
}
