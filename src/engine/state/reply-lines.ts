import { hash } from 'node:crypto';
import type { ReplyPlace } from '../../plan/job-request.ts';

/** A line as `replies` has it. */
export interface ReplyLine {
  readonly segment: number;
  readonly start: number;
  readonly line: string;
}

/** From here on a session goes on with another segment, bytes: segments have at most 256 MB, but for the last line. */
const fullBytes = 192 * 1024 * 1024;

/**
 * The whole replies that a session keeps. They get the places that they will have in the files of the run directory, in segments that
 * this session has to itself.
 */
export class ReplyLines {
  #segment: number;
  #offset = 0;
  /** The segment that comes next. */
  #spare: number | undefined;
  #lines: ReplyLine[] = [];
  #bytes = 0;

  constructor(segment: number) {
    this.#segment = segment;
  }

  /** @param reply JSON without a line break */
  keep(job: string, reply: string): ReplyPlace {
    if (/[\r\n]/.test(reply)) throw new Error(`Internal error: the reply to ${job} has several lines.`);
    if (this.#offset >= fullBytes && this.#spare !== undefined) {
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
    return this.#spare === undefined && this.#offset >= fullBytes / 2;
  }

  addSegment(segment: number): void {
    this.#spare = segment;
  }

  /** What is to be written with the next turn: a list of its own, as more may come while that is under way. */
  get lines(): readonly ReplyLine[] {
    return [...this.#lines];
  }

  /** Bytes of these lines. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The first lines are written. */
  onWritten(lines: readonly ReplyLine[]): void {
    this.#lines = this.#lines.slice(lines.length);
    this.#bytes = this.#lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0);
  }
}
