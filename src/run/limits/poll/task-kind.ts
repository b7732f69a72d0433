import type { JobRecord } from '../../../plan/job.ts';
import type { JobRequest, Press } from '../../../plan/job-request.ts';
import { promptOf } from '../../../plan/request/text.ts';
import { canConfirm } from '../../machine/modal.ts';

/** What tasks have in common that take about equally long. */
export interface TaskKind {
  /** Operation, model version, speed: `imagine v6.1 fast`, `click U fast`. */
  readonly name: string;
  /** The broader class that a kind belongs to while little is known of it: `imagine`, `click`. */
  readonly broader: string;
}

/** Flags stand at the end of a prompt. */
const flagCharacters = 500;
const longestName = 80;

/** Kinds by request; a request is the same object for all records of a job. */
const kinds = new WeakMap<JobRequest, string>();

/** The kind of a job's task: its operation without numbers, so that U1 to U4 share one estimate, the model version and the speed. */
export function kindOf(record: JobRecord): TaskKind {
  const { request, modal, speed, pressed } = record;
  let name = kinds.get(request);
  if (name === undefined) {
    name = [operationOf(request), ...versionIn(promptOf(request.fields) ?? '')]
      .join(' ')
      .slice(0, longestName);
    kinds.set(request, name);
  }
  // The time until a modal opens is no measure of the work that follows.
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

/** The model version that a prompt asks for: `--v 6.1`, `--version 7`, `--niji 6`. */
function versionIn(prompt: string): readonly string[] {
  const flag = /--(v|version|niji)\s{1,3}(\d[\d.]{0,5})/.exec(prompt.slice(-flagCharacters));
  return flag === null ? [] : [`${flag[1] === 'niji' ? 'niji' : 'v'}${flag[2]}`];
}

/** The model version in the name of a button's operation: `upsample_v6_2x_subtle`. */
function versionOfButton(customId: string): readonly string[] {
  const name = /_v(\d[a-z\d]{0,3})_/.exec(customId.slice(0, 100));
  return name === null ? [] : [`v${name[1]}`];
}
