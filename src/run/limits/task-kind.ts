import type { JobRecord } from '../../plan/job.ts';
import type { JobRequest, Press } from '../../plan/job-request.ts';
import { promptOf } from '../../plan/request/text.ts';
import { canConfirm } from '../machine/modal.ts';

/** A kind of tasks that take about equally long. */
export interface TaskKind {
  /** Operation, model version, speed: `imagine v6.1 fast`, `click U fast`. */
  readonly name: string;
  /** The broader class used while little is known of the kind: `imagine`, `click`. */
  readonly broader: string;
}

/** Length of the end of a prompt that is searched for flags, in characters. */
const flagCharacters = 500;
const longestName = 80;

/** Cache of kinds by request. All records of a job share one request object. */
const kinds = new WeakMap<JobRequest, string>();

/** Returns the kind of a job's task: the operation without numbers, so that U1 to U4 share an estimate, the model version and the speed. */
export function kindOf(record: JobRecord): TaskKind {
  const { request, modal, speed, pressed } = record;
  let name = kinds.get(request);
  if (name === undefined) {
    name = [operationOf(request), ...versionIn(promptOf(request.fields) ?? '')]
      .join(' ')
      .slice(0, longestName);
    kinds.set(request, name);
  }
  // The time until a modal opens does not predict the work that follows.
  const opens = modal === undefined && canConfirm(record);
  const version = pressed === undefined ? [] : versionOfButton(pressed.customId);
  return {
    name: [name, ...version, ...(opens ? ['opens'] : []), ...(speed === undefined ? [] : [speed])].join(' '),
    broader: opens ? 'opens' : request.kind,
  };
}

function operationOf(request: JobRequest): string {
  if (request.press === undefined) return request.kind;
  const press = request.press[0];
  return `click ${press === undefined ? '' : wordsOf(press).replaceAll(/\d+/g, '')}`;
}

function wordsOf(press: Press): string {
  switch (press.kind) {
    case 'text':
      return press.text;
    case 'word':
      return press.word;
    case 'pattern':
      return press.source;
  }
}

/** The model version set in a prompt: `--v 6.1`, `--version 7`, `--niji 6`. */
function versionIn(prompt: string): readonly string[] {
  const flag = /--(v|version|niji)\s{1,3}(\d[\d.]{0,5})/.exec(prompt.slice(-flagCharacters));
  return flag === null ? [] : [`${flag[1] === 'niji' ? 'niji' : 'v'}${flag[2]}`];
}

/** The model version in the name of a button's operation: `upsample_v6_2x_subtle`. */
function versionOfButton(customId: string): readonly string[] {
  const name = /_v(\d[a-z\d]{0,3})_/.exec(customId.slice(0, 100));
  return name === null ? [] : [`v${name[1]}`];
}
