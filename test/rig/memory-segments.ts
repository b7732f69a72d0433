import type { SegmentFile, SegmentFiles } from '../../src/state/files/segment-files.ts';

/** A disk that holds segments: what is synced survives a power cut, what is only written may not. */
export interface MemorySegments extends SegmentFiles {
  /** The bytes of a segment as they are read now. */
  read(segment: number): Buffer;
  /** What a power cut leaves: of what was not synced a random part, cut at any byte. */
  cutPower(random: () => number): void;
}

interface Held {
  bytes: Buffer;
  synced: Buffer;
}

/** @param before is called before each call that changes the disk, with its name: it may throw instead of the call */
export function memorySegments(before: (call: string) => void = () => undefined): MemorySegments {
  const files = new Map<number, Held>();
  const handleOf = (file: Held): SegmentFile => ({
    check: () => undefined,
    size: () => file.bytes.length,
    write: (pieces, position) => {
      before('write');
      const added = Buffer.concat(pieces);
      const all = Buffer.alloc(Math.max(file.bytes.length, position + added.length));
      file.bytes.copy(all);
      added.copy(all, position);
      file.bytes = all;
    },
    sync: () => {
      before('sync');
      file.synced = file.bytes;
    },
    syncSoon: () => {
      before('sync');
      file.synced = file.bytes;
      return Promise.resolve();
    },
    truncate: (size) => {
      before('truncate');
      file.bytes = file.bytes.subarray(0, size);
      file.synced = file.bytes;
    },
    close: () => undefined,
  });
  return {
    list: () => [...files.keys()],
    open: (segment) => {
      const file = files.get(segment);
      return file && handleOf(file);
    },
    make: (segment) => {
      before('make');
      const file = files.get(segment) ?? { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) };
      files.set(segment, file);
      return handleOf(file);
    },
    remove: (segment) => {
      before('remove');
      files.delete(segment);
    },
    read: (segment) => files.get(segment)?.bytes ?? Buffer.alloc(0),
    cutPower: (random) => {
      for (const file of files.values()) {
        const { bytes, synced } = file;
        const kept = synced.length + Math.floor(random() * (bytes.length - synced.length + 1));
        file.bytes = Buffer.from(bytes.subarray(0, Math.max(kept, synced.length)));
        file.synced = file.bytes;
      }
    },
  };
}
