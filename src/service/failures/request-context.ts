import type { Reply } from '../http/reply.ts';
import type { Clean } from '../http/sanitize.ts';
import type { Mask } from '../http/secrets.ts';
import type { FailureClass } from '../result.ts';
import type { ErrorWords } from './error-words.ts';

/** What failures are told with: which request it was, and what must not be shown. */
export interface RequestFacts {
  /** A request that changes nothing can always be repeated: what would be lost is retried. */
  readonly safe: boolean;
  /** For messages: `POST /img/submit/imagine`. */
  readonly label: string;
  readonly baseUrl: string;
  /** Takes every secret out of what is said of a failure. */
  readonly mask: Mask;
  /** Finds credentials in what is kept as it is: ids, labels, links, answers. */
  readonly dataMask: Mask;
  readonly clean: Clean;
  /** Where the key came from; never the key. */
  readonly keySource?: string;
  /** Of a request with a body: what makes it large. */
  readonly largestPart?: () => string | undefined;
  /** What this endpoint's refusals mean, where that is more than the rules for all of them say. */
  readonly judge?: (reply: Reply, words: ErrorWords, facts: RequestFacts) => Verdict | undefined;
  readonly now: () => number;
  /** The endpoint has answered well before: what speaks for a wrong address is a passing failure. Default: it has not. */
  readonly isAddressRight?: () => boolean;
  /** The endpoint has answered well before, and may now have gone on speaking for a wrong address for too long. Default: it has not. */
  readonly hasAnswered?: () => boolean;
}

/** What a refusal means. */
export interface Verdict {
  readonly code: string;
  readonly class: FailureClass;
  /** As in `ServiceFailure`. */
  readonly wrongAddress?: true;
  /** Sentences: what to do. */
  readonly advice?: string;
}

/**
 * Marks a failure that ends the run. An address that has served this run leads elsewhere by now, or something stands before the
 * service: an answer that follows work which was done says nothing about whether the submission was carried out.
 */
export const markedOpen = (facts: RequestFacts, followsWork: boolean): { readonly mayBeDone?: true } =>
  followsWork && !facts.safe && facts.hasAnswered?.() === true ? { mayBeDone: true } : {};

/** The class of a failure that leaves open whether the service carried the request out. */
export const lostClass = (facts: RequestFacts): FailureClass => (facts.safe ? 'retry' : 'lost');
