import { describe, expect, it } from 'vitest';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import type { TextCandidate } from '../../../src/plan/job-request.ts';
import { fileRequest, freshRequest, lacksResult, resultOf } from '../../../src/run/machine/save.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';

const shown = (changes = {}) =>
  ({ id: 'T9', state: 'success', status: 'SUCCESS', buttons: [], ...changes }) as const;
const artifact = (output: number): Artifact => ({
  output,
  file: `${output}.png`,
  bytes: 5,
  sha256: 'h',
  mime: 'image/png',
});
const saving = (changes: Partial<JobRecord>): JobRecord =>
  imagineRecord({ status: 'saving', taskId: 'T9', ...changes });
const videos = ['https://v/1', 'https://v/2', 'https://v/3'];

describe('the saved part of a finished task', () => {
  it('has its buttons and existing links, and prompts only where they may be the result', () => {
    const task = shown({ imageUrl: 'https://i/1', videoUrls: videos, prompts: ['a', 'b'] });
    const files = { buttons: [], imageUrl: 'https://i/1', videoUrls: videos };
    expect(resultOf(task, 'imagine')).toStrictEqual(files);
    for (const kind of ['describe', 'click'] as const)
      expect(resultOf(task, kind)).toStrictEqual({ ...files, prompts: ['a', 'b'] });
    expect(resultOf(shown(), 'click')).toStrictEqual({ buttons: [] });
  });

  it.each<[string, Partial<JobRecord>, boolean]>([
    ['an image', {}, false],
    ['a video beside its poster', { kind: 'video' }, true],
    ['a describe beside its input', { kind: 'describe' }, true],
    [
      'an animation',
      { kind: 'click', pressed: { customId: 'MJ::JOB::animate_high', label: '', emoji: '' } },
      true,
    ],
    ['a video button', { kind: 'click', pressed: { customId: 'video::1', label: '', emoji: '' } }, true],
    [
      'another button',
      { kind: 'click', pressed: { customId: 'MJ::JOB::novideo', label: '', emoji: '' } },
      false,
    ],
  ])('of %s lacks its result where there is only an image: %#', (_, changes, lacks) => {
    expect(lacksResult({ buttons: [], imageUrl: 'https://i/1' }, imagineRecord(changes))).toBe(lacks);
  });
});

describe('the next file of a job that is being saved', () => {
  const save = (url: string, media: string, output: number) => ({
    kind: 'save',
    source: { url, media },
    output,
  });

  it('is the first missing one, in the order of the links', () => {
    const record = saving({
      kind: 'video',
      result: { buttons: [], imageUrl: 'https://i/1', videoUrls: videos },
    });
    expect(fileRequest({ record })).toEqual(save('https://v/1', 'video', 1));
    const next = { record: { ...record, artifacts: [artifact(1), artifact(2)] } };
    expect(fileRequest(next)).toEqual(save('https://v/3', 'video', 3));
    expect(freshRequest(next)).toEqual({ kind: 'fetch', taskId: 'T9', why: 'link' });
  });

  it('is the image where there is no video, and a link where there is nothing', () => {
    expect(fileRequest({ record: saving({ result: { buttons: [], imageUrl: 'https://i/1' } }) })).toEqual(
      save('https://i/1', 'image', 1),
    );
    const link = { kind: 'fetch', taskId: 'T9', why: 'link' };
    expect([
      fileRequest({ record: saving({ result: { buttons: [] } }) }),
      fileRequest({ record: saving({}) }),
    ]).toEqual([link, link]);
    expect(() => fileRequest({ record: imagineRecord({ status: 'saving' }) })).toThrow('Internal error');
  });

  const none = { kind: 'save', source: { isText: true }, output: 1 };

  it('does not exist where the result is prompts, which needs no link', () => {
    const record = saving({ kind: 'describe', result: { buttons: [], prompts: ['one', 'two'] } });
    expect([fileRequest({ record }), freshRequest({ record })]).toEqual([none, none]);
  });

  it('does not exist where the result is a reply, left by a release that wrote its texts', () => {
    const candidates: readonly TextCandidate[] = [{ text: 'Hi.', isJson: false, parts: [] }];
    const record = textRecord({ status: 'saving', text: { candidates } });
    expect([fileRequest({ record }), freshRequest({ record })]).toEqual([none, none]);
  });
});

describe('a file that was saved', () => {
  const result = { buttons: [], videoUrls: videos };
  const waiting = (changes: Partial<JobRecord>) =>
    job(saving(changes), { nextRequest: { kind: 'answer' }, misses: 3 });

  it('is durable before the next one is fetched, and the job is done with the last one', () => {
    const error = { code: 'download.status' as const, message: 'm' };
    const first = transition(waiting({ kind: 'video', result, error })).saved({
      ok: true,
      value: artifact(1),
    });
    expect(first.job).toMatchObject({
      record: { status: 'saving', artifacts: [artifact(1)] },
      nextRequest: { kind: 'save', output: 2 },
      misses: 0,
    });
    expect([first.job.record.error, first.job.record.finishedAt]).toEqual([undefined, undefined]);
    const two = [artifact(1), artifact(2)];
    const last = transition(waiting({ kind: 'video', result, artifacts: two, error })).saved({
      ok: true,
      value: artifact(3),
    });
    expect(last.job).toMatchObject({
      record: { status: 'done', artifacts: [...two, artifact(3)], finishedAt: epoch },
      nextRequest: { kind: 'nothing' },
    });
    expect(last.job.record.error).toBeUndefined();
  });

  it('may be absent: then the job is done with the files that it has', () => {
    const text = { candidates: [{ text: 'Hi.', isJson: false, parts: [] }] };
    const from = job(textRecord({ status: 'saving', text, artifacts: [artifact(1)] }), {
      nextRequest: { kind: 'answer' },
    });
    const { record } = transition(from).saved({ ok: true, value: undefined }).job;
    expect([record.status, record.artifacts]).toEqual(['done', [artifact(1)]]);
  });
});

describe('a fresh link', () => {
  const waiting = (changes: Partial<JobRecord>) => job(saving(changes), { nextRequest: { kind: 'answer' } });
  const buttons = [{ customId: 'c', label: 'U1', emoji: '' }];

  it('is used at once, and the buttons stay those of the finished task', () => {
    const from = waiting({ result: { buttons, imageUrl: 'https://old' } });
    expect(transition(from).fetched('link', shown({ imageUrl: 'https://new' })).job).toMatchObject({
      record: { status: 'saving', result: { buttons, imageUrl: 'https://new' } },
      nextRequest: { kind: 'save', source: { url: 'https://new' } },
    });
    const none = transition(waiting({})).fetched('link', shown({ imageUrl: 'https://new', buttons }));
    expect(none.job.record.result).toEqual({ buttons, imageUrl: 'https://new' });
  });

  it('ends a job of which no file is kept', () => {
    const error = { code: 'service.rejected' as const, message: 'm' };
    const { record } = transition(waiting({ keep: false, error })).fetched(
      'link',
      shown({ imageUrl: 'https://new' }),
    ).job;
    expect([record.status, record.finishedAt, record.error]).toEqual(['done', epoch, undefined]);
  });

  it.each<[string, Partial<JobRecord>, object, string]>([
    ['is missing', {}, {}, 'The service gives no link to the result'],
    [
      'is missing for a later file',
      { kind: 'video', artifacts: [artifact(1)] },
      { videoUrls: ['v'] },
      'to file 2 ',
    ],
    ['is that of a task in progress', {}, { imageUrl: 'https://i', state: 'unfinished' }, 'no link'],
    ['is missing for prompts', { kind: 'describe' }, {}, 'no prompts'],
  ])(
    'that %s is waited for as long as gateways refresh their copies, five times',
    (_, changes, task, said) => {
      const code = changes.kind === 'describe' ? 'download.no-prompts' : 'download.no-link';
      const from = waiting(changes);
      const few = { retry: { attempts: 2, baseMs: 1000, capMs: 60_000, patienceMs: 600_000 } } as never;
      const once = transition(from, few).fetched('link', shown(task)).job;
      expect(once).toMatchObject({
        misses: 1,
        nextRequest: { kind: 'wait', until: epoch + 15_000, next: { why: 'link' } },
      });
      const slow = transition(from, { pollMaxMs: 40_000 }).fetched('link', shown(task)).job;
      expect(slow.nextRequest).toMatchObject({ until: epoch + 40_000 });
      expect(transition({ ...from, misses: 3 }, few).fetched('link', shown(task)).job.record.status).toBe(
        'saving',
      );
      const { record } = transition({ ...from, misses: 4 }, few).fetched('link', shown(task)).job;
      expect(record).toMatchObject({ status: 'failed', error: { code } });
      expect(record.error?.message).toContain(said);
    },
  );
});

it('a click on a describe has the prompts of its task', () => {
  const from = job(clickRecord({ status: 'running', taskId: 'T9' }), { nextRequest: { kind: 'answer' } });
  const { record, nextRequest } = transition(from).fetched('poll', shown({ prompts: ['a', 'b'] })).job;
  expect([record.status, record.result?.prompts, nextRequest.kind]).toEqual(['done', ['a', 'b'], 'nothing']);
});
