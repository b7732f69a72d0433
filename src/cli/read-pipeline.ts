import { readFile, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Diagnostic } from '../pipeline/diagnostic.ts';
import type { FilePort } from '../pipeline/files.ts';
import { formatDiagnostic } from '../pipeline/format.ts';
import { parsePipeline } from '../pipeline/parse.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Context } from './command.ts';
import { exitCodes, Reported, usageError } from './failure.ts';
import { defaultFilesRoot, machineFiles } from './files.ts';

/** A pipeline that was read, and the files that it may use. */
export interface ReadPipeline {
  readonly pipeline: Pipeline;
  /** Absolute path of its file. */
  readonly path: string;
  readonly files: FilePort;
}

/**
 * Reads and checks a pipeline file, and prints every diagnostic.
 *
 * @param file as the user gave it, relative to the current folder
 * @throws CliError when there is no such file, Reported (exit 2) when it is not valid
 */
export async function readPipeline(
  file: string,
  flags: { readonly 'files-root'?: string | undefined },
  context: Context,
): Promise<ReadPipeline> {
  const { pipeline, path, files, diagnostics } = await checkPipeline(file, flags, context);
  printDiagnostics(diagnostics, context);
  if (pipeline === undefined) throw new Reported(exitCodes.usage);
  return { pipeline, path, files };
}

/** Reads and checks a pipeline file; says nothing. @throws CliError when there is no such file */
export async function checkPipeline(
  file: string,
  flags: { readonly 'files-root'?: string | undefined },
  { io }: Context,
): Promise<
  Partial<Pick<ReadPipeline, 'pipeline'>> &
    Omit<ReadPipeline, 'pipeline'> & { readonly diagnostics: readonly Diagnostic[] }
> {
  const path = resolve(io.cwd, file);
  const text = await readText(path, file);
  const folder = dirname(path);
  const files = machineFiles(await filesRoot(flags['files-root'], folder, io.cwd));
  const { pipeline, diagnostics } = await parsePipeline({ file, folder, text }, files);
  return { path, files, diagnostics, ...(pipeline === undefined ? {} : { pipeline }) };
}

/** Shows diagnostics on standard error, in the order of the file. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], { io, redactor }: Context): void {
  for (const diagnostic of diagnostics) {
    io.err(redactor.apply(`${formatDiagnostic(diagnostic, { color: io.colors })}\n`));
  }
}

async function readText(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw usageError(`There is no file ${file}.`, 'promptpress init writes a first pipeline.');
    }
    if (code === 'EISDIR') throw usageError(`${file} is a folder; this command takes a pipeline file.`);
    if (code === 'EACCES' || code === 'EPERM') throw usageError(`${file} may not be read.`);
    throw error;
  }
}

/** The folder that the pipeline's files must lie in, links resolved. @throws CliError when the flag names none */
export async function filesRoot(flag: string | undefined, folder: string, cwd: string): Promise<string> {
  if (flag === undefined) return await realpath(defaultFilesRoot(folder));
  try {
    return await realpath(resolve(cwd, flag));
  } catch (cause) {
    throw usageError(`--files-root: there is no folder ${flag}.`, (cause as Error).message);
  }
}
