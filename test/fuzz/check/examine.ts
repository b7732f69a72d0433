import path from 'node:path';
import type { FilePort } from '../../../src/pipeline/files.ts';
import { TableError } from '../../../src/pipeline/matrix/table/error.ts';
import { parsePipeline } from '../../../src/pipeline/parse.ts';
import type { Pipeline } from '../../../src/pipeline/pipeline.ts';
import { preparePlan } from '../../../src/plan/plan.ts';
import { memoryListing } from '../../pipeline/listing-port.ts';
import { lawful } from './law.ts';

export const folder = path.resolve('/pipelines');

/** Files in memory; one that is not there can be looked for, and only that. */
export function filesOf(read: Readonly<Record<string, () => AsyncIterable<Uint8Array>>>): FilePort {
  const port: Omit<FilePort, 'list'> = {
    root: folder,
    read(file) {
      const open = read[path.relative(folder, file)];
      if (open === undefined) throw new Error(`no file ${file}`);
      return open();
    },
    facts(file) {
      const there = Object.hasOwn(read, path.relative(folder, file));
      return Promise.resolve(there ? { kind: 'file', realPath: file, bytes: 1 } : undefined);
    },
  };
  const names = Object.keys(read).map((name) => path.resolve(folder, name));
  return { ...port, list: memoryListing(port, () => names) };
}

const cellsExamined = 3;

/** Everything that `promptpress plan` does with a file before it shows anything. */
export async function examine(
  text: string,
  files: FilePort,
): Promise<{ codes: readonly string[]; pipeline?: Pipeline }> {
  const { pipeline, diagnostics } = await parsePipeline({ file: 't.yaml', folder, text }, files);
  const codes = lawful(diagnostics, pipeline === undefined);
  if (pipeline === undefined) return { codes };
  const prepared = await preparePlan(pipeline, { files, serviceId: 'fuzz' });
  if (!prepared.ok) return { codes: [...codes, ...lawful(prepared.error, true)], pipeline };
  const plan = prepared.value;
  try {
    for await (const cell of plan.matrix.cells({ limit: cellsExamined })) plan.resolve(cell, () => undefined);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { codes: [...codes, error.code], pipeline };
  }
  return { codes, pipeline };
}
