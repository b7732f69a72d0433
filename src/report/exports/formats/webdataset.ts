import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { KeySet } from '../../../manifest/key-set.ts';
import { once } from '../files.ts';
import type { Sample } from '../samples.ts';
import type { Format } from './format.ts';
import { GatheredFile } from './gathered-file.ts';
import { jsonOf } from './jsonl.ts';

/** Bounds of an archive; the sample that exceeds one of them is its last. */
const archiveSamples = 10_000;
const archiveBytes = 1024 * 1024 * 1024;

/** Format: archives `000000.tar` and so on. The members of a sample follow each other: its file, `.txt`, `.json`. */
export const webdataset: Format = {
  takes: 'everything',
  copiesFiles: false,
  open: async (folder, columns) => {
    const keys = new KeySet();
    let archives = 0;
    let archive: Archive | undefined;
    const nextArchive = async (): Promise<Archive> => {
      const name = `${String(archives).padStart(6, '0')}.tar`;
      archives += 1;
      return new Archive(await GatheredFile.create(join(folder, name)));
    };
    return {
      add: async (sample, file) => {
        archive ??= await nextArchive();
        const key = keyOf(sample, keys);
        const name = sample.output?.file;
        if (file !== undefined && name !== undefined)
          await archive.add(`${key}.${name.slice(name.lastIndexOf('.') + 1)}`, file.bytes, file.pieces());
        if (sample.caption !== '') await archive.text(`${key}.txt`, sample.caption);
        await archive.text(`${key}.json`, jsonOf(sample, columns));
        archive.samples += 1;
        // Lets the file take packed bytes first: a long queue of the packer is slow to read.
        await setImmediate();
        if (archive.samples < archiveSamples && archive.bytes < archiveBytes) return;
        await archive.finish();
        archive = undefined;
      },
      finish: async () => {
        // A data set without rows still gets an archive.
        if (archives === 0) archive = await nextArchive();
        await archive?.finish();
        archive = undefined;
      },
      abandon: async () => await archive?.abandon(),
    };
  },
};

/** Returns a unique key: readers cut it at the first dot. Cells that share a job have a sample each, so later ones add the cell. */
function keyOf({ job, output, cell, fields }: Sample, keys: KeySet): string {
  const slot = [cell.number, fields[2], fields[3]]
    .filter((part) => part !== undefined && part !== '')
    .join('-')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  if (job === undefined) return `cell-${slot}`;
  const key = `${job}-${output?.output ?? 0}`.replaceAll('.', '_');
  return keys.add(key) ? key : `${key}-cell-${slot}`;
}

/** Fixed attributes of members, so that equal members have equal bytes. */
const always = { mtime: new Date(0), mode: 0o644, uid: 0, gid: 0, uname: '', gname: '' } as const;

class Archive {
  samples = 0;
  bytes = 0;
  readonly #file: GatheredFile;
  readonly #controller: TarPackController;
  /** Resolves when the archive is complete; rejects with the error of a failed write. */
  readonly #written: Promise<void>;

  constructor(file: GatheredFile) {
    this.#file = file;
    const { readable, controller } = createTarPacker();
    this.#controller = controller;
    this.#written = this.#write(readable);
    // The next `add` reports the error.
    this.#written.catch(() => undefined);
  }

  async add(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const writer = this.#controller.add({ name, size, ...always }).getWriter();
    const written = (async () => {
      for await (const piece of pieces) {
        await writer.ready;
        await writer.write(piece);
      }
      await writer.close();
    })();
    await Promise.race([written, this.#written]);
    this.bytes += size;
  }

  async text(name: string, text: string): Promise<void> {
    const content = Buffer.from(text);
    await this.add(name, content.length, once(content));
  }

  /** Finishes the archive; it is durable when this returns. */
  async finish(): Promise<void> {
    this.#controller.finalize();
    await this.#written;
    await this.#file.finish();
  }

  async abandon(): Promise<void> {
    this.#controller.error(new Error('abandoned'));
    await this.#written.catch(() => undefined);
    await this.#file.close();
  }

  async #write(readable: ReadableStream<Uint8Array>): Promise<void> {
    for await (const piece of readable) await this.#file.write(piece);
  }
}
