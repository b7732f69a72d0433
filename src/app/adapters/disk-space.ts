import { statfsSync } from 'node:fs';
import type { StepNow } from '../../results/run-ledger.ts';
import { bytesOf, type DiskPort, type MadeFiles } from '../../run/resources/disk-space.ts';
import type { StateReader } from '../../state/reader.ts';

/** Disk facts from statfs(2), in blocks. */
export interface DiskFacts {
  /** Bytes per block. */
  readonly bsize: number;
  readonly blocks: number;
  /** Blocks that users other than root may still fill. */
  readonly bavail: number;
}

/** Jobs read to compute a mean size. Keys are hashes, so the first jobs are as good as a random sample. */
const maxJobs = 256;

/** Returns how many bytes this process may still write in a folder; undefined where the system does not report it. */
export function freeBytesIn(
  folder: string,
  statfs: (folder: string) => DiskFacts = statfsSync,
): number | undefined {
  try {
    const { bsize, blocks, bavail } = statfs(folder);
    // File systems without a fixed size report 0 blocks.
    return blocks > 0 ? bavail * bsize : undefined;
  } catch {
    // Writing then shows whether there is room.
    return undefined;
  }
}

/** Returns the free space of a run directory's disk and the known sizes of the files that the run writes there. */
export const diskOf = async (
  {
    directory,
    state: { reader },
  }: {
    readonly directory: string;
    readonly state: { readonly reader: Pick<StateReader, 'withStatus'> };
  },
  steps: readonly StepNow[],
  freeBytes: (folder: string) => number | undefined,
): Promise<DiskPort> => ({
  directory,
  freeBytes: () => freeBytes(directory),
  jobsLeft: leftOf(steps),
  made: await madeIn(reader),
});

function leftOf(steps: readonly StepNow[]): number | undefined {
  const left = steps.flatMap(({ total, counts: { done, failed, skipped, blocked, ...counts } }) =>
    total === undefined ? [] : [Math.max(0, total - done - failed - counts['in-doubt'] - skipped - blocked)],
  );
  return left.length === 0 ? undefined : left.reduce((sum, jobs) => sum + jobs, 0);
}

async function madeIn(state: Pick<StateReader, 'withStatus'>): Promise<MadeFiles> {
  let jobs = 0;
  let sum = 0;
  for await (const record of state.withStatus('done')) {
    jobs += 1;
    sum += bytesOf(record);
    if (jobs === maxJobs) break;
  }
  return { jobs, bytes: sum };
}
