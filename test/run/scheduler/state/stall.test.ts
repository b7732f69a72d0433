import { describe, expect, it } from 'vitest';
import { ActiveJobs } from '../../../../src/run/scheduler/state/active-jobs.ts';
import { StallDetector } from '../../../../src/run/scheduler/state/stall.ts';
import { epoch, imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const tenMinutes = 600_000;

const activeJobs = (): ActiveJobs =>
  new ActiveJobs(
    virtualSettings(),
    () => 0.5,
    () => 1,
  );

const running = (key: string, minutes: number, unknown = false) =>
  job(imagineRecord({ key, status: 'running', taskId: `T-${key}`, submittedAt: epoch - minutes * 60_000 }), {
    want: { kind: 'wait', until: epoch + 1e9, next: { kind: 'nothing' } },
    ...(unknown && { unknown }),
  });

describe('the stall detector', () => {
  it('says nothing before no job has changed for ten minutes', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 1));
    const stall = new StallDetector(epoch);
    expect(stall.nextAt).toBe(epoch + tenMinutes);
    expect(stall.notice(jobs, epoch + tenMinutes - 1)).toBeUndefined();
    expect(stall.notice(jobs, epoch + tenMinutes)).toMatchObject({
      type: 'run:waiting',
      sinceMs: tenMinutes,
    });
  });

  it('says so again every ten minutes, with the time since the last change', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 1));
    const stall = new StallDetector(epoch);
    stall.notice(jobs, epoch + tenMinutes);
    expect(stall.notice(jobs, epoch + 2 * tenMinutes - 1)).toBeUndefined();
    expect(stall.notice(jobs, epoch + 2 * tenMinutes)).toMatchObject({ sinceMs: 2 * tenMinutes });
  });

  it('begins again when a job changes', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 1));
    const stall = new StallDetector(epoch);
    stall.moved(epoch + 5000);
    expect(stall.nextAt).toBe(epoch + 5000 + tenMinutes);
    expect(stall.notice(jobs, epoch + tenMinutes)).toBeUndefined();
  });

  it('says nothing while no job is active', () => {
    expect(new StallDetector(epoch).notice(activeJobs(), epoch + tenMinutes)).toBeUndefined();
  });

  it('names five jobs at the most, and tells unknown tasks apart', () => {
    const jobs = activeJobs();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) jobs.put(running(key, 30));
    jobs.put(running('lost', 30, true));
    const notice = new StallDetector(epoch).notice(jobs, epoch + tenMinutes);
    expect(notice).toMatchObject({ jobs: ['a', 'b', 'c', 'd', 'e'] });
    expect(notice).toMatchObject({ reason: expect.stringContaining('6 tasks are not finished') });
    expect(notice).toMatchObject({ reason: expect.stringContaining('T-lost') });
  });

  it('names a paused route before the tasks on the service', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 30));
    const waiting = job(textRecord({ key: 't' }));
    jobs.put(waiting);
    jobs.enqueue(waiting);
    const at = epoch + tenMinutes;
    jobs.routes.queues.text.route.note({ kind: 'throttled', retryAfterMs: 90_000, reason: '429' }, at);
    expect(new StallDetector(epoch).notice(jobs, at)).toMatchObject({
      reason: expect.stringContaining('no text request may leave for another 90 s'),
    });
  });
});
