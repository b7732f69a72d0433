import type { Job } from '../../../src/run/machine/job.ts';
import type { SubmitResult } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';

export const submitting = (changes = {}): Job =>
  job(imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch, ...changes }), {
    nextRequest: { kind: 'answer' },
  });

export const submitted = (result: SubmitResult | ServiceFailure, from = submitting(), changes = {}) =>
  transition(from, changes).submitted(result);
