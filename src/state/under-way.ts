import type { JobRecord } from '../plan/job.ts';
import { isTextRequest } from '../plan/job-request.ts';

/** Bytes that are always held: the log of the state grows with each turn. */
const least = 1024 * 1024;
/** Bytes for a submission: its record, in the log and in the state. A text call takes the same, with its text. */
const perSubmission = 32 * 1024;
const perText = 64 * 1024;
/** Bytes for an image in a reply, before the first one is known. */
const perImage = 2 * 1024 * 1024;
/** Most bytes that are held, however large replies are. */
const most = 128 * 1024 * 1024;

/** Disk space that the answers to requests in flight will take, counted from the records of what is sent. */
export class UnderWay {
  readonly #submissions = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #imageTexts = new Set<string>();
  /** Bytes of the largest reply so far, with its files: the next ones may be as large. */
  #largest = 0;

  /** Notes requests that are sent, and those that are answered. */
  note(records: readonly JobRecord[]): void {
    for (const record of records) {
      const { key, status, request } = record;
      const isSent = status === 'submitting';
      const kinds = [this.#submissions, this.#texts, this.#imageTexts];
      const kind = !isTextRequest(request) ? 0 : makesImages(request.fields) ? 2 : 1;
      if (isSent) kinds[kind]?.add(key);
      else kinds[kind]?.delete(key);
      if (kind > 0 && status === 'done') this.#largest = Math.max(this.#largest, sizeOf(record));
    }
  }

  /** Number of bytes to hold. */
  get bytes(): number {
    const reply = perText + this.#largest;
    const all =
      least +
      this.#submissions.size * perSubmission +
      this.#texts.size * reply +
      this.#imageTexts.size * Math.max(reply, perText + perImage);
    return Math.min(most, all);
  }
}

function makesImages({ generationConfig }: JobRecord['request']['fields']): boolean {
  const { responseModalities: kinds } = (generationConfig ?? {}) as { readonly responseModalities?: unknown };
  return Array.isArray(kinds) && kinds.includes('IMAGE');
}

const sizeOf = ({ artifacts, text }: JobRecord): number =>
  artifacts.reduce((sum, { bytes }) => sum + bytes, text?.reply?.length ?? 0);
