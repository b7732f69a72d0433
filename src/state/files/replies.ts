import { hash } from 'node:crypto';
import type { ReplyPlace } from '../../plan/job-request.ts';
import type { SegmentFile, SegmentFiles } from './segment-files.ts';

/** Largest segment in bytes, except for a segment with a single line. */
const maxSegmentBytes = 256 * 1024 * 1024;

/** The end of the replies that belong to the state. */
export interface RepliesEnd {
  /** The last segment that was written. */
  readonly segment: number;
  /** Bytes of that segment that commits refer to. Bytes after them were written for a commit that was never made. */
  readonly offset: number;
  /** The last segment that this state has made: a file of a higher number does not belong to it. */
  readonly made: number;
}

/** Whether a value of a state is a replies end. */
export const isRepliesEnd = (value: unknown): value is RepliesEnd =>
  typeof value === 'object' &&
  value !== null &&
  ['segment', 'offset', 'made'].every((name) =>
    Number.isSafeInteger((value as Readonly<Record<string, unknown>>)[name]),
  );

interface Line {
  readonly segment: number;
  readonly bytes: Buffer;
}

/**
 * The whole replies of text calls, one per line, in order of arrival: `{"job": key, "reply": …}`. A line has its place as soon as it is
 * kept, and is written and synced with all lines of its turn before the commit that refers to it. So the line of a record always
 * exists; the next run cuts off lines that no commit refers to.
 *
 * A segment is noted in the state before its file is made. So everything after the end of this state in files that it made is its own;
 * other files, such as the replies of a state that was removed, are left alone.
 */
export class Replies {
  readonly #files: SegmentFiles;
  readonly #note: (end: RepliesEnd) => void;
  readonly #maxBytes: number;
  /** The committed end; undefined: this state has kept no replies. */
  #committed: RepliesEnd | undefined;
  /** End of the lines that are written and synced. */
  #written: RepliesEnd | undefined;
  /** Start of the next line; undefined until one is kept. */
  #next: { segment: number; offset: number } | undefined;
  #lines: Line[] = [];
  #open: { readonly segment: number; readonly file: SegmentFile } | undefined;

  /**
   * @param end as in the state
   * @param note makes an end durable, before the file of its last segment is made
   * @param maxBytes of a segment
   */
  constructor(
    files: SegmentFiles,
    end: RepliesEnd | undefined,
    note: (end: RepliesEnd) => void,
    maxBytes: number = maxSegmentBytes,
  ) {
    this.#files = files;
    this.#committed = end;
    this.#written = end;
    this.#note = note;
    this.#maxBytes = maxBytes;
  }

  /** Cuts off lines written for a commit that was never made. Call it before the first line is kept. @throws as {@link SegmentFiles} */
  cut(): void {
    const end = this.#committed;
    if (end === undefined) return;
    for (const segment of this.#files.list())
      if (segment > end.segment && segment <= end.made) this.#files.remove(segment);
    const file = this.#files.open(end.segment);
    if (file === undefined) return;
    try {
      if (file.size() > end.offset) file.truncate(end.offset);
    } finally {
      file.close();
    }
  }

  /**
   * Keeps the reply to a call of a job. Nothing is written yet.
   *
   * @param reply JSON without a line break
   * @returns the place of its line
   */
  keep(job: string, reply: string): ReplyPlace {
    if (/[\r\n]/.test(reply)) throw new Error(`Internal error: the reply to ${job} has several lines.`);
    const bytes = Buffer.from(`{"job":${JSON.stringify(job)},"reply":${reply}}\n`);
    const next = (this.#next ??= this.#first());
    if (next.offset > 0 && next.offset + bytes.length > this.#maxBytes) {
      next.segment += 1;
      next.offset = 0;
    }
    const { segment, offset } = next;
    next.offset += bytes.length;
    this.#lines.push({ segment, bytes });
    const length = bytes.length - 1;
    const sha256 = hash('sha256', bytes.subarray(0, length), 'hex');
    return { segment, offset, length, sha256 };
  }

  /** Whether a line is written and synced; lines of earlier runs are. */
  isWritten({ segment, offset, length }: ReplyPlace): boolean {
    const { segment: last, offset: end } = this.#written ?? { segment: -1, offset: 0 };
    return segment < last || (segment === last && offset + length < end);
  }

  /** Whether there are lines to write. */
  get hasLines(): boolean {
    return this.#lines.length > 0;
  }

  /** The end to commit; undefined if it is committed already. */
  get end(): RepliesEnd | undefined {
    return this.#written === this.#committed ? undefined : this.#written;
  }

  /**
   * Writes and syncs the kept lines: once for all lines of one segment. A call that fails may be repeated.
   *
   * @throws as {@link SegmentFiles}
   */
  write(): void {
    const last = this.#put();
    last?.file.sync();
    last?.onSynced();
  }

  /** Does the same without blocking the process; lines kept meanwhile are written by the next call. */
  async writeSoon(): Promise<void> {
    const last = this.#put();
    await last?.file.syncSoon();
    last?.onSynced();
  }

  /** Notes that the {@link end} is committed. */
  onCommitted(): void {
    this.#committed = this.#written;
  }

  /** Closes the files without writing lines that no commit has requested. */
  close(): void {
    this.#open?.file.close();
    this.#open = undefined;
  }

  /** Writes all lines, and syncs those of finished segments. @returns the file to sync; undefined: there is none */
  #put(): { readonly file: SegmentFile; readonly onSynced: () => void } | undefined {
    for (;;) {
      const [first] = this.#lines;
      if (first === undefined) return undefined;
      const { segment } = first;
      const until = this.#lines.findIndex((line) => line.segment !== segment);
      const lines = until < 0 ? [...this.#lines] : this.#lines.slice(0, until);
      const file = this.#fileOf(segment);
      const from = this.#written?.segment === segment ? this.#written.offset : 0;
      file.write(
        lines.map(({ bytes }) => bytes),
        from,
      );
      const offset = lines.reduce((sum, { bytes }) => sum + bytes.length, from);
      const onSynced = (): void => {
        this.#written = { segment, offset, made: segment };
        this.#lines.splice(0, lines.length);
      };
      if (until < 0) return { file, onSynced };
      file.sync();
      onSynced();
    }
  }

  /** Returns the start of the first line of this process: after the committed lines, or in a new segment if that file has changed. */
  #first(): { segment: number; offset: number } {
    const end = this.#committed;
    if (end !== undefined) {
      const file = this.#files.open(end.segment);
      if (file?.size() === end.offset) {
        this.#open = { segment: end.segment, file };
        return { segment: end.segment, offset: end.offset };
      }
      file?.close();
      // The segment was noted, but never made.
      if (file === undefined && end.offset === 0) return { segment: end.segment, offset: 0 };
    }
    return { segment: Math.max(end?.made ?? -1, ...this.#files.list(), -1) + 1, offset: 0 };
  }

  #fileOf(segment: number): SegmentFile {
    if (this.#open?.segment === segment) {
      this.#open.file.check();
      return this.#open.file;
    }
    this.close();
    if (segment > (this.#committed?.made ?? -1)) {
      const { segment: last = segment, offset = 0 } = this.#committed ?? {};
      const noted = { segment: last, offset, made: segment };
      this.#note(noted);
      this.#committed = noted;
    }
    const file = this.#files.make(segment);
    this.#open = { segment, file };
    return file;
  }
}
