import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { adopt, jobForSlot, resetForResubmit } from '../../../src/run/machine/resume.ts';
import { failure } from '../../rig/failure.ts';
import { gridButtons } from '../../rig/frames.ts';
import { imagineRecord, job } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';

const file = { output: 1, file: 'a.png', bytes: 5, sha256: 'h', mime: 'image/png', width: 8, height: 8 };
const result = { imageUrl: 'https://i/1', buttons: gridButtons };
const read = { kind: 'seed', taskId: 'T9' };

const saving = (changes: Partial<JobRecord> = {}): Job =>
  job(imagineRecord({ status: 'saving', taskId: 'T9', seed: true, result, ...changes }), {
    nextRequest: { kind: 'answer' },
  });

describe('a grid whose seed is wanted', () => {
  it('has its file durable before the seed is asked for, and the seed before it is done', () => {
    const saved = transition(saving()).saved({ ok: true, value: file });
    expect(saved.job).toMatchObject({ record: { status: 'saving', artifacts: [file] }, nextRequest: read });
    const asked = transition(saved.job).granted();
    expect([asked.send, asked.job.record]).toEqual([read, saved.job.record]);
    expect(transition(asked.job).seed('77').job).toMatchObject({
      record: { status: 'done', result: { ...result, seed: '77' }, attempts: saved.job.record.attempts },
      nextRequest: { kind: 'nothing' },
    });
  });

  it('asks again after a restart, and submits and downloads nothing', () => {
    const { record } = transition(saving()).saved({ ok: true, value: file }).job;
    expect(adopt(record, 0, undefined).nextRequest).toEqual(read);
    const unkept = saving({ keep: false }).record;
    expect(adopt(unkept, 0, undefined).nextRequest).toEqual(read);
  });

  it('is done without the seed after as many tries as the settings say, later each time', () => {
    let { job: tried } = transition(saving()).saved({ ok: true, value: file });
    const untils: number[] = [];
    for (let tries = 1; tries < 6; tries += 1) {
      ({ job: tried } = transition(tried).seed(failure('service.unavailable', 'retry', { status: 500 })));
      expect(tried.nextRequest).toMatchObject({ kind: 'wait', next: read });
      if (tried.nextRequest.kind === 'wait') untils.push(tried.nextRequest.until);
    }
    expect(untils).toEqual(untils.toSorted((a, b) => a - b));
    const { job: last } = transition(tried).seed(failure('service.unavailable', 'retry', { status: 500 }));
    expect(last.record).toMatchObject({ status: 'done', result: { seed: '' } });
    expect(last.record.error).toBeUndefined();
  });

  it('is done at once where the service tells no seeds', () => {
    const none = failure('service.not-offered', 'permanent', { status: 404 });
    expect(transition(saving({ artifacts: [file] })).seed(none).job.record).toMatchObject({ status: 'done' });
    const { job: next } = transition(saving(), { tellsSeeds: false }).saved({ ok: true, value: file });
    expect(next.record).toMatchObject({ status: 'done', result: { seed: '' } });
    const waiting = transition(saving()).saved({ ok: true, value: file }).job;
    const late = transition(waiting, { tellsSeeds: false }).granted();
    expect([late.send, late.job.record.status]).toEqual([undefined, 'done']);
  });

  it.each<[string, Partial<JobRecord>]>([
    ['is a single image', { result: { ...result, buttons: [] } }],
    ['was asked for it', { result: { ...result, seed: '' } }],
  ])('is done with its file where it %s', (_, changes) => {
    const { job: saved } = transition(saving(changes)).saved({ ok: true, value: file });
    expect([saved.record.status, saved.nextRequest]).toEqual(['done', { kind: 'nothing' }]);
  });

  it('keeps its seed while its file is downloaded again, and loses it with its result', () => {
    const record = { ...saving().record, result: { ...result, seed: '77' } };
    const again = transition(job(record, { nextRequest: { kind: 'answer' } })).fetched('link', {
      id: 'T9',
      state: 'success',
      status: 'SUCCESS',
      ...result,
    });
    expect(again.job.record.result?.seed).toBe('77');
    expect(resetForResubmit({ ...record, status: 'done' }).result).toBeUndefined();
  });
});

it('the seed of a finished grid is read once its step asks for it', () => {
  const record = imagineRecord({ status: 'done', taskId: 'T9', result, artifacts: [file], invocation: 1 });
  const slot = { job: record, record, keep: true, depth: 0, cell: 1, step: 'grid', branch: [], id: 's' };
  const begin = (changes: Partial<Slot>) =>
    jobForSlot(
      { ...slot, kind: 'imagine', status: 'done', ready: false, ...changes } as unknown as Slot,
      {},
      virtualSettings(),
      new Set(),
      2,
      0,
    );
  expect(begin({})).toBeUndefined();
  expect(begin({ seed: true, unseeded: true })).toMatchObject({
    record: { status: 'saving', seed: true, attempts: record.attempts },
    nextRequest: read,
  });
});
