import type { Reply } from '../http/reply.ts';
import type { Clean } from '../http/sanitize.ts';
import type { Mask } from '../http/secrets.ts';
import type { About, FailureClass } from '../result.ts';
import type { ErrorWords } from './error-words.ts';

/** The context of a failure: which request failed, and what must not be shown. */
export interface RequestFacts {
  /** A request that changes nothing can always be repeated: what would be lost is retried. */
  readonly safe: boolean;
  /** For messages: `POST /img/submit/imagine`. */
  readonly label: string;
  readonly baseUrl: string;
  /** Removes every secret from the text of a failure. */
  readonly mask: Mask;
  /** Finds credentials in values that are kept unchanged: ids, labels, links, replies. */
  readonly dataMask: Mask;
  readonly clean: Clean;
  /** Where the key came from; never the key. */
  readonly keySource?: string | undefined;
  /** Of a request with a body: what makes it large. */
  readonly largestPart?: (() => string | undefined) | undefined;
  /** What error responses of this endpoint mean, beyond the rules for all endpoints. */
  readonly judge?:
    | ((reply: Reply, words: ErrorWords, facts: RequestFacts) => Verdict | undefined)
    | undefined;
  readonly now: () => number;
  /** The endpoint has answered well before: what speaks for a wrong address is a passing failure. Default: it has not. */
  readonly isAddressRight?: () => boolean;
  /**
   * True when the endpoint has responded well before. After too many wrong responses it says false again. Default: it has
   * not.
   */
  readonly hasResponded?: () => boolean;
}

/** What an error response means. */
export interface Verdict {
  readonly code: string;
  readonly class: FailureClass;
  readonly about?: About;
  /** As in `ServiceFailure`. */
  readonly wrongAddress?: true;
  /** Sentences: what to do. */
  readonly advice?: string;
}

/**
 * Marks a failure that ends the run. An address that has served this run leads elsewhere by now, or something stands before the
 * service: a reply that follows work which was done says nothing about whether the submission was carried out.
 */
export const markedOpen = (facts: RequestFacts, followsWork: boolean): { readonly mayBeDone?: true } =>
  followsWork && !facts.safe && facts.hasResponded?.() === true ? { mayBeDone: true } : {};

/** The class of a failure that leaves open whether the service carried the request out. */
export const lostClass = (facts: RequestFacts): FailureClass => (facts.safe ? 'retry' : 'lost');
