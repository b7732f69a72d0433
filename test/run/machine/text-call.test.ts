import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../src/artifacts/writer.ts';
import { type JobError, knownCost } from '../../../src/plan/job.ts';
import type { TextResult } from '../../../src/plan/job-request.ts';
import type { CallResult, Job, JobContext, JobStep, ReplyVerdict } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { FailureClass } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import { context, epoch, job, textRecord } from '../../rig/jobs.ts';

const asking = (changes: Parameters<typeof textRecord>[0] = {}): Job =>
  step(job(textRecord(changes)), { type: 'granted' }, context()).job;

const replied = (from: Job, result: CallResult, changes: Partial<JobContext> = {}): JobStep =>
  step(from, { type: 'asked', result }, context(changes));

const text: TextResult = { candidates: [{ text: 'x', isJson: false, parts: [] }] };
const usage = { prompt: 10, candidates: 5, total: 15 };
const answered = (verdict: ReplyVerdict): CallResult => ({
  kind: 'answered',
  asked: { verdict, text, artifacts: [], usage },
});
const error: JobError = { code: 'text.schema', message: 'wrong' };
const invalid = answered({ kind: 'invalid', error });
const lost = (kind: SaveFailure['class']): SaveFailure => ({
  code: 'download.status',
  class: kind,
  message: 'x',
});

describe('a text job', () => {
  it('takes no slot, and its intent counts before the request is sent', () => {
    const first = step(job(textRecord()), { type: 'granted' }, context());
    expect(first.job.record).toMatchObject({ status: 'submitting', attempts: 1, submittedAt: epoch });
    expect([first.send, first.job.nextRequest]).toEqual([{ kind: 'ask' }, { kind: 'answer' }]);
  });

  it('has no error any more once it is called again', () => {
    expect(asking({ error, finishedAt: epoch - 1 }).record).not.toHaveProperty('error');
    expect(asking({ error, finishedAt: epoch - 1 }).record).not.toHaveProperty('finishedAt');
  });

  it('waits longer after each reply that is not a result', () => {
    const rest = (earlier: number): number => {
      const { nextRequest } = replied(asking({ invalid: earlier }), invalid).job;
      return nextRequest.kind === 'wait' ? nextRequest.until - epoch : 0;
    };
    expect(rest(1)).toBe(2 * rest(0));
    expect(rest(0)).toBeGreaterThan(0);
  });

  it('is repeated without streaming where its stream ended without a reason', () => {
    const from = asking({ call: { stream: true, accept: ['length'] } });
    const again = (more: object): unknown =>
      replied(from, { kind: 'refused', error: failure('stream.truncated', 'retry', more) }).job.record.call;
    expect(again({ unstreamed: true })).toEqual({ stream: false, accept: ['length'] });
    expect(again({})).toEqual({ stream: true, accept: ['length'] });
  });

  it('is repeated as often as the verdict allows, and never more often than the pipeline does', () => {
    const blocked = answered({ kind: 'invalid', error, most: 1 });
    const after = (earlier: number, most: number): string =>
      replied(asking({ invalid: earlier }), blocked, { retry: { ...context().retry, invalid: most } }).job
        .record.status;
    expect([after(0, 2), after(1, 2), after(0, 0)]).toEqual(['pending', 'failed', 'failed']);
  });

  it('that ends counts its tries anew when the user retries it', () => {
    const failed = answered({ kind: 'failed', error });
    expect(replied(asking({ tries: 3 }), failed).job.record).toMatchObject({ status: 'failed', tries: 0 });
    const done = answered({ kind: 'done' });
    expect(replied(asking({ tries: 3 }), done).job.record).toMatchObject({ status: 'done', tries: 0 });
    const unwritten: CallResult = { kind: 'unwritten', error: lost('permanent'), text };
    expect(replied(asking({ tries: 3 }), unwritten).job.record).toMatchObject({
      status: 'failed',
      tries: 0,
    });
  });

  it('that is always deferred while others are served ends, and keeps the time of its last call', () => {
    const before = { served: 0, firsts: 0, firstsServed: 0 };
    const since = epoch - 9_000_000;
    const from = asking();
    const starving: Job = { ...from, deferrals: { text: { times: 40, own: 9, since, before, served: 0 } } };
    const throttled = failure('service.throttled', 'throttle', { status: 429 });
    const tally = () => ({ served: 100, firsts: 100, firstsServed: 100 });
    const { record } = replied(starving, { kind: 'refused', error: throttled }, { tally }).job;
    expect(record).toMatchObject({ status: 'failed', submittedAt: epoch, attempts: 0 });
  });

  it('is done with its text and its tokens', () => {
    const { job: done, attempt } = replied(asking(), answered({ kind: 'done' }), {
      replyPrice: (_, used) => (used?.total ?? 0) / 1000,
    });
    expect(done.record).toMatchObject({ status: 'done', text, usage, cost: 0.015, finishedAt: epoch });
    expect([done.nextRequest.kind, attempt]).toEqual([
      'nothing',
      { key: 'cc33', at: epoch, outcome: 'done' },
    ]);
  });

  it('continues its conversation at once, before others', () => {
    const turns = [
      { role: 'model', parts: [] },
      { role: 'user', parts: [] },
    ];
    const from = asking({ tries: 2, turns: [{ role: 'model', parts: [1] }] });
    const { job: next } = replied(from, answered({ kind: 'calls', turns }));
    expect(next).toMatchObject({ nextRequest: { kind: 'ask' }, depth: from.depth + 1 });
    expect(next.record).toMatchObject({
      status: 'pending',
      tries: 0,
      turns: [{ parts: [1] }, ...turns],
      usage,
    });
    expect(next.record.submittedAt).toBeUndefined();
  });

  it('is called again after an unusable reply, retry.invalid times, each one paid', () => {
    let at = asking();
    for (const count of [1, 2]) {
      const { job: again } = replied(at, invalid);
      expect(again).toMatchObject({ nextRequest: { kind: 'wait', next: { kind: 'ask' } } });
      expect(again.record).toMatchObject({ status: 'pending', invalid: count, error, text });
      at = step({ ...again, nextRequest: { kind: 'ask' } }, { type: 'granted' }, context()).job;
    }
    expect(replied(at, invalid).job.record).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { code: 'text.schema', message: 'wrong (after 3 answers)' },
      usage: { prompt: 30, candidates: 15, total: 45 },
    });
  });

  it('fails at once for a reply that another call would not change, and keeps the reply', () => {
    const { job: failed } = replied(asking(), answered({ kind: 'failed', error }));
    expect(failed.record).toMatchObject({ status: 'failed', error, text, usage });
  });

  it('adds the tokens of a call that broke off to those of the replies', () => {
    const broken = failure('stream.truncated', 'retry', { usage: { prompt: 10, thoughts: 3 } });
    const { record } = replied(asking({ usage }), { kind: 'refused', error: broken }).job;
    expect(record.usage).toEqual({ prompt: 20, candidates: 5, thoughts: 3, total: 28 });
  });

  const classes: readonly (readonly [FailureClass, string, number, number])[] = [
    ['retry', 'pending', 1, 1],
    ['lost', 'pending', 1, 1],
    ['throttle', 'pending', 0, 0],
    ['unsent', 'pending', 0, 0],
    ['stop', 'pending', 0, 0],
    ['permanent', 'failed', 1, 0],
  ];
  it.each(classes)(
    'after a refusal of class %s is %s, with %i attempts and %i tries',
    (kind, status, attempts, tries) => {
      const { job: next } = replied(
        asking(),
        { kind: 'refused', error: failure('x', kind) },
        { retry: { ...context().retry, ambiguous: 'hold' } },
      );
      expect(next.record).toMatchObject({ status, attempts, tries });
    },
  );

  it.each<FailureClass>(['retry', 'lost', 'unsent', 'stop', 'permanent'])(
    'stays counted as an attempt after a failure of class %s that may be paid, whatever becomes of it',
    (kind) => {
      const result: CallResult = { kind: 'refused', error: failure('x', kind, { mayBeDone: true }) };
      const { record } = replied(asking({ attempts: 2 }), result).job;
      expect(record).toMatchObject({ attempts: 3, doubtful: { count: 1 } });
    },
  );

  it('fails after retry.attempts tries, and waits at least as long as the service asks', () => {
    const refused: CallResult = {
      kind: 'refused',
      error: failure('service.rejected', 'retry', { retryAfterMs: 90_000 }),
    };
    expect(replied(asking({ tries: 4 }), refused).job.nextRequest).toMatchObject({ until: epoch + 90_000 });
    expect(replied(asking({ tries: 5 }), refused).job.record).toMatchObject({
      status: 'failed',
      tries: 0,
      error: { code: 'service.rejected', message: 'service.rejected (made up) (after 6 tries)' },
    });
  });

  const files: readonly (readonly ['unread' | 'unwritten', SaveFailure['class'], string, number, number])[] =
    [
      ['unread', 'permanent', 'failed', 0, 0],
      ['unread', 'retry', 'pending', 0, 1],
      ['unread', 'fresh-link', 'pending', 0, 1],
      ['unread', 'throttle', 'pending', 0, 1],
      ['unread', 'stop', 'pending', 0, 0],
      ['unwritten', 'permanent', 'failed', 1, 0],
      ['unwritten', 'retry', 'failed', 1, 0],
      ['unwritten', 'stop', 'pending', 1, 0],
    ];
  it.each(files)(
    'with files %s, class %s, is %s, with %i attempts and %i tries',
    (kind, of, status, attempts, tries) => {
      const { record } = replied(asking(), { kind, error: lost(of) }).job;
      expect(record).toMatchObject({ status, attempts, tries });
    },
  );

  it('knows its whole cost only where every reply has a token count', () => {
    const priced = (_: unknown, used: unknown) => (used === undefined ? undefined : 2);
    const silent: CallResult = {
      kind: 'answered',
      asked: { verdict: { kind: 'invalid', error }, text, artifacts: [] },
    };
    const { record } = replied(asking({ cost: 2 }), silent, { replyPrice: priced }).job;
    expect([record.cost, knownCost(record)]).toEqual([2, undefined]);
    const later = replied(asking(record), answered({ kind: 'done' }), { replyPrice: priced }).job.record;
    expect([later.cost, knownCost(later)]).toEqual([4, undefined]);
    const perCall = replied(asking({ cost: 2 }), silent, { replyPrice: () => 2 }).job.record;
    expect(knownCost(perCall)).toBe(4);
  });

  it('keeps the text of a reply whose files could not be written', () => {
    const unwritten: CallResult = { kind: 'unwritten', error: lost('permanent'), text, usage };
    expect(replied(asking({ tries: 3 }), unwritten).job.record).toMatchObject({
      status: 'failed',
      error: { code: 'download.status' },
      text,
      usage,
      tries: 0,
    });
  });

  it('has paid for a reply that could not be written', () => {
    const result: CallResult = { kind: 'unwritten', error: lost('stop'), usage };
    expect(replied(asking(), result, { replyPrice: () => 2 }).job.record).toMatchObject({ usage, cost: 2 });
  });
});
