import type { SaveFailure } from '../../artifacts/writer.ts';
import type { Job } from '../machine/job.ts';
import { freshRequest } from '../machine/save.ts';
import type { RunInput } from './commit.ts';
import { halt } from './drain.ts';
import { placeJob } from './place-job.ts';
import { awaitVerdict, failAllRefused } from './refused-jobs.ts';
import { filesInVain } from './state/file-troubles.ts';
import type { SchedulerState } from './state/state.ts';

/** Notes a file that was downloaded or could not be. */
export function noteSaved(
  state: SchedulerState,
  { key, result }: Extract<RunInput, { type: 'saved' }>,
): void {
  const { jobs, kinds, options, now } = state;
  const { files } = jobs;
  const job = jobs.get(key);
  if (result.ok) {
    const { warning } = result;
    if (warning !== undefined)
      state.outbox.emit({ type: 'run:notice', code: 'download.half', message: `${warning}.` });
    files.saved();
    return failAllRefused(state, kinds.downloads);
  }
  if (result.error.class === 'stop' || job === undefined) return;
  // An expired link says nothing about the fresh link that is requested next.
  const { retry } = options.settings;
  if (result.error.class === 'fresh-link' && job.misses === 0 && retry.attempts > 1) return;
  const { isShut: wasShut } = jobs;
  files.failed(`${key}/${job.record.artifacts.length}`, result.error, now);
  if (jobs.isShut && !wasShut) {
    const message = `None of the last ${filesInVain} files could be downloaded: no new task begins until one can be. The last error: ${result.error.message}`;
    state.outbox.emit({ type: 'run:notice', code: 'downloads.in-vain', message });
  }
  const end = files.end(now, retry.patienceMs);
  if (end !== undefined) halt(state, { kind: 'stopped', ...end });
}

/**
 * Suspends a job whose file was given up while no file can be downloaded: a later run downloads the file without paying. While the run
 * begins no new tasks, it retries failures that may pass.
 */
export function suspendUnsaved(state: SchedulerState, before: Job, failed: Job, failure: SaveFailure): void {
  const { kinds, jobs, now, options } = state;
  const { key } = before.record;
  const mayPass = failure.class === 'retry' || failure.class === 'throttle';
  const until = jobs.isShut && mayPass ? now + options.settings.retry.capMs : Number.POSITIVE_INFINITY;
  placeJob(state, before, {
    ...before,
    misses: 0,
    nextRequest: { kind: 'wait', until, next: freshRequest(before) },
  });
  if (Number.isFinite(until) || state.jobs.get(key) === undefined) return;
  awaitVerdict(state, kinds.downloads, key, { failed, wasPutBack: false });
}
