import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { manifestColumns } from '../../../manifest/columns.ts';
import { byteOrderMark } from '../../../manifest/spreadsheet.ts';
import { kindAt } from '../../../state/files/plain-path.ts';
import { usageError } from '../../errors/cli-error.ts';

/** Bytes that every copy for spreadsheets begins with: only such a file is overwritten. */
const beginning = Buffer.from(`${byteOrderMark}${manifestColumns.slice(0, 3).join(',')},`);

/**
 * Returns the absolute path of the copy of `--spreadsheet FILE`. Refuses names of other files, so that a mistake does not overwrite a
 * pipeline, a table or the manifest.
 *
 * @param manifest absolute path of the manifest, which stays exact
 * @throws CliError (exit 2); an error of the file system
 */
export async function spreadsheetFile(name: string, manifest: string, cwd: string): Promise<string> {
  const file = resolve(cwd, name);
  if (file === manifest) {
    throw usageError(
      `--spreadsheet ${name} is the manifest itself, which keeps the exact data.`,
      'Give the copy a name of its own, for example --spreadsheet sheet.csv.',
    );
  }
  const found = kindAt(file);
  if (found === 'folder') {
    throw usageError(
      `--spreadsheet ${name} is a folder.`,
      `Name a file in it, for example --spreadsheet ${join(name, 'sheet.csv')}.`,
    );
  }
  if (!/\.csv$/i.test(name)) {
    throw usageError(
      `--spreadsheet ${name} does not end in .csv, and the copy is a CSV file.`,
      'Spreadsheets open it by this ending: --spreadsheet sheet.csv.',
    );
  }
  if (found === 'nothing') {
    const folder = dirname(file);
    if (existsSync(folder)) return file;
    throw usageError(`--spreadsheet ${name}: there is no folder ${folder}.`, 'Make the folder first.');
  }
  if (found !== 'file' || !(await isCopy(file))) {
    throw usageError(
      `--spreadsheet ${name} exists already, and is not a copy for spreadsheets that promptpress wrote.`,
      'Name another file, or remove this one.',
    );
  }
  return file;
}

async function isCopy(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length));
    return buffer.subarray(0, bytesRead).equals(beginning);
  } finally {
    await handle.close();
  }
}
