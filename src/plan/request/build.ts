import type { Pipeline, Step } from '../../pipeline/pipeline.ts';
import { ClickTemplate } from './click.ts';
import { entryRequest } from './entry.ts';
import type { RequestTemplate } from './request.ts';
import { textRequest } from './text.ts';

/** The request of a step's own operation. @param models what the pipeline says of text models */
export function stepRequest(step: Step, models: Pipeline['models']): RequestTemplate {
  switch (step.kind) {
    case 'generate':
    case 'chat':
      return textRequest(step, step.kind, models);
    case 'imagine':
    case 'blend':
    case 'describe':
    case 'video':
    case 'edit':
      return entryRequest(step, step.kind);
    case 'click':
      if (step.selector === undefined)
        throw new Error(`Internal error: step "${step.name}" presses nothing, and passed the checks.`);
      return new ClickTemplate(step.request, step.extra, step.selector);
  }
}
