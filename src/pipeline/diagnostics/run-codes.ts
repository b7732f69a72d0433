import type { JobErrorCode } from './job-errors.ts';

/** What a refusal of a state, a directory or an engine means, and the exit code of the command. */
interface Refusal {
  readonly what: string;
  readonly exit: 2 | 74 | 75;
}

const refusals = <C extends string>(
  exit: Refusal['exit'],
  words: Readonly<Record<C, string>>,
): Readonly<Record<C, Refusal>> =>
  Object.fromEntries(Object.entries<string>(words).map(([code, what]) => [code, { what, exit }])) as Record<
    C,
    Refusal
  >;

/** Every code of what a command is refused for by its state, its run directory or its engine. */
export const refusalCodes = {
  ...refusals(2, {
    'directory.foreign': 'The folder holds something else, or is not that of a run.',
    'directory.kind': 'Something that is no folder, or no file, has the name of one of a run directory.',
    'directory.link': 'A link has the name of a file or a folder of a run directory.',
    'directory.stranger': 'The state was made by somebody else, or on another machine.',
    'directory.system': 'A folder of the system cannot be a run directory.',
    'directory.tracked': 'Git tracks files of the run directory, so they may come from somebody else.',
    'engine.address': 'The address of the engine is not valid.',
    'engine.database': 'The engine has no such database.',
    'engine.empty': 'No run was ever made in the engine.',
    'engine.encoding': 'The encoding of the database is not UTF8.',
    'engine.durability': 'The engine confirms data that is on no disk yet.',
    'engine.password': 'The engine refuses the user or the password.',
    'engine.pooler': 'A pooler before the engine refuses settings of a session.',
    'engine.rights': 'The user lacks rights in the database of the engine.',
    'engine.schema': 'The tables of the engine are those of another release, or were changed.',
    'engine.standby': 'The engine is a standby, which nobody can write to.',
    'engine.tls': 'The engine cannot be reached over TLS as its address requires.',
    'engine.version': 'PostgreSQL is too old.',
    'state.foreign':
      'A file is none of promptpress, or the directory is that of another pipeline or service.',
    'state.network': 'The state lies on a network file system, which cannot lock it.',
    'state.schema': 'The state is not as promptpress made it.',
    'state.version': 'The state is that of another release.',
  }),
  ...refusals(74, {
    'engine.away': 'The engine does not answer.',
    'engine.busy': 'The engine is too busy.',
    'engine.clock': 'The clocks of the engine and of this machine differ.',
    'engine.connections': 'The engine has no connection left.',
    'engine.damaged': 'The engine holds what promptpress does not write.',
    'engine.full': 'The engine has no space left on its disk.',
    'engine.io': 'The engine failed.',
    'engine.lost': 'The engine became unusable while a run used it.',
    'engine.readonly': 'The engine is read-only.',
    'state.busy': 'Another program keeps the state locked.',
    'state.corrupt': 'The state is damaged.',
    'state.full': 'The disk of the state is full.',
    'state.gone': 'The run was removed meanwhile.',
    'state.io': 'The state could not be read or written.',
    'state.old': 'The state is older than its run, so that paid work is missing in it.',
    'state.older': 'The state was made by an earlier release that was never published.',
    'state.readonly': 'The state cannot be written.',
    'state.replaced': 'The state was removed or replaced while a run used it.',
  }),
  ...refusals(75, { 'state.locked': 'Another process holds the directory or the run.' }),
} as const;

/** A code of what a command is refused for. */
export type RefusalCode = keyof typeof refusalCodes;

/** Every code that a run ends with before its plan is done, beside those of refusals and of jobs. */
export const endCodes = {
  'budget.cost': 'budget.cost is reached.',
  'budget.max-submits': '--max-submits is reached.',
  'budget.submits': 'budget.submits is reached.',
  'budget.tokens': 'budget.tokens is reached.',
  'budget.unpriced': 'A job has no price, and budget.cost cannot count it.',
  'click.never-works': 'One click failed 20 times for the same reason, and never worked.',
  'downloads.in-vain': 'No file could be downloaded for retry.patience, or all links are refused.',
  'input.lacked': 'No worker has a file that the run shows.',
  internal: 'A bug of promptpress.',
  'kind.unserved': 'The service served one kind of request not once, and others all the while.',
  'route.patience': 'No request of a kind was served for retry.patience.',
  'route.refused': 'The service refused 20 requests of one kind in a row with the same answer.',
  'run.max-duration': '--max-duration is reached.',
  'run.max-failures': '--max-failures is reached.',
  'tasks.failing': 'Tasks of one kind were accepted and failed, and none succeeded.',
  'tasks.forgotten': 'The service accepts tasks and knows none of them afterwards.',
} as const;

/** A code that a run ends with, or that a kind of request closes with. */
export type EndCode = keyof typeof endCodes | RefusalCode | JobErrorCode;

/** Every code of a warning of a plan or a run, beside those above: nothing has failed. */
export const noticeCodes = {
  'disk.low': 'Little space is left on the disk.',
  'download.half': 'Half of a file seems to be missing; it came like this twice, and is kept.',
  'download.own-link':
    'Links lead to a host of this machine or network, which is let in for the base address.',
  'input.differs': 'A file of the run is missing on this machine, or differs.',
  message: 'What the command would print on standard error.',
  'plan.at-most': 'There are too many slots to examine each: counts are upper bounds.',
  'plan.invalid': 'Slots fail without a request.',
  'plan.lists': 'How many items a list of each has, or frames a job, is known only in the run.',
  'plan.not-kept': 'Images of finished answers were not kept.',
  'plan.open': 'How many buttons a wildcard finds is known only in the run.',
  'plan.shared': 'Slots ask for exactly what another one asks for: that is made once.',
  'redo.failed': 'A job could not be made again, and stays as it was.',
  'redo.made': 'A job that is to be made again was made already.',
  'redo.same': 'A job that is made again gives the same image.',
  'results.away': 'Results cannot be written for now, so nothing new is begun.',
  'run.slept': 'The machine slept, or the process was stopped.',
  'seed.unread': 'The seed of a grid could not be read, so its column stays empty.',
  'tokens.untold': 'A reply has no count of tokens, so an estimate counts.',
} as const;

/** A code of a warning. */
export type NoticeCode = keyof typeof noticeCodes | EndCode;
