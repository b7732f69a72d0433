import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import type { FilePort } from '../../pipeline/files.ts';
import { parsePipeline } from '../../pipeline/parse.ts';
import type { AxisSetting, Pipeline } from '../../pipeline/pipeline.ts';
import { yamlLimits } from '../../pipeline/yaml/limits.ts';
import { quoted } from '../../report/text/printable.ts';
import { defaultFilesRoot, machineFiles } from '../adapters/files.ts';
import type { Context } from '../context.ts';
import { CliError, exitCodes, ReportedError, usageError } from '../errors/cli-error.ts';
import type { Io } from '../output/io.ts';
import { noPipelineFile } from './default-file.ts';

/** A pipeline that was read, and access to its files. */
export interface ReadPipeline {
  readonly pipeline: Pipeline;
  /** Absolute path of the pipeline file. */
  readonly path: string;
  readonly files: FilePort;
}

/** The text of a pipeline, and the folder of its tables, images and runs. */
export interface PipelineText {
  readonly text: string;
  /** Path of the folder, relative to the current one, or absolute. */
  readonly folder: string;
}

/** Name of a pipeline without a file, in messages and in its run directory. */
const nameOfText = 'pipeline.yaml';

/**
 * Reads and checks a pipeline, and prints every diagnostic.
 *
 * @param given its file as the user gave it, relative to the current folder; or its text
 * @throws CliError if there is no such file, Reported (exit 2) if it is not valid
 */
export async function loadPipeline(
  given: string | PipelineText,
  flags: { readonly 'files-root'?: string | undefined; readonly set?: readonly AxisSetting[] },
  context: Context,
): Promise<ReadPipeline> {
  const { pipeline, path, files, diagnostics } = await checkPipeline(given, flags, context);
  if (pipeline === undefined && typeof given === 'string') refuseOtherFile(given, diagnostics, context);
  if (pipeline === undefined) throw await reported(diagnostics, context);
  await printDiagnostics(diagnostics, context);
  return { pipeline, path, files };
}

/** Whether a file is not a pipeline at all: it lacks everything that every pipeline has. */
const ofNoPipeline = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ code, line }) => code === 'yaml.syntax' || (code === 'schema.type' && line === 1)) ||
  diagnostics.filter(({ code }) => code === 'schema.missing-key').length > 1;

/**
 * Refuses a file that is clearly not a pipeline by its name and its contents; a list of missing keys would mislead the user.
 *
 * @param diagnostics of a file that is not valid
 * @throws CliError (exit 2)
 */
export function refuseOtherFile(
  file: string,
  diagnostics: readonly Diagnostic[],
  { io }: Pick<Context, 'io'>,
): void {
  if (/\.(?:ya?ml|json)$/i.test(file) || !ofNoPipeline(diagnostics)) return;
  throw noPipelineFile(
    /\.(?:csv|tsv|jsonl|ndjson|xlsx?|ods)$/i.test(file)
      ? `${file} is a table, not a pipeline. A pipeline names its table: matrix: { rows: ${basename(file)} }.`
      : `${file} is not a pipeline: a pipeline is a YAML file (.yaml) with a name and steps, and this one has neither.`,
    file,
    io,
  );
}

/** Reads and checks a pipeline without printing. @throws CliError if there is no such file */
export async function checkPipeline(
  given: string | PipelineText,
  flags: { readonly 'files-root'?: string | undefined; readonly set?: readonly AxisSetting[] },
  { io }: Context,
): Promise<
  Partial<Pick<ReadPipeline, 'pipeline'>> &
    Omit<ReadPipeline, 'pipeline'> & { readonly diagnostics: readonly Diagnostic[] }
> {
  const isFile = typeof given === 'string';
  const file = isFile ? given : nameOfText;
  const path = isFile ? resolve(io.cwd, given) : resolve(io.cwd, given.folder, nameOfText);
  const text = isFile ? await readText(path, given, io) : given.text;
  const folder = dirname(path);
  const files = machineFiles(await filesRoot(flags['files-root'], folder, io.cwd));
  const { pipeline, diagnostics } = await parsePipeline(
    { file, folder, text, ...(flags.set === undefined ? {} : { set: flags.set }) },
    files,
  );
  return { path, files, diagnostics, ...(pipeline === undefined ? {} : { pipeline }) };
}

/** Prints diagnostics, and returns the error to throw. @returns an error with exit code 2 */
export async function reported(diagnostics: readonly Diagnostic[], context: Context): Promise<ReportedError> {
  await printDiagnostics(diagnostics, context);
  return new ReportedError(exitCodes.usage, diagnostics);
}

/** Prints diagnostics on standard error, in the order of the file. */
export async function printDiagnostics(diagnostics: readonly Diagnostic[], { io }: Context): Promise<void> {
  if (diagnostics.length === 0) return;
  const { formatDiagnostic } = await import('../../pipeline/diagnostics/format.ts');
  for (const diagnostic of diagnostics) {
    io.err(`${formatDiagnostic(diagnostic, { color: io.colors })}\n`);
  }
}

async function readText(path: string, file: string, io: Pick<Io, 'cwd'>): Promise<string> {
  try {
    return await readStart(path, file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw noPipelineFile(`There is no file ${file}.`, file, io);
    }
    if (code === 'EISDIR')
      throw noPipelineFile(`${file} is a folder; this command takes a pipeline file.`, file, io);
    if (code === 'EACCES' || code === 'EPERM')
      throw usageError(`${file} cannot be read.`, `Allow yourself to read it: chmod u+r ${quoted(file)}`);
    if (code === 'ENAMETOOLONG' || code === 'ELOOP' || code === 'ERR_INVALID_ARG_VALUE') {
      throw usageError(`No file can be named ${file.slice(0, 200)}.`, (error as Error).message.slice(0, 200));
    }
    throw error;
  }
}

/** Largest size of a pipeline in bytes: one UTF-16 code unit takes at most three. */
const maxBytes = 3 * yamlLimits.characters + 4;

/** Reads a file, or the start of one that is too large. @throws CliError if it is not a regular file */
async function readStart(path: string, file: string): Promise<string> {
  const facts = await stat(path);
  // Opening a pipe would wait for a writer, and a device may have no end.
  if (!facts.isFile() && !facts.isDirectory()) throw usageError(`${file} is neither a file nor a folder.`);
  await using handle = await open(path);
  const bytes = Buffer.alloc(Math.min(maxBytes, Math.max(facts.size, 64 * 1024)) + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.toString('utf8', 0, length);
}

/** Returns the folder that the pipeline's files must lie in, links resolved. @throws CliError if the flag's folder does not exist */
export async function filesRoot(flag: string | undefined, folder: string, cwd: string): Promise<string> {
  if (flag === undefined) return await realpath(defaultFilesRoot(folder));
  try {
    return await realpath(resolve(cwd, flag));
  } catch (cause) {
    throw usageError(`--files-root: there is no folder ${flag}.`, (cause as Error).message);
  }
}
