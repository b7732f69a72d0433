import { describe, expect, it } from 'vitest';
import type { JobErrorCode } from '../../../src/pipeline/diagnostics/job-errors.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { firstRequest, maskChecked, onSubmitResult, submitNow } from '../../../src/run/machine/submit.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { submitted, submitting } from './machine-rig.ts';

type Click = Extract<JobRecord['request'], { readonly kind: 'click' }>;
const mask = { kind: 'shapes', shapes: [] } as unknown as NonNullable<Click['mask']>;
const masked = clickRecord({
  request: { kind: 'click', press: [{ kind: 'text', text: 'Vary (Region)' }], fields: {}, mask },
});
const region = { customId: 'IMG::Inpaint::1', label: 'Vary (Region)', emoji: '' };
const task = (changes: Partial<Task> = {}): Task => ({
  id: 'T1',
  state: 'success',
  status: 'SUCCESS',
  buttons: [region, { customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' }],
  ...changes,
});

describe('the first request of a job with a slot', () => {
  it.each<[string, Job, object]>([
    ['its turn to submit', job(imagineRecord()), { kind: 'submit' }],
    ['the buttons of its parent', job(clickRecord()), { kind: 'fetch', taskId: 'T1', why: 'parent' }],
    ['its mask first', job(masked), { kind: 'mask' }],
    ['its mask once', job(masked, { masked: true }), { kind: 'fetch', taskId: 'T1', why: 'parent' }],
    [
      'a last poll of its own task',
      job(imagineRecord({ taskId: 'T9' }), { lastPoll: true }),
      { kind: 'fetch', taskId: 'T9', why: 'poll' },
    ],
    [
      'no last poll of a task that nobody knows',
      job(imagineRecord(), { lastPoll: true }),
      { kind: 'submit' },
    ],
  ])('is %s', (_what, from, nextRequest) => {
    expect(firstRequest(from)).toEqual(nextRequest);
  });

  it('is a bug for a click without a task to press', () => {
    const { parentTaskId: _, ...orphan } = job(clickRecord());
    expect(() => firstRequest(orphan)).toThrow(/^Internal error: /);
  });
});

describe('a click with a slot whose task was shown a moment ago', () => {
  const shown = (buttons: Task['buttons']) => ({
    buttonsOf: (taskId: string) => (taskId === 'T1' ? { buttons, readAt: epoch - 1000 } : undefined),
  });
  const upscale = { customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' };
  const read: Job['nextRequest'] = { kind: 'fetch', taskId: 'T1', why: 'parent' };

  it('needs no request for its button, which keeps its age', () => {
    const { job: next, send } = transition(job(clickRecord()), shown([upscale])).granted();
    expect(send).toBeUndefined();
    expect([next.nextRequest, next.fresh]).toEqual([
      { kind: 'submit' },
      { button: upscale, readAt: epoch - 1000, shown: true },
    ]);
    // Its turn comes too late for it.
    const late = transition(next, { ...shown([upscale]), now: epoch + 9001 }).granted().job;
    expect(late.nextRequest).toEqual(read);
    expect(transition(next, { now: epoch + 9000 }).granted().send).toEqual({ kind: 'submit' });
  });

  it('counts as read: earlier failures do not count against it', () => {
    const tally = { served: 0, firsts: 0, firstsServed: 0 };
    const times = { times: 3, own: 0, since: epoch, before: tally, served: 0 };
    const from = job(clickRecord(), { misses: 4, deferrals: { poll: times, submit: times } });
    const { job: next } = transition(from, shown([upscale])).granted();
    expect([next.misses, next.deferrals]).toEqual([0, { submit: times }]);
  });

  it('continues after its mask without a request too', () => {
    const checking = job(masked, { nextRequest: { kind: 'answer' } });
    expect(transition(checking, shown([region])).masked().job).toMatchObject({
      masked: true,
      nextRequest: { kind: 'submit' },
      fresh: { button: region },
    });
  });

  it.each<[string, JobRecord, Task['buttons']]>([
    ['is missing', clickRecord(), [region]],
    ['is there twice', clickRecord(), [upscale, { ...upscale, customId: 'IMG::JOB::upsample::1::y' }]],
    [
      'begins no task',
      clickRecord({ request: { kind: 'click', press: [{ kind: 'text', text: 'Bookmark' }], fields: {} } }),
      [{ customId: 'IMG::BOOKMARK::x', label: 'Bookmark', emoji: '' }],
    ],
    [
      'takes no mask',
      clickRecord({ request: { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: {}, mask } }),
      [upscale],
    ],
    [
      'is a second choice',
      clickRecord({
        request: {
          kind: 'click',
          press: [
            { kind: 'text', text: 'Vary (Strong)' },
            { kind: 'text', text: 'U1' },
          ],
          fields: {},
        },
      }),
      [upscale],
    ],
    [
      'fits a pattern',
      clickRecord({
        request: { kind: 'click', press: [{ kind: 'pattern', source: 'upsample' }], fields: {} },
      }),
      [upscale],
    ],
  ])('reads a button that %s before it is used', (_what, record, buttons) => {
    const { job: next } = transition(job(record, { masked: true }), shown(buttons)).granted();
    expect([next.nextRequest, next.fresh]).toEqual([read, undefined]);
  });

  it('reads the button once where it is refused, whatever tries are left, and that is not a try', () => {
    const refused = { kind: 'refused', code: 4, message: 'task_not_found' } as const;
    const once = { retry: { ...context().retry, attempts: 1 } };
    const press = (from: Job): Job => transition(from, once).granted().job;
    const sent = press(transition(job(clickRecord()), shown([upscale])).granted().job);
    const { job: again } = transition(sent, once).submitted(refused);
    expect([again.record.status, again.record.tries]).toEqual(['pending', 0]);
    const asked = press(press({ ...again, nextRequest: { kind: 'submit' } }));
    const other = { ...upscale, customId: 'IMG::JOB::upsample::1::y' };
    const { job: ready } = transition(asked, once).fetched('parent', task({ buttons: [other] }));
    expect(ready.fresh).toEqual({ button: other, readAt: epoch, again: true });
    const { record } = transition(press(ready), once).submitted(refused).job;
    expect([record.status, record.attempts]).toEqual(['failed', 2]);
  });

  it('polls its own task a last time anyway', () => {
    const from = job(clickRecord({ taskId: 'T1' }), { lastPoll: true });
    const { nextRequest } = transition(from, shown([upscale])).granted().job;
    expect(nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'poll' });
  });
});

describe('a mask made before its click', () => {
  const failed = (code: string, kind: 'retry' | 'permanent' | 'stop') =>
    maskChecked(job(masked), { code: code as JobErrorCode, class: kind, message: 'm' }, context()).job;

  it('lets the buttons be read', () => {
    const { job: next } = maskChecked(job(masked), undefined, context());
    expect(next).toMatchObject({ masked: true, nextRequest: { kind: 'fetch', taskId: 'T1', why: 'parent' } });
  });

  it('is made again where its failure may pass, and when the run continues', () => {
    expect(failed('download.status', 'retry')).toMatchObject({
      record: { status: 'pending', tries: 1, attempts: 0 },
      nextRequest: { kind: 'wait', next: { kind: 'mask' } },
    });
    for (const code of ['disk.full', 'download.aborted'])
      expect(failed(code, code === 'disk.full' ? 'stop' : 'retry')).toMatchObject({
        record: { status: 'pending', tries: 0 },
        nextRequest: { kind: 'wait', until: epoch, next: { kind: 'mask' } },
      });
    expect(failed('mask.size', 'permanent').record).toMatchObject({
      status: 'failed',
      error: { code: 'mask.size' },
    });
  });
});

describe('the buttons of a parent', () => {
  const read = (from: Job, seen: Task, changes = {}) => transition(from, changes).fetched('parent', seen).job;

  it('are pressed at once, by the new reading', () => {
    expect(read(job(clickRecord(), { misses: 3 }), task())).toMatchObject({
      misses: 0,
      nextRequest: { kind: 'submit' },
      fresh: { button: { label: 'U1' }, readAt: epoch },
    });
    expect(read(job(clickRecord()), task()).fresh).not.toHaveProperty('again');
    const fresh = { button: region, readAt: 0 };
    expect(read(job(clickRecord(), { fresh }), task()).fresh).toMatchObject({ again: true, readAt: epoch });
  });

  it('wait a little before they are pressed by a deferred click', () => {
    const before = {
      times: 1,
      own: 0,
      since: 0,
      before: { served: 0, firsts: 0, firstsServed: 0 },
      served: 0,
    };
    const deferred = (route: 'submit' | 'poll') => job(clickRecord(), { deferrals: { [route]: before } });
    expect(read(deferred('submit'), task()).nextRequest).toEqual({
      kind: 'wait',
      until: epoch + 1000,
      next: { kind: 'submit' },
    });
    const slow = { retry: { ...context().retry, baseMs: 60_000 } };
    expect(read(deferred('submit'), task(), slow).nextRequest).toMatchObject({ until: epoch + 5000 });
    expect(read(deferred('poll'), task()).nextRequest).toEqual({ kind: 'submit' });
  });

  it('that take no mask are not pressed with one', () => {
    const onUpscale = clickRecord({
      request: { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: {}, mask },
    });
    const { record } = read(job(onUpscale, { masked: true }), task());
    expect(record).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'mask.unused' } });
    expect(record.error?.message).toContain('U1');
    expect(read(job(masked, { masked: true }), task()).nextRequest).toEqual({ kind: 'submit' });
  });

  it('of a task that is no longer finished are waited for, and given up after the tries', () => {
    const unfinished = task({ state: 'unfinished', status: 'IN_PROGRESS' });
    const after = (misses: number): Job => read(job(clickRecord(), { misses }), unfinished);
    expect(after(4)).toMatchObject({ misses: 5, nextRequest: { kind: 'wait', until: epoch + 5000 } });
    expect(after(5).record).toMatchObject({ status: 'failed', error: { code: 'parent.lost' } });
  });

  it('of a task that has failed since are gone', () => {
    const { record } = read(job(clickRecord()), task({ state: 'failure', status: 'FAILURE' }));
    expect(record).toMatchObject({ status: 'failed', error: { code: 'parent.lost' } });
  });
});

describe('a submission', () => {
  it('records its request before it is sent', () => {
    const fresh = { button: region, readAt: epoch, again: true } as const;
    const record = {
      ...masked,
      taskId: 'T8',
      error: { code: 'service.rejected' as const, message: 'm' },
      finishedAt: 1,
      attempts: 2,
    };
    const { job: sent, send } = submitNow(
      job(record, { nextRequest: { kind: 'submit' }, fresh, masked: true }),
      context(),
    );
    expect(send).toEqual({ kind: 'submit' });
    expect(sent.nextRequest).toEqual({ kind: 'answer' });
    expect(sent.record).toMatchObject({
      status: 'submitting',
      attempts: 3,
      speed: 'fast',
      submittedAt: epoch,
      pressed: region,
      parentTaskId: 'T1',
    });
    for (const gone of ['taskId', 'error', 'finishedAt']) expect(sent.record).not.toHaveProperty(gone);
    expect(sent.fresh).toEqual({ button: region, readAt: epoch });
    const plain = submitNow(job(imagineRecord(), { nextRequest: { kind: 'submit' } }), context()).job;
    expect(plain).not.toHaveProperty('fresh');
  });

  it('is polled when its kind of task is expected to end, by its age', () => {
    const ages: number[] = [];
    const pollInMs = (_record: JobRecord, age: number): number => {
      ages.push(age);
      return 7;
    };
    const accepted = { kind: 'accepted', taskId: 'T9', code: 1 } as const;
    const { job: running } = submitted(accepted, submitting({ submittedAt: epoch - 300 }), { pollInMs });
    expect(ages).toEqual([300]);
    expect(running.nextRequest).toMatchObject({ until: epoch + 7 });
    const { submittedAt: _, ...untimed } = submitting().record;
    const { attempt } = onSubmitResult(
      job(untimed, { nextRequest: { kind: 'answer' } }),
      { ok: true, value: accepted },
      context(),
    );
    expect(attempt?.at).toBe(epoch);
    expect(submitted(accepted, submitting({ submittedAt: epoch - 300 })).attempt?.at).toBe(epoch - 300);
  });

  it('that is refused keeps the id of its request, and is charged only where tasks were made', () => {
    const refused = { kind: 'refused', code: 4, message: 'no' } as const;
    const price = { price: () => 0.5 };
    const once = submitted({ ...refused, requestId: 'R1' }, submitting(), price).job.record;
    expect(once).toMatchObject({ status: 'failed', error: { requestId: 'R1' } });
    expect(once).not.toHaveProperty('cost');
    const several = submitted({ ...refused, made: true }, submitting(), price).job.record;
    expect(several).toMatchObject({ status: 'failed', cost: 0.5 });
    expect(several.error).not.toHaveProperty('requestId');
  });
});
