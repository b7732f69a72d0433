import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job, JobContext, JobEvent } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { SubmitResult, Task } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { clickRecord, context, epoch, job } from '../../rig/jobs.ts';

export const region = (changes: Partial<JobRecord> = {}): JobRecord =>
  clickRecord({
    request: { kind: 'click', press: [{ kind: 'text', text: 'Vary (Region)' }], fields: { prompt: 'a hat' } },
    pressed: { customId: 'IMG::Inpaint::1', label: 'Vary (Region)', emoji: '' },
    ...changes,
  });

export const waiting = (record: JobRecord): Job => job(record, { nextRequest: { kind: 'answer' } });

export const clicked = (changes: Partial<JobRecord> = {}): Job =>
  waiting(region({ status: 'submitting', attempts: 1, submittedAt: epoch, ...changes }));

export const answering = (sent = 1, changes: Partial<JobRecord> = {}): Job =>
  clicked({ taskId: 'M1', modal: { taskId: 'M1', sent }, ...changes });

export const after = (from: Job, event: JobEvent, changes: Partial<JobContext> = {}) =>
  step(from, event, context(changes));

export const submitted = (
  from: Job,
  result: SubmitResult | ServiceFailure,
  changes: Partial<JobContext> = {},
) =>
  after(
    from,
    {
      type: 'submitted',
      result: 'class' in result ? { ok: false, error: result } : { ok: true, value: result },
    },
    changes,
  );

export const seen = (
  from: Job,
  why: 'poll' | 'modal',
  task: Partial<Task>,
  changes: Partial<JobContext> = {},
) => {
  const value: Task = { id: 'M1', state: 'modal', status: 'MODAL', buttons: [], ...task };
  return after(from, { type: 'fetched', why, result: { ok: true, value } }, changes);
};
