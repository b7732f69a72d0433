import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { reportFiles } from '../../facts/layout.ts';

/** A file of the built page. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the built page by name, the page itself by the empty one. It is told that it is live; see `PageFiles` of the wire. */
export async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const body = await readFile(join(folder, name));
    if (name !== reportFiles.page) {
      files.set(name, { type, body });
      continue;
    }
    const page = body
      .toString('utf8')
      .replace('<!-- promptpress:summary -->', '')
      .replace('data-source="disk"', 'data-source="live"');
    files.set('', { type, body: Buffer.from(page) });
  }
  return files;
}
