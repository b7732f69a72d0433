import path from 'node:path';
import { nearest } from '../diagnostics/did-you-mean.ts';
import type { FilePort } from '../files.ts';
import { renderValue } from '../values/value.ts';
import { BadRows } from './table/error.ts';
import { listingName } from './table/glob.ts';
import { listingBatches } from './table/listing.ts';

/**
 * The path of the file in the same folder whose name is nearest to one that is not there; undefined where none is near.
 *
 * @param folder absolute folder of the pipeline, which the path is relative to
 */
export async function nearestFile(
  files: FilePort,
  folder: string,
  declared: string,
): Promise<string | undefined> {
  if (path.isAbsolute(declared) || /[*?[\]{}\\]/.test(declared)) return undefined;
  const within = path.posix.dirname(declared);
  if (within.split('/').includes('..')) return undefined;
  const prefix = within === '.' ? '' : `${within}/`;
  const names: string[] = [];
  try {
    for await (const { rows } of listingBatches(files, listingName(folder, `${prefix}*`), new BadRows()))
      for (const { values } of rows) names.push(path.posix.basename(renderValue(values['file'] ?? null)));
  } catch {
    // A folder that cannot be listed offers nothing; that the file is missing is reported.
    return undefined;
  }
  const near = nearest(path.posix.basename(declared), names);
  return near === undefined ? undefined : `${prefix}${near}`;
}
