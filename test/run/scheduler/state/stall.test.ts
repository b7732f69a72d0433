import { describe, expect, it } from 'vitest';
import { ActiveJobs } from '../../../../src/run/scheduler/state/active-jobs.ts';
import { StallDetector } from '../../../../src/run/scheduler/state/stall.ts';
import { epoch, imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const tenMinutes = 600_000;

const activeJobs = (): ActiveJobs => new ActiveJobs(virtualSettings(), () => 1);

const running = (key: string, minutes: number, unknown = false) =>
  job(imagineRecord({ key, status: 'running', taskId: `T-${key}`, submittedAt: epoch - minutes * 60_000 }), {
    nextRequest: { kind: 'wait', until: epoch + 1e9, next: { kind: 'nothing' } },
    ...(unknown && { unknown }),
  });

describe('the stall detector', () => {
  it('reports nothing before no job has changed for ten minutes', () => {
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

  it('reports it again every ten minutes, with the time since the last change', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 1));
    const stall = new StallDetector(epoch);
    stall.notice(jobs, epoch + tenMinutes);
    expect(stall.notice(jobs, epoch + 2 * tenMinutes - 1)).toBeUndefined();
    expect(stall.notice(jobs, epoch + 2 * tenMinutes)).toMatchObject({ sinceMs: 2 * tenMinutes });
  });

  it('starts again when a job changes', () => {
    const jobs = activeJobs();
    jobs.put(running('a', 1));
    const stall = new StallDetector(epoch);
    stall.moved(epoch + 5000);
    expect(stall.nextAt).toBe(epoch + 5000 + tenMinutes);
    expect(stall.notice(jobs, epoch + tenMinutes)).toBeUndefined();
    expect(stall.notice(jobs, stall.nextAt)).toMatchObject({ sinceMs: tenMinutes });
  });

  it('reports nothing while no job is active', () => {
    expect(new StallDetector(epoch).notice(activeJobs(), epoch + tenMinutes)).toBeUndefined();
  });

  it('names five jobs at most, and unknown tasks separately', () => {
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
    jobs.routes.onSent('text', at, 't');
    const { lane } = jobs.routes.onResult('text', at, 't');
    lane.note({ kind: 'throttled', retryAfterMs: 90_000, reason: '429' }, at, 't');
    expect(new StallDetector(epoch).notice(jobs, at)).toMatchObject({
      reason: expect.stringContaining('no text request may be sent for another 90 s'),
    });
  });

  it('names no route whose pause is over, and rounds the seconds of a pause up', () => {
    const jobs = activeJobs();
    const waiting = job(textRecord({ key: 't' }));
    jobs.put(waiting);
    jobs.enqueue(waiting);
    const at = epoch + tenMinutes;
    jobs.routes.onSent('text', at, 't');
    const { lane } = jobs.routes.onResult('text', at, 't');
    lane.note({ kind: 'throttled', retryAfterMs: 89_001, reason: '429' }, at, 't');
    const over = jobs.routes.nextAtOf('text', at);
    const reasonAt = (now: number) => {
      const notice = new StallDetector(epoch).notice(jobs, now);
      return notice?.type === 'run:waiting' ? notice.reason : '';
    };
    expect(reasonAt(over - 1001)).toContain('another 2 s');
    expect(reasonAt(over - 1)).toContain('another 1 s');
    expect(reasonAt(over)).not.toContain('no text request');
  });

  describe('reports that a run waits for', () => {
    const at = epoch + tenMinutes;
    const reasonOf = (...all: readonly Parameters<ActiveJobs['put']>[0][]): string => {
      const jobs = activeJobs();
      for (const one of all) jobs.put(one);
      const notice = new StallDetector(epoch).notice(jobs, at);
      return notice?.type === 'run:waiting' ? notice.reason : 'nothing';
    };
    const asking = (key: string, minutes: number) =>
      job(textRecord({ key, status: 'submitting', submittedAt: epoch - minutes * 60_000 }), {
        nextRequest: { kind: 'answer' },
      });
    const deferral = {
      times: 1,
      own: 0,
      since: 0,
      before: { served: 0, firsts: 0, firstsServed: 0 },
      served: 0,
    };
    const deferred = (key: string) =>
      job(imagineRecord({ key }), {
        nextRequest: { kind: 'wait', until: at + 5, next: { kind: 'task-slot' } },
        deferrals: { submit: deferral },
      });

    it('tasks, with the age of the oldest', () => {
      expect(reasonOf(running('a', 20))).toBe(
        '1 task is not finished on the service; it was submitted 30 min ago',
      );
      expect(reasonOf(running('a', 5), running('b', 20), running('c', 1))).toBe(
        '3 tasks are not finished on the service; the oldest was submitted 30 min ago',
      );
    });

    it('tasks that the service does not know, five of them by their ids', () => {
      const unknown = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => running(key, 1, true));
      expect(reasonOf(...unknown.slice(0, 1))).toBe('the service does not know 1 task (T-a) yet');
      expect(reasonOf(...unknown.slice(0, 5))).toBe(
        'the service does not know 5 tasks (T-a, T-b, T-c, T-d, T-e) yet',
      );
      expect(reasonOf(...unknown)).toBe('the service does not know 6 tasks (T-a, T-b, T-c, T-d, T-e, …) yet');
      expect(reasonOf(running('k', 20), ...unknown.slice(0, 1))).toBe(
        '1 task is not finished on the service; it was submitted 30 min ago; the service does not know 1 task (T-a) yet',
      );
    });

    it('text calls, where no task is', () => {
      expect(reasonOf(asking('a', 10))).toBe('1 text call is not answered; it was sent 20 min ago');
      expect(reasonOf(asking('a', 10), asking('b', 30))).toBe(
        '2 text calls are not answered; the oldest was sent 40 min ago',
      );
      expect(reasonOf(asking('a', 10), running('k', 20))).toMatch(/^1 task is not finished/);
    });

    it('jobs that the service deferred, where nothing is in flight', () => {
      expect(reasonOf(deferred('a'))).toBe(
        '1 job was deferred by the service, and waits for another submit request',
      );
      expect(reasonOf(deferred('a'), deferred('b'))).toBe(
        '2 jobs were deferred by the service, and wait for another submit request',
      );
      const going = job(imagineRecord({ key: 'c' }), { deferrals: { submit: deferral } });
      expect(reasonOf(going)).toBe('0 requests are under way');
      expect(
        reasonOf(job(imagineRecord({ key: 'd', status: 'submitting' }), { nextRequest: { kind: 'answer' } })),
      ).toBe('0 requests are under way');
    });
  });
});
