import { formatBranch } from '../../pipeline/selectors/parse.ts';
import type { JobOrigin, JobRecord } from '../job.ts';
import { type SlotGraph, type SlotTemplate, unknownItem } from './slot-template.ts';

/** Tells whether the button of a job is optional, by the slot that asked for the job first. */
export type IsOptional = (slot: Pick<JobOrigin, 'step' | 'branch'>) => boolean;

/** An {@link IsOptional} that treats every button as required, for use without a pipeline. */
export const neverOptional: IsOptional = () => false;

/** How a pipeline judges failures. */
export interface FailureRules {
  readonly isOptional: IsOptional;
  /** Error codes of expected failures (`failures.accept`). */
  readonly accepted: ReadonlySet<string>;
}

/** The rules where no pipeline is known: every button is required, and no failure is expected. */
export const noFailureRules: FailureRules = { isOptional: neverOptional, accepted: new Set() };

/** Makes the {@link IsOptional} of a pipeline's places. Branches of wildcards have the names of the buttons found. */
export function optionalIn({ templates }: Pick<SlotGraph, 'templates'>): IsOptional {
  const branches = new Map<string, (readonly string[])[]>();
  for (const template of templates) {
    if (template.selector?.optional !== true) continue;
    const { name } = template.step;
    branches.set(name, [...(branches.get(name) ?? []), piecesOf(template)]);
  }
  return ({ step, branch }) => branches.get(step)?.some((pieces) => isMadeOf(pieces, branch)) ?? false;
}

/** Returns the texts between the wildcards of a place's branch; a single text is the whole branch. */
function piecesOf({ above, wild, segments }: SlotTemplate): readonly string[] {
  const pieces = above === undefined ? [''] : piecesOf(above);
  return segments.reduce<readonly string[]>((all, segment) => {
    const before = all.at(-1) ?? '';
    const isFirst = all.length === 1 && before === '';
    const joined = isFirst ? '' : `${before}/`;
    const isOpen = segment === unknownItem || (wild && segment === segments.at(-1));
    return isOpen
      ? [...all.slice(0, -1), joined, '']
      : [...all.slice(0, -1), joined + formatBranch([segment])];
  }, pieces);
}

/** Whether a branch consists of these texts with something between them. Uses the first match of each, in one pass. */
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
 * Whether a job failed because of a missing button that is optional: its slots are skipped, and nothing is wrong. If slots share a job,
 * the one that asked first decides.
 */
export const isSkipped = (
  { status, error, origin }: Pick<JobRecord, 'status' | 'error' | 'origin'>,
  isOptional: IsOptional,
): boolean => status === 'failed' && error?.code === missingCode && isOptional(origin);

/** Error code of a missing button. */
export const missingCode = 'button.missing';
