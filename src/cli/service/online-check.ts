import type { Plan } from '../../plan/plan.ts';
import { counted } from '../../report/text/amounts.ts';
import { closingAfter } from '../adapters/disposables.ts';
import type { Context } from '../args/command.ts';
import { failureText } from '../errors/render.ts';
import { askModels, type ListedModels, modelsOf, unlistedModels } from './models.ts';
import { type ServiceFlags, settleService } from './settings.ts';
import { admit } from './trust.ts';

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
  async check(plan: Plan): Promise<void> {
    const { io, redactor } = this.#context;
    const { pipeline } = plan;
    const uses = await modelsOf(plan, {});
    if (uses.length === 0) {
      await io.out(`  asks no text model: the service was not asked\n`);
      return;
    }
    const { origin, models } = await this.#list(pipeline);
    const warnings = unlistedModels(uses, models);
    const found = warnings.length === 0 ? 'all of them are there' : 'some are not on it';
    await io.out(
      redactor.apply(
        `  GET ${origin}/v1/models: ${counted(models.length, 'model')}; the pipeline asks ${uses.length}, ${found}\n`,
      ),
    );
    for (const warning of warnings) io.err(redactor.apply(failureText(`warning: ${warning}`)));
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
