import { describe, expect, it } from 'vitest';
import type { Route } from '../../../src/run/events.ts';
import type { Job, JobEvent } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import {
  clearDeferrals,
  deferralCount,
  isOwnFault,
  starvedError,
  withDeferral,
} from '../../../src/run/machine/retry/deferrals.ts';
import { failure } from '../../rig/failure.ts';
import { context, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { askedOf, textReply } from '../../rig/text-reply.ts';

const routes: readonly Route[] = ['submit', 'poll', 'download', 'text'];
const deferred = (from: Job): Job =>
  routes.reduce((to, route) => withDeferral(withDeferral(to, route, context()), route, context()), from);
/** The routes on which a job was deferred before an event, and is still after it. */
const left = (from: Job, event: JobEvent): readonly Route[] => {
  const { job: after } = step(deferred(from), event, context());
  return routes.filter((route) => deferralCount(after, route) === 2);
};
const without = (route: Route): readonly Route[] => routes.filter((other) => other !== route);
const answer = { kind: 'answer' } as const;
const submitting = job(imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch }), {
  nextRequest: answer,
});
const running = job(imagineRecord({ status: 'running', taskId: 'T', submittedAt: epoch }), {
  nextRequest: answer,
});
const saving = job(
  imagineRecord({ status: 'saving', taskId: 'T', result: { imageUrl: 'https://i/1', buttons: [] } }),
  { nextRequest: answer },
);
const asking = job(textRecord({ status: 'submitting', attempts: 1, submittedAt: epoch }), {
  nextRequest: answer,
});
const task = { id: 'T', state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
const artifact = { output: 1, file: 'images/aa/aa11-1.png', bytes: 1, sha256: 's', mime: 'image/png' };
const busy = failure('service.unavailable', 'retry', { status: 503 });

describe('a result that advances a job ends its deferrals in a row on the route', () => {
  it.each<[string, Route, Job, JobEvent]>([
    [
      'a task',
      'submit',
      submitting,
      { type: 'submitted', result: { ok: true, value: { kind: 'accepted', taskId: 'T', code: 1 } } },
    ],
    ['a poll', 'poll', running, { type: 'fetched', why: 'poll', result: { ok: true, value: task } }],
    ['a file', 'download', saving, { type: 'saved', result: { ok: true, value: artifact } }],
    [
      'a reply',
      'text',
      asking,
      { type: 'asked', result: askedOf(asking.record, textReply({ text: 'Hello.' })) },
    ],
  ])('%s', (_what, route, from, event) => {
    expect(left(from, event)).toEqual(without(route));
  });

  it.each<[string, Route, Job, JobEvent]>([
    [
      'a full queue',
      'submit',
      submitting,
      { type: 'submitted', result: { ok: true, value: { kind: 'queue-full', code: 23, message: 'full' } } },
    ],
    ['a failed submission', 'submit', submitting, { type: 'submitted', result: { ok: false, error: busy } }],
    ['a failed poll', 'poll', running, { type: 'fetched', why: 'poll', result: { ok: false, error: busy } }],
    [
      'a failed download',
      'download',
      saving,
      {
        type: 'saved',
        result: { ok: false, error: { code: 'download.status', class: 'retry', message: 'm' } },
      },
    ],
    ['a failed text call', 'text', asking, { type: 'asked', result: { kind: 'refused', error: busy } }],
  ])('and no other one does: %s', (_what, route, from, event) => {
    const { job: after } = step(deferred(from), event, context());
    expect(deferralCount(after, route)).toBeGreaterThanOrEqual(2);
  });
});

describe('deferrals', () => {
  it('of one route are cleared without those of others', () => {
    const from = deferred(job(imagineRecord()));
    const after = clearDeferrals(from, 'submit');
    expect(Object.keys(after.deferrals ?? {})).toEqual(['poll', 'download', 'text']);
    expect(after.record).toBe(from.record);
    expect(clearDeferrals(after, 'submit')).toBe(after);
    const fresh = job(imagineRecord());
    expect(clearDeferrals(fresh, 'submit')).toBe(fresh);
    expect(deferralCount(fresh, 'submit')).toBe(0);
  });

  it('are counted with the results of the route in between', () => {
    let served = 4;
    const at = (now: number) => context({ now, tally: () => ({ served, firsts: 9, firstsServed: 3 }) });
    const one = withDeferral(job(imagineRecord()), 'submit', at(epoch));
    const before = { served: 4, firsts: 9, firstsServed: 3 };
    expect(one.deferrals?.submit).toEqual({ times: 1, own: 0, since: epoch, before, served: 4 });
    const two = withDeferral(one, 'submit', at(epoch + 5));
    expect(two.deferrals?.submit).toEqual({ times: 2, own: 0, since: epoch, before, served: 4 });
    served = 5;
    const three = withDeferral(two, 'submit', at(epoch + 9));
    expect(three.deferrals?.submit).toEqual({ times: 3, own: 1, since: epoch, before, served: 5 });
  });

  it('are caused by the job after two while others were served, where they still are', () => {
    const before = { served: 0, firsts: 0, firstsServed: 0 };
    const after = (own: number): Job =>
      job(imagineRecord(), { deferrals: { submit: { times: 9, own, since: epoch, before, served: 4 } } });
    const isOwn = (from: Job | undefined, served: number): boolean =>
      isOwnFault(from, 'submit', { served, firsts: 0, firstsServed: 0 });
    expect([isOwn(after(1), 5), isOwn(after(2), 5), isOwn(after(2), 4)]).toEqual([false, true, false]);
    expect([isOwn(undefined, 5), isOwn(job(imagineRecord()), 5)]).toEqual([false, false]);
    expect(isOwnFault(after(2), 'poll', { served: 5, firsts: 0, firstsServed: 0 })).toBe(false);
  });

  it('are reported with their number and duration', () => {
    const error = { code: 'service.unavailable' as const, message: 'Busy.', httpStatus: 429 };
    const waited = deferred(job(imagineRecord()));
    expect(starvedError(error, waited, 'submit', epoch + 90_000)).toEqual({
      ...error,
      message: 'Busy. (2 times in 1.5 min, in which others were served)',
    });
    expect(starvedError(error, job(imagineRecord()), 'submit', epoch).message).toContain('(1 times in 0 min');
  });
});
