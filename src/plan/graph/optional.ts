import { formatBranch } from '../../pipeline/selectors/parse.ts';
import type { JobOrigin, JobRecord } from '../job.ts';
import type { SlotGraph, SlotTemplate } from './slot-template.ts';

/** Says whether the button of a slot is optional, by the slot that asked for its job first. */
export type IsOptional = (slot: Pick<JobOrigin, 'step' | 'branch'>) => boolean;

/** For where no pipeline says anything. */
export const neverOptional: IsOptional = () => false;

/** {@link IsOptional} of a pipeline's places; the branches of wildcards are named by what they found. */
export function optionalIn({ templates }: Pick<SlotGraph, 'templates'>): IsOptional {
  const branches = new Map<string, (readonly string[])[]>();
  for (const template of templates) {
    if (template.selector?.optional !== true) continue;
    const { name } = template.step;
    branches.set(name, [...(branches.get(name) ?? []), piecesOf(template)]);
  }
  return ({ step, branch }) => branches.get(step)?.some((pieces) => isMadeOf(pieces, branch)) ?? false;
}

/** The texts that stand between the wildcards of a place's branch; one alone is the whole branch. */
function piecesOf({ above, wild, segment }: SlotTemplate): readonly string[] {
  const pieces = above === undefined ? [''] : piecesOf(above);
  const own = wild ? undefined : segment === undefined ? '' : formatBranch([segment]);
  if (own === '') return pieces;
  const before = pieces.at(-1) ?? '';
  const isFirst = pieces.length === 1 && before === '';
  const joined = isFirst ? '' : `${before}/`;
  return own === undefined ? [...pieces.slice(0, -1), joined, ''] : [...pieces.slice(0, -1), joined + own];
}

/** Whether a branch is these texts with something between each two: the first place of each will do, read once. */
function isMadeOf(pieces: readonly string[], branch: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return branch === first;
  const end = branch.length - last.length;
  if (!branch.startsWith(first) || !branch.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = branch.indexOf(piece, at + 1);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at < end;
}

/**
 * True for a job that failed for a button that is not there, where that is optional: its slots are skipped, and nothing is
 * wrong. Of slots that share a job the one that asked first counts.
 */
export const isSkipped = (
  { status, error, origin }: Pick<JobRecord, 'status' | 'error' | 'origin'>,
  isOptional: IsOptional,
): boolean => status === 'failed' && error?.code === missingCode && isOptional(origin);

/** The code of a button that is not there. */
export const missingCode = 'button.missing';
