import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job, JobContext } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';

type Brought = Pick<Task, 'imageUrl' | 'videoUrls' | 'prompts'>;

const poster = { imageUrl: 'https://i/9' } as const;
const sent = { status: 'running', taskId: 'T9', submittedAt: epoch } as const;
const video = imagineRecord({
  ...sent,
  kind: 'video',
  request: { kind: 'video', fields: { motion: 'low' }, images: [] },
});
const describing = imagineRecord({
  ...sent,
  kind: 'describe',
  request: { kind: 'describe', fields: {}, images: [] },
});
const pressing = (customId: string): JobRecord =>
  clickRecord({ ...sent, pressed: { customId, label: 'x', emoji: '' } });
const animated = pressing('IMG::JOB::animate_low::1::0-0::SOLO');

/** Looks at a task that is SUCCESS from the beginning, until there is something to save or the job is settled. */
function watched(
  record: JobRecord,
  brings: (ms: number) => Brought,
  more: Partial<JobContext> = {},
): { readonly job: Job; readonly ms: number; readonly polls: readonly number[] } {
  let now = epoch;
  let at: Job = job(record, { nextRequest: { kind: 'fetch', taskId: 'T9', why: 'poll' } });
  const polls: number[] = [];
  for (;;) {
    const { nextRequest } = at;
    const here = context({ ...more, now });
    if (nextRequest.kind === 'wait') {
      now = nextRequest.until;
      at = step(at, { type: 'elapsed' }, context({ ...more, now })).job;
    } else if (nextRequest.kind === 'fetch') {
      polls.push(now - epoch);
      const value: Task = {
        id: 'T9',
        state: 'success',
        status: 'SUCCESS',
        buttons: [],
        ...brings(now - epoch),
      };
      at = step(
        at,
        { type: 'fetched', why: nextRequest.why === 'link' ? 'link' : 'poll', result: { ok: true, value } },
        here,
      ).job;
    } else return { job: at, ms: now - epoch, polls };
  }
}

const videoUrls = ['https://v/1.mp4'];
const prompts = ['a fox', 'a hare'];

describe('a result that comes later than its status', () => {
  it.each<[string, JobRecord, Brought, Brought]>([
    ['the links of a video, its poster first', video, poster, { ...poster, videoUrls }],
    ['the link of an image', imagineRecord(sent), {}, poster],
    ['the videos of a button that animates', animated, poster, { ...poster, videoUrls }],
  ])('is waited for: %s', (_, record, early, late) => {
    const { job: now, ms } = watched(record, (at) => (at < 55_000 ? early : late));
    expect([now.record.status, now.nextRequest.kind]).toEqual(['saving', 'save']);
    expect(now.nextRequest).toMatchObject({ source: { url: late.videoUrls?.[0] ?? late.imageUrl } });
    expect(ms).toBeLessThanOrEqual(75_000);
  });

  it('is waited for: the prompts of a describe, which first shows its input image', () => {
    const late = { ...poster, prompts };
    const { job: now, ms } = watched(describing, (at) => (at < 55_000 ? poster : late));
    expect([now.record.status, now.nextRequest.kind]).toEqual(['saving', 'save']);
    expect(now.nextRequest).toMatchObject({ source: { isText: true } });
    expect(ms).toBeLessThanOrEqual(75_000);
  });

  it.each<[string, JobRecord, Brought, string]>([
    ['a video', video, poster, 'download.no-link'],
    ['an image', imagineRecord(sent), {}, 'download.no-link'],
    ['a button that animates', animated, poster, 'download.no-link'],
    ['a describe', describing, poster, 'download.no-prompts'],
  ])(
    'fails %s after a minute at least if it never comes, however few tries there are',
    (_, record, brought, code) => {
      for (const attempts of [1, 6]) {
        const { retry } = context();
        const { job: now, ms, polls } = watched(record, () => brought, { retry: { ...retry, attempts } });
        expect([now.record.status, now.record.error?.code, now.record.artifacts]).toEqual([
          'failed',
          code,
          [],
        ]);
        expect(ms).toBeGreaterThanOrEqual(60_000);
        // The first two are the poll that saw SUCCESS, and the poll for a link that follows it.
        for (const [n, at] of polls.entries()) expect(n < 2 || at - (polls[n - 1] ?? 0) >= 15_000).toBe(true);
      }
    },
  );

  it('is polled no more often than tasks are (poll.max)', () => {
    const { polls } = watched(video, () => poster, { pollMaxMs: 60_000 });
    expect(polls.slice(2).map((at, n) => at - (polls[n + 1] ?? 0))).toEqual([
      60_000, 60_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('is waited for where no file is wanted: a later step reads it', () => {
    const { job: now } = watched({ ...describing, keep: false }, (at) =>
      at < 20_000 ? poster : { ...poster, prompts },
    );
    expect([now.record.status, now.record.result?.prompts, now.nextRequest.kind]).toEqual([
      'done',
      prompts,
      'nothing',
    ]);
  });

  it('is not waited for where the result is an image', () => {
    for (const record of [imagineRecord(sent), pressing('IMG::JOB::upsample::1::0-0')])
      expect(watched(record, () => poster)).toMatchObject({ ms: 0, job: { nextRequest: { kind: 'save' } } });
    expect(watched(imagineRecord({ ...sent, keep: false }), () => poster)).toMatchObject({
      ms: 0,
      job: { record: { status: 'done' } },
    });
  });
});
