import type { Job } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import type { SubmitAnswer } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { context, epoch, imagineRecord, job } from '../../rig/jobs.ts';

export const submitting = (changes = {}): Job =>
  job(imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch, ...changes }), {
    want: { kind: 'answer' },
  });

export const submitted = (answer: SubmitAnswer | ServiceFailure, from = submitting(), changes = {}) =>
  step(
    from,
    {
      type: 'submitted',
      answer: 'class' in answer ? { ok: false, error: answer } : { ok: true, value: answer },
    },
    context(changes),
  );
