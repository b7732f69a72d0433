import { formatBranch } from '../pipeline/selector.ts';
import type { JobOrigin, JobRecord } from './job.ts';
import type { Place, Skeleton } from './place.ts';

/** Tells whether the button of a slot is optional, by where its job was first asked for. */
export type IsOptional = (slot: Pick<JobOrigin, 'step' | 'branch'>) => boolean;

/** For where no pipeline says anything. */
export const neverOptional: IsOptional = () => false;

/** {@link IsOptional} of a pipeline's places; the branches of wildcards are named by what they found. */
export function optionalIn({ places }: Pick<Skeleton, 'places'>): IsOptional {
  const branches = new Map<string, RegExp[]>();
  for (const place of places) {
    if (place.selector?.optional !== true) continue;
    const { name } = place.step;
    branches.set(name, [...(branches.get(name) ?? []), new RegExp(`^${branchPattern(place)}$`, 'u')]);
  }
  return ({ step, branch }) => branches.get(step)?.some((pattern) => pattern.test(branch)) ?? false;
}

function branchPattern({ above, wild, segment }: Place): string {
  const own = wild ? '.+' : segment === undefined ? '' : escaped(formatBranch([segment]));
  const start = above === undefined ? '' : branchPattern(above);
  return [start, own].filter((part) => part !== '').join('/');
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');

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
