import type { JobRecord } from '../plan/job.ts';

/**
 * The record of a finished job whose files are gone, or are to go: it stays done and paid. The next run that wants a file of it downloads it
 * from the service again, and submits nothing. Frames are cut from that file again.
 */
export const withoutFiles = (record: JobRecord): JobRecord => ({ ...withoutFrames(record), artifacts: [] });

/** The same where only frames are concerned: the next run that wants them cuts the grid again, and downloads nothing. */
export function withoutFrames({ frames: _frames, ...record }: JobRecord): JobRecord {
  return record;
}
