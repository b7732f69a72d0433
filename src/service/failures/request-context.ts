import type { Reply } from '../http/reply.ts';
import type { Clean } from '../http/sanitize.ts';
import type { Mask } from '../http/secrets.ts';
import type { About, FailureClass } from '../result.ts';
import type { ErrorWords } from './error-words.ts';
import type { Standing } from './known-endpoints.ts';
import type { Asking, Meant } from './table.ts';

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
  /** What the endpoint is for. Default: `read` for a request that changes nothing, else `submit`. */
  readonly on?: Asking | undefined;
  /** What a gateway without this endpoint does not offer: `edits`, `chat`. Default: this. */
  readonly offer?: string | undefined;
  /** The model that is asked: a 404 that names it is about the model. */
  readonly model?: string | undefined;
  /** What to do about a refusal, where the endpoint knows more than the rules for all endpoints. */
  readonly advise?: ((meant: Meant, reply: Reply, words: ErrorWords) => string | undefined) | undefined;
  /** Words of a used-up quota, beside those that are known. */
  readonly quotaWords?: readonly string[] | undefined;
  /** The address has given an answer in HTTP, of any status. Default: it has not. */
  readonly hasSpokenHttp?: () => boolean;
  readonly now: () => number;
  /** What is known of the endpoint and of its address. Default: neither has answered well. */
  readonly standing?: () => Standing;
}

/** What an error response means. */
export interface Verdict {
  readonly code: string;
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
  /** Sentences: what to do. */
  readonly advice?: string;
}

/**
 * Marks a failure that ends the run. An address that has served this run, or one before, leads elsewhere by now, or something stands
 * before the service: a reply that follows work which was done says nothing about whether the submission was carried out.
 */
export const markedOpen = (facts: RequestFacts, followsWork: boolean): { readonly mayBeDone?: true } => {
  const standing = facts.standing?.();
  return followsWork && mayBePaid(facts) && (standing === 'lost' || standing === 'before')
    ? { mayBeDone: true }
    : {};
};

/** What an endpoint is for. */
export const askingOf = ({ on, safe }: RequestFacts): Asking => on ?? (safe ? 'read' : 'submit');

/** Whether a request costs, once the service has carried it out. */
export const mayBePaid = (facts: RequestFacts): boolean => askingOf(facts) !== 'read';

/** The class of a failure that leaves open whether the service carried the request out. */
export const lostClass = (facts: RequestFacts): FailureClass => (facts.safe ? 'retry' : 'lost');
