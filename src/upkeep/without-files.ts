import type { JobRecord } from '../plan/job.ts';

/**
 * Returns the record of a finished job without its files: it stays done and paid. The next run that uses a file downloads it from the
 * service again, and submits nothing. Frames are cut from that file again.
 */
export const withoutFiles = (record: JobRecord): JobRecord => ({ ...withoutFrames(record), artifacts: [] });

/** Returns a record without frames: the next run that uses them cuts the grid again, and downloads nothing. */
export function withoutFrames({ frames: _frames, ...record }: JobRecord): JobRecord {
  return record;
}
