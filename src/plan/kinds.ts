import type { StepKind } from '../pipeline/kinds.ts';
import type { Pipeline, Step } from '../pipeline/pipeline.ts';
import { clickRequest } from './request/click.ts';
import { entryRequest } from './request/entry.ts';
import type { RequestTemplate } from './request/request.ts';
import { textRequest } from './request/text.ts';

/**
 * Makes the request of a step's own operation, by its kind. The price follows from the request: from its button or its model.
 *
 * @param models what the pipeline says about text models
 */
type RequestOf = (step: Step, models: Pipeline['models']) => RequestTemplate;

export const requestOf = {
  imagine: (step) => entryRequest(step, 'imagine', 'without images'),
  click: clickRequest,
  blend: (step) => entryRequest(step, 'blend', 'never'),
  describe: (step) => entryRequest(step, 'describe', 'never'),
  shorten: (step) => entryRequest(step, 'shorten', 'always'),
  video: (step) => entryRequest(step, 'video', 'never'),
  edit: (step) => entryRequest(step, 'edit', 'always'),
  generate: (step, models) => textRequest(step, 'generate', models),
  chat: (step, models) => textRequest(step, 'chat', models),
} as const satisfies Readonly<Record<StepKind, RequestOf>>;
