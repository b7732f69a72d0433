import type { Route } from '../../events.ts';

/** Places of `limits.requests` that each kind of request has to itself. */
export type Shares = Readonly<Record<Route, number>>;

/** With fewer requests in flight than this, not every kind has a place of its own: they take turns. */
export const fewestShared = 4;

/**
 * The places of each kind. A submission and a poll take a moment, so a few places serve many; a text call and a download take long.
 * Text calls go before downloads where both wait, so downloads need few places of their own, and more the nearer the images that
 * wait come to their bound, at which no new task begins.
 *
 * @param requests `limits.requests`, at least {@link fewestShared}
 * @param backlog images that wait for their download, as a part of their bound
 */
export function sharesOf(requests: number, backlog = 0): Shares {
  const part = (of: number): number => Math.max(1, Math.floor(requests * of));
  const few = part(1 / 16);
  const urgency = Math.min(1, Math.max(0, 2 * backlog - 1));
  return {
    submit: part(1 / 8),
    poll: part(1 / 8),
    text: part(1 / 4),
    download: few + Math.floor(urgency * (part(3 / 8) - few)),
  };
}

/** How many requests of each kind are under way, and whether the kind lends its places. */
export interface Usage {
  readonly inFlight: Shares;
  /** True for a kind whose places nobody may borrow now: it has a request to send, or may have one at any moment. */
  readonly claims: (route: Route) => boolean;
}

const kinds: readonly Route[] = ['submit', 'poll', 'text', 'download'];

/**
 * True where one more request of this kind may leave. It uses a place of its own, or borrows one that no other kind claims: a
 * borrowed place returns when its request ends, to the kind that it belongs to. So a kind that has something to send waits for its
 * own places at most until one request of the others has ended.
 */
export function hasPlace(
  route: Route,
  requests: number,
  shares: Shares,
  { inFlight, claims }: Usage,
): boolean {
  const free = requests - kinds.reduce((sum, kind) => sum + inFlight[kind], 0);
  if (free <= 0) return false;
  if (inFlight[route] < shares[route]) return true;
  const claimed = kinds.reduce(
    (sum, kind) => (kind === route || !claims(kind) ? sum : sum + Math.max(0, shares[kind] - inFlight[kind])),
    0,
  );
  if (route !== 'download' || inFlight.text === 0) return free > claimed;
  // A download cannot be asked to end when text calls become more: it leaves room for as many again, and for a share of theirs at least.
  const more = Math.max(inFlight.text, shares.text);
  return free > claimed + more;
}
