import type { Plan } from '../../plan/plan.ts';
import type { ModelCheck } from '../../report/text/validation.ts';
import { closingAfter } from '../adapters/disposables.ts';
import type { Context } from '../args/command.ts';
import { askModels, type ListedModels, modelsOf, notListed, unlistedModels } from './models.ts';
import { type ServiceFlags, settleService } from './settings.ts';
import { admit } from './trust.ts';

/** What is found of the models of one pipeline, and what is to be said of those that are not listed. */
export interface OnlineFinding {
  readonly models: ModelCheck;
  readonly warnings: readonly string[];
}

/** `validate --online`: compares the models of pipelines with those that their services list. */
export class OnlineCheck {
  readonly #flags: ServiceFlags;
  readonly #context: Context;
  /** By address and key: each service is asked once, however many pipelines name it. */
  readonly #asked = new Map<string, ListedModels>();

  constructor(flags: ServiceFlags, context: Context) {
    this.#flags = flags;
    this.#context = context;
  }

  /** @throws CliError when address or key is missing (exit 2), or the service gives no list (exit 3) */
  async check(plan: Plan): Promise<OnlineFinding> {
    const uses = await modelsOf(plan, {});
    if (uses.length === 0) return { models: { asked: 0, unlisted: [] }, warnings: [] };
    const { origin, models } = await this.#list(plan.pipeline);
    const unlisted = notListed(uses, models).map(({ model, step, line }) => ({ model, step, line }));
    return {
      models: { asked: uses.length, service: origin, listed: models.length, unlisted },
      warnings: unlistedModels(uses, models),
    };
  }

  async #list(pipeline: Plan['pipeline']): Promise<ListedModels> {
    const { io, redactor } = this.#context;
    const settled = settleService(pipeline, this.#flags, io.env, redactor);
    const service = await admit(settled, pipeline.source.file, this.#context, { mayAsk: false });
    const name = service.baseUrl === undefined ? 'sandbox' : `${service.baseUrl}\n${service.apiKey}`;
    const known = this.#asked.get(name);
    if (known !== undefined) return known;
    const listed = await closingAfter(async (disposables) => {
      const interrupts = io.interrupts();
      disposables.add(() => interrupts.stop());
      return await askModels(service, pipeline, io.env, interrupts.drain, disposables);
    });
    this.#asked.set(name, listed);
    return listed;
  }
}
