import { basename, join, relative, resolve } from 'node:path';
import { createImageFiles } from '../../../artifacts/input/known-files.ts';
import { SharedImages } from '../../../engine/images.ts';
import type { EnginePool } from '../../../engine/postgres/pool.ts';
import type { FilePort } from '../../../pipeline/files.ts';
import { isWithin } from '../../../pipeline/files.ts';
import { listingName, listingText } from '../../../pipeline/matrix/table/glob.ts';
import { parsePipeline } from '../../../pipeline/parse.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import { prepareSteps, type StepsPlan } from '../../../plan/plan.ts';
import { machineFiles } from '../../adapters/files.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors/cli-error.ts';
import { settleService } from '../../service/settings.ts';
import { type AdmittedService, admit } from '../../service/trust.ts';
import { filesRoot } from '../../workspace/read-pipeline.ts';
import { type RunSpec, refuseReduced, type SpecTable } from '../spec.ts';

/** A run as a worker has prepared it, from its spec alone. */
export interface PreparedRun {
  readonly pipeline: Pipeline;
  readonly plan: StepsPlan;
  readonly images: SharedImages;
  /** The folder on this machine that the pipeline's files must lie in, links resolved. */
  readonly filesRoot: string;
  readonly service: AdmittedService & { readonly baseUrl: string };
}

/** A run that a worker is about to prepare. */
export interface PreparedFor {
  readonly pool: EnginePool;
  readonly run: number;
  readonly invocation: number;
  /** Where its pipeline comes from, for messages. */
  readonly shown: string;
}

/**
 * Prepares a run without its tables.
 *
 * @throws CliError (exit 2) that names what this machine lacks and how to provide it
 */
export async function prepareRun(
  spec: RunSpec,
  flags: { readonly 'files-root'?: string | undefined },
  run: PreparedFor,
  context: Context,
): Promise<PreparedRun> {
  const { root, folder } = await placeHere(spec, flags['files-root'], context.io.cwd);
  const { file, text, set } = spec.pipeline;
  const { pipeline, diagnostics } = await parsePipeline(
    { file, folder, text, ...(set === undefined ? {} : { set }) },
    withoutTables(machineFiles(root), spec.tables, folder),
  );
  if (pipeline === undefined) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw usageError(
      `Its pipeline is not valid on this machine: ${first?.message ?? ''}`,
      `Its files are looked for below ${root}: start the worker in a copy of the project, or name that with --files-root.`,
    );
  }
  refuseReduced(pipeline);
  const service = await serviceHere(spec, pipeline, run.shown, context);
  const images = new SharedImages(createImageFiles({ folder, filesRoot: root }), run.pool, run.run, false);
  images.begin(run.invocation);
  const prepared = prepareSteps(pipeline, { serviceId: spec.service.id, images });
  if (!prepared.ok) throw usageError(prepared.error.map(({ message }) => message).join(' '));
  return { pipeline, plan: prepared.value, images, filesRoot: root, service };
}

/**
 * Returns the folder of the pipeline's files on this machine: below the folder that the user named, or below the current one. A worker
 * reads no other files, whatever the spec names.
 */
async function placeHere(
  { pipeline, filesRoot: recorded }: RunSpec,
  flag: string | undefined,
  cwd: string,
): Promise<{ readonly root: string; readonly folder: string }> {
  const own = await filesRoot(flag, cwd, cwd);
  if (isWithin(own, recorded)) return { root: recorded, folder: pipeline.folder };
  if (isWithin(own, pipeline.folder)) return { root: own, folder: pipeline.folder };
  const below = relative(recorded, pipeline.folder);
  return { root: own, folder: isWithin(recorded, pipeline.folder) ? join(own, below) : own };
}

/** Settles the service from this machine's environment and checks that it is the service of the run. */
async function serviceHere(
  { service: wanted }: RunSpec,
  { source, service }: Pipeline,
  run: string,
  context: Context,
): Promise<PreparedRun['service']> {
  const { io, redactor } = context;
  const part = { source, service: { ...service, baseUrl: wanted.baseUrl ?? service.baseUrl } };
  const settled = settleService(part, { sandbox: false }, io.env, redactor);
  const { baseUrl } = settled;
  if (baseUrl === undefined) throw new Error('Internal error: a run on an engine has a service.');
  const { origin } = new URL(baseUrl);
  if (origin !== wanted.origin)
    throw usageError(
      `Its service is ${wanted.origin}, and the environment of this worker names ${origin}.`,
      `Start a worker with PROMPTPRESS_BASE_URL=${wanted.baseUrl ?? wanted.origin} for it.`,
    );
  if (settled.id !== wanted.id)
    throw usageError(
      `Its service is known as ${wanted.id} (service.id), and in the environment of this worker it would be ${settled.id}.`,
      'Give the worker the same variables as the run.',
    );
  return { ...(await admit(settled, run, context, { mayAsk: true, isKeyless: true })), baseUrl };
}

/**
 * Returns file access that replaces each table by its header and one unused row, so that a pipeline can be read and checked without its
 * tables. The coordinator has checked the images, which may be missing here too.
 *
 * @param folder of the pipeline
 */
function withoutTables(files: FilePort, tables: readonly SpecTable[], folder: string): FilePort {
  const stubs = new Map(tables.map((table) => [fileOf(table, folder), Buffer.from(stubOf(table))]));
  async function* read(file: string): AsyncGenerator<Uint8Array> {
    const stub = stubs.get(file);
    if (stub === undefined) yield* files.read(file);
    else yield stub;
  }
  async function* list(listing: string): AsyncGenerator<Uint8Array> {
    const stub = stubs.get(listing);
    if (stub === undefined) yield* files.list(listing);
    else yield stub;
  }
  return {
    root: files.root,
    read,
    list,
    facts: async (file) => {
      const bytes = stubs.get(file)?.length ?? 1;
      return { kind: 'file', realPath: join(files.root, basename(file)), bytes };
    },
  };
}

const fileOf = ({ format, declared }: SpecTable, folder: string): string =>
  format === 'files' ? listingName(folder, declared) : resolve(folder, declared);

function stubOf({ format, columns }: SpecTable): string {
  // Built by hand: a JavaScript object would reorder names that are numbers.
  const row = `{${columns.map((name) => `${JSON.stringify(name)}: null`).join(', ')}}`;
  switch (format) {
    case 'csv':
      return `${columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n${columns.map(() => 'x').join(',')}\n`;
    case 'tsv':
      return `${columns.join('\t')}\n${columns.map(() => 'x').join('\t')}\n`;
    case 'jsonl':
      return `${row}\n`;
    case 'json':
    case 'yaml':
      return `[${row}]\n`;
    case 'files':
      return listingText(['x']);
  }
}
