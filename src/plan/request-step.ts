import type { Step } from '../pipeline/pipeline.ts';
import type { RequestTemplate } from './request.ts';
import { TaskRequest } from './request-task.ts';
import { textRequest } from './request-text.ts';

/** The request of a step's own operation. */
export function stepRequest(step: Step): RequestTemplate {
  if (step.kind === 'generate' || step.kind === 'chat') return textRequest(step, step.kind);
  if (step.kind === 'imagine') return new TaskRequest('imagine', step.request, step.extra, undefined);
  if (step.kind === 'click' && step.selector !== undefined)
    return new TaskRequest('click', step.request, step.extra, step.selector);
  throw new Error(`Internal error: step "${step.name}" of kind ${step.kind} cannot be planned.`);
}
