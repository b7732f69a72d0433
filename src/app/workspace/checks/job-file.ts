import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { usageError } from '../../errors/cli-error.ts';

/** Largest number of keys: enough for the largest runs. */
const maxJobs = 20_000_000;

const isKey = (text: string): boolean => /^[0-9a-f]{8,128}$/.test(text);

/**
 * Reads the jobs of a file, each with its first line: a CSV file with a column `job` (such as a manifest), or one key per line.
 *
 * @param name as the user gave it, relative to the current folder
 * @param leftOut rows with this value in a column `mark` are skipped
 * @throws CliError (exit 2) for a file that cannot be read, with the first bad line; the error of the file system
 */
export async function readJobFile(
  name: string,
  flag: string,
  cwd: string,
  leftOut: 'keep' | 'reject',
): Promise<ReadonlyMap<string, number>> {
  const keys = new Map<string, number>();
  let column: number | undefined;
  let mark = -1;
  for await (const { record, info } of linesOf(name, flag, cwd)) {
    if (column === undefined) {
      const named = record.indexOf('job');
      column = Math.max(named, 0);
      if (named >= 0) mark = record.indexOf('mark');
      if (named >= 0) continue;
    }
    const key = record[column] ?? '';
    // The slot's request is not known yet.
    if (key === '' || (mark >= 0 && record[mark] === leftOut)) continue;
    if (!isKey(key)) {
      throw usageError(
        `${flag} ${name}, line ${info.lines}: "${key.slice(0, 60)}" is not a job key.`,
        'The file has one key a line, or is a CSV file with a column "job", such as a manifest or a selection that the report downloads.',
      );
    }
    if (!keys.has(key)) keys.set(key, info.lines);
    if (keys.size > maxJobs) throw usageError(`${flag} ${name} lists more than ${maxJobs} jobs.`);
  }
  if (keys.size === 0)
    throw usageError(
      `${flag} ${name} lists no job${mark < 0 ? '' : ` but those that are marked "${leftOut}"`}.`,
      'The file has one key a line, or is a CSV file with a column "job".',
    );
  return keys;
}

interface Line {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* linesOf(name: string, flag: string, cwd: string): AsyncGenerator<Line> {
  const { CsvError, parse } = await import('csv-parse');
  const lines = parse({
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
    info: true,
    max_record_size: maxLine,
  });
  const source = createReadStream(resolve(cwd, name));
  // `pipe` does not pass on the error of its source.
  source.on('error', (error) => lines.destroy(error));
  try {
    yield* source.pipe(lines) as AsyncIterable<Line>;
  } catch (error) {
    if (error instanceof CsvError)
      throw usageError(
        `${flag} ${name}: ${error.message}.`,
        'The file has one key a line, or is a CSV file with a column "job".',
      );
    const why = refusals[(error as NodeJS.ErrnoException).code ?? ''];
    if (why === undefined) throw error;
    throw usageError(`${flag} ${name}: ${why}.`);
  } finally {
    source.destroy();
  }
}

/** Largest length of a row in characters: rows of a manifest contain prompts and texts. */
const maxLine = 64 * 1024 * 1024;

const refusals: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'this is a folder',
  EACCES: 'it cannot be read',
};
