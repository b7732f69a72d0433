import type { JobRecord } from '../plan/job.ts';
import { isTextRequest } from '../plan/job-request.ts';

/** What is held however little is under way: the log of the state grows with each turn. */
const least = 1024 * 1024;
/** Of a submission: its record, in the log and in the state. Of a text call the same, with its text. */
const perSubmission = 32 * 1024;
const perText = 64 * 1024;
/** Of an image inside a reply, until there was one. */
const perImage = 2 * 1024 * 1024;
/** However large replies are: more is not held. */
const most = 128 * 1024 * 1024;

/** What the answers to the requests under way take of the disk of a run directory, counted from the records that say what is sent. */
export class UnderWay {
  readonly #submissions = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #imageTexts = new Set<string>();
  /** Bytes of the largest reply so far, with its files: the next ones may be as large. */
  #largest = 0;

  /** Notes what is sent, and what is answered. */
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

  /** Bytes that are to be held. */
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
