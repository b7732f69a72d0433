import type { JobRecord } from '../plan/job.ts';

/**
 * The record of a finished job whose files are gone, or are to go: it stays done and paid. The next run that wants a file of it downloads it
 * from the service again, and submits nothing.
 */
export const withoutFiles = (record: JobRecord): JobRecord => ({ ...record, artifacts: [] });
