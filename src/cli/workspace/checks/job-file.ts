import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'csv-parse';
import { usageError } from '../../errors/cli-error.ts';

/** Keys that are held: the jobs of the largest runs. */
const mostJobs = 20_000_000;

/** The form of a job key. */
const isKey = (text: string): boolean => /^[0-9a-f]{8,128}$/.test(text);

/**
 * The jobs that a file lists: a CSV file with a column `job`, as a manifest or a selection of the report has it, or one key a line.
 *
 * @param name as the user gave it, relative to the current folder
 * @throws CliError (exit 2) for a file that lists none, with the line; the error of the file system
 */
export async function readJobFile(name: string, flag: string, cwd: string): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  const lines = createReadStream(resolve(cwd, name)).pipe(
    parse({
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
      info: true,
    }),
  );
  let column: number | undefined;
  for await (const { record, info } of lines as AsyncIterable<{
    record: readonly string[];
    info: { lines: number };
  }>) {
    if (column === undefined) {
      const named = record.indexOf('job');
      column = Math.max(named, 0);
      if (named >= 0) continue;
    }
    const key = record[column] ?? '';
    // Of a slot whose request is not known yet.
    if (key === '') continue;
    if (!isKey(key)) {
      throw usageError(
        `${flag} ${name}, line ${info.lines}: "${key.slice(0, 60)}" is no job key.`,
        'The file has one key a line, or is a CSV file with a column "job", such as a manifest or a selection that the report downloads.',
      );
    }
    keys.add(key);
    if (keys.size > mostJobs) throw usageError(`${flag} ${name} lists more than ${mostJobs} jobs.`);
  }
  if (keys.size === 0)
    throw usageError(
      `${flag} ${name} lists no job.`,
      'The file has one key a line, or is a CSV file with a column "job".',
    );
  return keys;
}
