import type { Reply } from '../http/reply.ts';
import type { Clean } from '../http/sanitize.ts';
import type { Mask } from '../http/secrets.ts';
import type { About, FailureClass, ServiceCode } from '../result.ts';
import type { ErrorWords } from './error-words.ts';
import type { Standing } from './known-endpoints.ts';
import type { Asking, Meant } from './table.ts';

/** The context of a failure: the request, and how secrets are hidden. */
export interface RequestFacts {
  /** Whether the request changes nothing. It can then always be repeated: its failures are `retry` in place of `lost`. */
  readonly safe: boolean;
  /** Name of the request in messages: `POST /img/submit/imagine`. */
  readonly label: string;
  readonly baseUrl: string;
  /** Removes every secret from the text of a failure. */
  readonly mask: Mask;
  /** Removes credentials from values that are otherwise kept unchanged: ids, labels, links, replies. */
  readonly dataMask: Mask;
  readonly clean: Clean;
  /** Where the key came from; never the key. */
  readonly keySource?: string | undefined;
  /** Describes the largest part of a request that has a body. */
  readonly largestPart?: (() => string | undefined) | undefined;
  /** What the endpoint is for. Default: `read` for a request that changes nothing, else `submit`. */
  readonly on?: Asking | undefined;
  /** What a gateway without this endpoint does not offer: `edits`, `chat`. Default: "this". */
  readonly offer?: string | undefined;
  /** The requested model: a 404 that names it is about the model. */
  readonly model?: string | undefined;
  /** Returns advice about a refusal, where the endpoint knows more than the general rules. */
  readonly advise?: ((meant: Meant, reply: Reply, words: ErrorWords) => string | undefined) | undefined;
  /** Additional words that mean a used-up quota. */
  readonly quotaWords?: readonly string[] | undefined;
  /** Whether the address has answered in HTTP, with any status. Default: no. */
  readonly hasSpokenHttp?: () => boolean;
  readonly now: () => number;
  /** What is known of the endpoint and its address. Default: neither has answered well. */
  readonly standing?: () => Standing;
}

/** What an error response means. */
export interface Verdict {
  readonly code: ServiceCode;
  readonly class: FailureClass;
  readonly about?: About;
  /** As in `ServiceFailure`. */
  readonly wrongAddress?: true;
  /** As in `ServiceFailure`. */
  readonly unmade?: true;
  /** As in `ServiceFailure`. */
  readonly mayBeDone?: true;
  /** As in `ServiceFailure`. */
  readonly likeBadGateway?: true;
  /** Advice to the user, in sentences. */
  readonly advice?: string;
}

/**
 * Marks a failure that stops the run as possibly done. Where the address answered before, it may now lead elsewhere, or a proxy may
 * answer: a reply that can follow finished work does not say whether the submission was processed.
 */
export const markedOpen = (facts: RequestFacts, followsWork: boolean): { readonly mayBeDone?: true } => {
  const standing = facts.standing?.();
  return followsWork && mayBePaid(facts) && (standing === 'lost' || standing === 'before')
    ? { mayBeDone: true }
    : {};
};

/** What an endpoint is for. */
export const askingOf = ({ on, safe }: RequestFacts): Asking => on ?? (safe ? 'read' : 'submit');

/** Whether the service charges for the request once it is processed. */
export const mayBePaid = (facts: RequestFacts): boolean => askingOf(facts) !== 'read';

/** Returns the class of a failure that leaves open whether the service processed the request. */
export const lostClass = (facts: RequestFacts): FailureClass => (facts.safe ? 'retry' : 'lost');
