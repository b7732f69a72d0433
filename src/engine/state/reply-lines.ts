import { hash } from 'node:crypto';
import type { ReplyPlace } from '../../plan/job-request.ts';

/** A line of the `replies` table. */
export interface ReplyLine {
  readonly segment: number;
  readonly start: number;
  readonly line: string;
}

/** Size from which a session starts another segment, bytes: segments have at most 256 MB, except for the last line. */
const maxBytes = 192 * 1024 * 1024;

/**
 * The whole replies that a session keeps. They get the positions that they will have in the files of the run directory, in segments of this
 * session alone.
 */
export class ReplyLines {
  readonly #fullBytes: number;
  #segment: number;
  #offset = 0;
  /** Number of the next segment. */
  #spare: number | undefined;
  #lines: ReplyLine[] = [];
  #bytes = 0;

  constructor(segment: number, fullBytes = maxBytes) {
    this.#segment = segment;
    this.#fullBytes = fullBytes;
  }

  /** Keeps a reply. @param reply JSON without a line break */
  keep(job: string, reply: string): ReplyPlace {
    if (/[\r\n]/.test(reply)) throw new Error(`Internal error: the reply to ${job} has several lines.`);
    if (this.#offset >= this.#fullBytes && this.#spare !== undefined) {
      this.#segment = this.#spare;
      this.#spare = undefined;
      this.#offset = 0;
    }
    const line = `{"job":${JSON.stringify(job)},"reply":${reply}}`.toWellFormed();
    const bytes = Buffer.from(line);
    const [segment, offset, length] = [this.#segment, this.#offset, bytes.length];
    this.#lines.push({ segment, start: offset, line });
    this.#offset += length + 1;
    this.#bytes += length;
    return { segment, offset, length, sha256: hash('sha256', bytes, 'hex') };
  }

  /** True where another segment is needed soon. */
  get needsSegment(): boolean {
    return this.#spare === undefined && this.#offset >= this.#fullBytes / 2;
  }

  addSegment(segment: number): void {
    this.#spare = segment;
  }

  /** The lines to write with the next turn: a copy, because more may arrive while it is in flight. */
  get lines(): readonly ReplyLine[] {
    return [...this.#lines];
  }

  /** Size of these lines in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Removes the first lines, which are written. */
  onWritten(lines: readonly ReplyLine[]): void {
    this.#lines = this.#lines.slice(lines.length);
    this.#bytes = this.#lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0);
  }
}
