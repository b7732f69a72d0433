import { basename, join, relative, resolve } from 'node:path';
import { createImageFiles } from '../../../artifacts/input/known-files.ts';
import { SharedImages } from '../../../engine/images.ts';
import { EngineError } from '../../../engine/postgres/engine-error.ts';
import type { EnginePool } from '../../../engine/postgres/pool.ts';
import { readTable } from '../../../engine/state/tables.ts';
import type { FilePort } from '../../../pipeline/files.ts';
import { isWithin } from '../../../pipeline/files.ts';
import { listingName, listingText } from '../../../pipeline/matrix/table/glob.ts';
import { parsePipeline } from '../../../pipeline/parse.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import { preparePlan, prepareSteps, type StepsPlan } from '../../../plan/plan.ts';
import { machineFiles } from '../../adapters/files.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors/cli-error.ts';
import { settleService } from '../../service/settings.ts';
import { type AdmittedService, admit } from '../../service/trust.ts';
import { filesRoot } from '../../workspace/read-pipeline.ts';
import { hasGroups, type RunSpec, type SpecTable } from '../spec.ts';

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
 * Prepares a run without its tables; where it has groups of cells, with the copies that the engine has of them.
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
    withTables(machineFiles(root), spec.tables, folder, stubOf),
  );
  if (pipeline === undefined) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw usageError(
      `Its pipeline is not valid on this machine: ${first?.message ?? ''}`,
      `Its files are looked for below ${root}: start the worker in a copy of the project, or name that with --files-root.`,
    );
  }
  const service = await serviceHere(spec, pipeline, run.shown, context);
  const images = new SharedImages(createImageFiles({ folder, filesRoot: root }), run.pool, run.run, false);
  images.begin(run.invocation);
  const surroundings = { serviceId: spec.service.id, images };
  let unread: EngineError | undefined;
  async function* copyOf({ sha256 }: SpecTable): AsyncGenerator<Uint8Array> {
    try {
      yield* readTable(run.pool, run.run, sha256);
    } catch (error) {
      if (error instanceof EngineError) unread = error;
      throw error;
    }
  }
  const copies = withTables(machineFiles(root), spec.tables, folder, copyOf);
  const prepared = hasGroups(pipeline)
    ? await preparePlan(pipeline, { ...surroundings, files: copies })
    : prepareSteps(pipeline, surroundings);
  // The engine may be there again in a moment, and the table is not wrong.
  if (unread !== undefined) throw unread;
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
 * Returns file access that replaces each table: by its copy, or by its header and one unused row, with which a pipeline can be read and
 * checked. The coordinator has checked the images, which may be missing here too.
 *
 * @param folder of the pipeline
 */
function withTables(
  files: FilePort,
  tables: readonly SpecTable[],
  folder: string,
  read: (table: SpecTable) => AsyncIterable<Uint8Array>,
): FilePort {
  const known = new Map(tables.map((table) => [fileOf(table, folder), table]));
  return {
    root: files.root,
    read: (file) => {
      const table = known.get(file);
      return table === undefined ? files.read(file) : read(table);
    },
    list: (listing) => {
      const table = known.get(listing);
      return table === undefined ? files.list(listing) : read(table);
    },
    facts: async (file) => ({ kind: 'file', realPath: join(files.root, basename(file)), bytes: 1 }),
  };
}

const fileOf = ({ format, declared }: SpecTable, folder: string): string =>
  format === 'files' ? listingName(folder, declared) : resolve(folder, declared);

async function* stubOf(table: SpecTable): AsyncGenerator<Uint8Array> {
  yield Buffer.from(stubTextOf(table));
}

function stubTextOf({ format, columns }: SpecTable): string {
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
