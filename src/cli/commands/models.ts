import { closingAfter } from '../../app/adapters/disposables.ts';
import { machineFiles } from '../../app/adapters/files.ts';
import type { Context } from '../../app/context.ts';
import { exitCodes } from '../../app/errors/cli-error.ts';
import { failureText } from '../../app/errors/render.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import { askModels, type ModelUse, modelsOf, unlistedModels } from '../../app/service/models.ts';
import { settleService } from '../../app/service/settings.ts';
import { admit } from '../../app/service/trust.ts';
import { imagesForPlan } from '../../app/workspace/images.ts';
import { loadPipeline, type ReadPipeline, reported } from '../../app/workspace/read-pipeline.ts';
import { parsePipeline } from '../../pipeline/parse.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { preparePlan } from '../../plan/plan.ts';
import { counted } from '../../report/text/amounts.ts';
import { shownLine } from '../../report/text/printable.ts';
import { tableLines } from '../../report/text/table.ts';
import { type NamePreset, namePresets } from '../../service/names.ts';
import type { Model } from '../../service/text-service.ts';
import { command } from '../args/command.ts';
import { toggle, valued } from '../args/flags.ts';
import { placeFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';
import { oneOf } from '../args/values.ts';

const presets = Object.keys(namePresets) as readonly NamePreset[];

/** `promptpress models [FILE]` */
export const models = command(
  {
    name: 'models',
    summary: summaries.models,
    operands: '[FILE]',
    about: `Asks the service for its models (GET /v1/models) and shows the id of each, by which generate and chat steps name it, with other facts from the service. Nothing is submitted and nothing is paid. Address and key come from the environment; with FILE from its service block too, and the models in the pipeline are compared with the list.`,
    examples: [
      { command: 'promptpress models', does: 'of the service that the environment names' },
      { command: 'promptpress models pipeline.yaml', does: 'and whether it has the models of a pipeline' },
      { command: 'promptpress models --sandbox', does: 'of the local service' },
      { command: 'promptpress models --json', does: 'for a script' },
    ],
    flags: {
      sandbox: toggle('ask the local service'),
      'base-url': placeFlags['base-url'],
      names: valued(
        'NAMES',
        `the words of the service, without FILE: ${presets.join(' or ')}; default neutral`,
        oneOf(...presets),
      ),
      'files-root': placeFlags['files-root'],
      json: toggle('print one JSON object (schemas/models.schema.json)'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [file], context) =>
    await closingAfter(async (disposables) => {
      const { io, redactor } = context;
      const read = file === undefined ? undefined : await loadPipeline(file, flags, context);
      const pipeline = read?.pipeline ?? (await nothingButService(flags.names ?? 'neutral', io.cwd));
      const settled = settleService(pipeline, flags, io.env, redactor);
      const service = await admit(settled, file ?? 'the pipeline', context, { mayAsk: true });
      const uses = read === undefined ? undefined : await usesOf(read, service.id, context);
      const interrupts = io.interrupts();
      disposables.add(() => interrupts.stop());
      const { origin, models } = await askModels(service, pipeline, io.env, interrupts.drain, disposables);

      const listed = new Set(models.map(({ id }) => id));
      const unlisted = uses
        ?.filter(({ model }) => !listed.has(model))
        .map(({ model, step }) => ({ model, step }));
      if (flags.json)
        await io.data(
          jsonLine({ service: origin, models: models.map(facts), ...(unlisted && { unlisted }) }),
        );
      else await io.out(tableText(models, origin));
      for (const warning of unlistedModels(uses ?? [], models)) {
        io.err(failureText(`warning: ${warning}`));
      }
      return exitCodes.ok;
    }),
);

/** Returns an empty pipeline with default settings, of which only the service is used. */
async function nothingButService(names: NamePreset, folder: string): Promise<Pipeline> {
  const text = `name: models\nservice: { names: ${names} }\nsteps: { none: { imagine: nothing } }\n`;
  const { pipeline } = await parsePipeline({ file: 'FILE', folder, text }, machineFiles(folder));
  if (pipeline === undefined) throw new Error('Internal error: the empty pipeline is not valid.');
  return pipeline;
}

async function usesOf(
  { pipeline, files }: ReadPipeline,
  serviceId: string,
  context: Context,
): Promise<readonly ModelUse[]> {
  const images = imagesForPlan(pipeline, files.root, undefined);
  const plan = await preparePlan(pipeline, { files, serviceId, images });
  if (plan.ok) return await modelsOf(plan.value, {});
  throw await reported(plan.error, context);
}

const facts = ({ id, ownedBy, created, endpoints }: Model) => ({
  id,
  ...(ownedBy === undefined ? {} : { ownedBy }),
  ...(created === undefined ? {} : { created: day(created) }),
  endpoints,
});

/** Formats Unix seconds as an ISO 8601 date; undefined for invalid numbers. */
function day(seconds: number): string | undefined {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function tableText(models: readonly Model[], origin: string): string {
  const rows = models.map(({ id, ownedBy, created, endpoints }) =>
    [
      id,
      ownedBy ?? '',
      created === undefined ? '' : (day(created)?.slice(0, 10) ?? ''),
      endpoints.join(', '),
    ].map(shownLine),
  );
  return [
    ...tableLines(rows, { head: ['id', 'owner', 'created', 'endpoints'] }),
    `${counted(models.length, 'model')} at ${shownLine(origin)}`,
    '',
  ].join('\n');
}
