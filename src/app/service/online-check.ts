import { isTextKind } from '../../pipeline/kinds.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ModelCheck } from '../../report/text/validation.ts';
import { closingAfter, type Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { askImages, askModels, modelsOf, notListed, unlistedModels } from './models.ts';
import { type ServiceFlags, settleService } from './settings.ts';
import { type AdmittedService, admit } from './trust.ts';

/** The result of a check of the service and the models of one pipeline, with warnings. */
export interface OnlineFinding {
  readonly models: ModelCheck;
  readonly warnings: readonly string[];
}

/**
 * Checks services for `validate --online`: compares the models of pipelines with the services' lists, and tests address, names and key of
 * the image workflow if a pipeline uses it.
 */
export class OnlineCheck {
  readonly #flags: ServiceFlags;
  readonly #context: Context;
  /** Answers by question, address, names and key: each service is asked once, however many pipelines name it. */
  readonly #asked = new Map<string, unknown>();

  constructor(flags: ServiceFlags, context: Context) {
    this.#flags = flags;
    this.#context = context;
  }

  /** Checks a pipeline. @throws CliError if address or key is missing (exit 2), or the service gives a wrong answer (exit 3) */
  async check(plan: Plan): Promise<OnlineFinding> {
    const { pipeline } = plan;
    const uses = await modelsOf(plan, {});
    const asksTexts = uses.length > 0;
    const asksImages = pipeline.steps.some(({ kind }) => !isTextKind(kind));
    if (!asksTexts && !asksImages) return { models: { asked: 0, unlisted: [] }, warnings: [] };
    const { io, redactor } = this.#context;
    const settled = settleService(pipeline, this.#flags, io.env, redactor);
    const service = await admit(settled, pipeline.source.file, this.#context, { mayAsk: false });
    const warnings: string[] = [];
    const images = asksImages
      ? await this.#once('images', service, (signal, disposables) =>
          askImages(service, pipeline, io.env, (words) => warnings.push(words), signal, disposables),
        )
      : undefined;
    const listed = asksTexts
      ? await this.#once('models', service, (signal, disposables) =>
          askModels(service, pipeline, io.env, signal, disposables),
        )
      : undefined;
    const { origin = images, models = [] } = listed ?? {};
    const unlisted = notListed(uses, models).map(({ model, step, line }) => ({ model, step, line }));
    return {
      models: {
        asked: uses.length,
        ...(origin === undefined ? {} : { service: origin }),
        ...(listed === undefined ? {} : { listed: models.length }),
        ...(asksImages ? { images: true } : {}),
        unlisted,
      },
      warnings: [...warnings, ...unlistedModels(uses, models)],
    };
  }

  async #once<T>(
    what: string,
    { baseUrl = '', apiKey = '', auth, names }: AdmittedService,
    ask: (signal: AbortSignal, disposables: Disposables) => Promise<T>,
  ): Promise<T> {
    const name = JSON.stringify([what, baseUrl, apiKey, auth, names]);
    if (this.#asked.has(name)) return this.#asked.get(name) as T;
    const answer = await closingAfter(async (disposables) => {
      const interrupts = this.#context.io.interrupts();
      disposables.add(() => interrupts.stop());
      return await ask(interrupts.drain, disposables);
    });
    this.#asked.set(name, answer);
    return answer;
  }
}
