import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import { isTextKind } from '../../pipeline/kinds.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { TemplateTree } from '../../pipeline/templates/template.ts';
import { isTemplate } from '../../pipeline/templates/tree.ts';
import type { Selection } from '../../plan/cell.ts';
import { chosenSteps } from '../../plan/graph/step-selection.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import type { Plan } from '../../plan/plan.ts';
import { shownLine } from '../../report/text/printable.ts';
import { createImageService } from '../../service/client.ts';
import { sandboxKey } from '../../service/http/secrets.ts';
import type { ServiceOptions } from '../../service/http-client.ts';
import type { Model } from '../../service/text-service.ts';
import type { Disposables } from '../adapters/disposables.ts';
import { CliError, exitCodes } from '../errors/cli-error.ts';
import type { Environment } from '../output/io.ts';
import { connectingTo, openTextService, serviceOptions } from './clients.ts';
import { sandboxNames } from './sandbox.ts';
import type { AdmittedService } from './trust.ts';

/** The models of a service, by id, and the service that listed them. */
export interface ListedModels {
  /** Origin of the address. */
  readonly origin: string;
  readonly models: readonly Model[];
}

/** Asks a service for its models; with `--sandbox` starts one first. @throws CliError (exit 3) when it lists none */
export async function askModels(
  service: AdmittedService,
  settings: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
  signal: AbortSignal,
  disposables: Disposables,
): Promise<ListedModels> {
  const options = await optionsOf(service, settings, env, disposables);
  const result = await openTextService(options, settings.timeouts, disposables).models(signal);
  if (!result.ok) throw new CliError(exitCodes.stopped, result.error.message);
  const models = result.value.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return { origin: new URL(options.baseUrl).origin, models };
}

/** A task id in the form of the proxies of this family (gateway 3.4), too old to belong to any task. */
const taskOfNobody = '1000000000000001';

/**
 * Checks the image workflow of a service by asking for a task that it does not have. Only a service that exists, knows the names and
 * accepts the key says so; nothing is made.
 *
 * @param onKeyForm called if the service accepts the key in another form than the settings say
 * @returns the origin of its address
 * @throws CliError (exit 3) when it gives any other answer
 */
export async function askImages(
  service: AdmittedService,
  settings: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
  onKeyForm: (words: string) => void,
  signal: AbortSignal,
  disposables: Disposables,
): Promise<string> {
  const options = await optionsOf(service, settings, env, disposables);
  const images = createImageService({ ...options, onKeyForm });
  disposables.add(() => images.close());
  const result = await images.fetchTask(taskOfNobody, signal);
  if (!result.ok && result.error.code !== 'service.task-unknown')
    throw new CliError(exitCodes.stopped, result.error.message);
  return new URL(options.baseUrl).origin;
}

/** Returns the options of a client; with `--sandbox`, of a service that is started for it. */
async function optionsOf(
  service: AdmittedService,
  settings: Pick<Pipeline, 'limits' | 'timeouts'>,
  env: Environment,
  disposables: Disposables,
): Promise<ServiceOptions> {
  const baseUrl = service.baseUrl ?? (await startedSandbox(service, disposables));
  const connecting = connectingTo(service, settings, env);
  return serviceOptions(baseUrl, service, settings.timeouts.requestMs, connecting, disposables);
}

async function startedSandbox(service: AdmittedService, disposables: Disposables): Promise<string> {
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    apiKey: service.apiKey ?? sandboxKey,
    names: sandboxNames(service.names),
    settings: { auth: service.auth },
  });
  disposables.add(() => sandbox.close());
  return sandbox.url;
}

/** Number of cells whose requests are examined for models that a template names. */
const maxCells = 200;

const maxModels = 50;

/** A model that a pipeline uses, and one of the steps that use it. */
export interface ModelUse {
  readonly model: string;
  readonly step: string;
  /** Position of that step, such as `foxes.yaml:12`. */
  readonly place: string;
  /** Line of that position, from 1. */
  readonly line: number;
}

/** Returns the models that the chosen text steps use: those written out, and those of the first cells. */
export async function modelsOf(plan: Plan, selection: Selection): Promise<readonly ModelUse[]> {
  const chosen = chosenSteps(plan, selection.only);
  if (!chosen.ok) return [];
  const steps = plan.pipeline.steps.filter(
    ({ name, kind }) => isTextKind(kind) && chosen.value.steps.has(name),
  );
  const uses = new Map<string, ModelUse>();
  const { source } = plan.pipeline;
  const lines = new Map(steps.map(({ name, position }) => [name, position.line]));
  const add = (model: string, step: string): void => {
    const line = lines.get(step) ?? 1;
    if (uses.size < maxModels && !uses.has(model))
      uses.set(model, { model, step, place: `${source.file}:${line}`, line });
  };
  let rendered = false;
  for (const { name, request } of steps) {
    const written = literalOf(request['model']);
    if (written === undefined) rendered = true;
    else add(written, name);
  }
  if (!rendered) return [...uses.values()];
  const limit = Math.min(selection.limit ?? maxCells, maxCells);
  for await (const cell of plan.matrix.cells({ ...selection, limit })) {
    for (const { job, step } of plan.resolve(cell, () => undefined)) {
      if (job === undefined || !isTextRequest(job.request)) continue;
      const { model } = job.request.fields;
      if (typeof model === 'string' && chosen.value.steps.has(step)) add(model, step);
    }
  }
  return [...uses.values()];
}

/** Whether a chosen step uses a model. */
export function asksModels(plan: Pick<Plan, 'pipeline' | 'slotGraph'>, { only }: Selection): boolean {
  const chosen = chosenSteps(plan, only);
  return (
    chosen.ok &&
    plan.pipeline.steps.some(({ name, kind }) => isTextKind(kind) && chosen.value.steps.has(name))
  );
}

/** Returns the models that are missing in the service's list; an empty list says nothing about any model. */
export function notListed(uses: readonly ModelUse[], listed: readonly Model[]): readonly ModelUse[] {
  const known = new Set(listed.map(({ id }) => id));
  return known.size === 0 ? [] : uses.filter(({ model }) => !known.has(model));
}

/** Returns warnings about unlisted models; not errors, since a list may be incomplete. */
export function unlistedModels(uses: readonly ModelUse[], listed: readonly Model[]): readonly string[] {
  const known = new Set(listed.map(({ id }) => id));
  return notListed(uses, listed).map(({ model, step, place }) => {
    const near = nearest(model, known);
    const hint = near === undefined ? 'promptpress models lists what there is.' : `Did you mean "${near}"?`;
    return shownLine(
      `${place} model.unlisted The service does not list the model "${model}" that the step "${step}" asks. ${hint}`,
    );
  });
}

function literalOf(tree: TemplateTree | undefined): string | undefined {
  if (tree === undefined || !isTemplate(tree)) return undefined;
  return tree.variables.length === 0 && tree.steps.length === 0 && !/\{[{%]/.test(tree.source)
    ? tree.source
    : undefined;
}
