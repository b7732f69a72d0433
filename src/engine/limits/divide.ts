/** A worker among those that share a limit, as it was heard of last. */
export interface Member {
  readonly id: string;
  /** How much of the limit it would use; 0: nothing. */
  readonly want: number;
  /** The least that is of use to it: 1, or the tokens of its next call. */
  readonly unit: number;
  /** How much it has. */
  readonly granted: number;
  /** For how long it has had as much as its unit, or has lacked it, ms. */
  readonly forMs: number;
}

/** Where a limit is smaller than its workers, one that has a part of it keeps that for so long, ms. */
const turnMs = 20_000;

/**
 * The part of a limit that is fair for one worker: each that wants something has its unit, and what is left is divided evenly, to who wants
 * least first. Where there is not a unit for each, they take turns: first who began its turn lately, then who has waited longest.
 */
export function fairShare(limit: number, members: readonly Member[], id: string): number {
  const hungry = members.filter(({ want }) => want > 0).toSorted(byTurn);
  const parts: { readonly member: Member; part: number }[] = [];
  let left = limit;
  for (const member of hungry) {
    const part = Math.min(member.unit, member.want, limit);
    if (part <= left) {
      parts.push({ member, part });
      left -= part;
    } else if (member.forMs > 2 * turnMs && turnOf(member) === 1) break;
  }
  parts.sort((a, b) => a.member.want - b.member.want || compare(a.member.id, b.member.id));
  for (const [at, each] of parts.entries()) {
    const { want } = each.member;
    const even = Math.floor(left / (parts.length - at));
    const more = Math.max(0, Math.min(want - each.part, even));
    each.part += more;
    left -= more;
  }
  const own = parts.find(({ member }) => member.id === id)?.part;
  // Whoever wants nothing has one of what nobody wants, to begin with.
  return own ?? (left >= 1 && hungry.every((member) => member.id !== id) ? 1 : 0);
}

const turnOf = ({ granted, unit, forMs }: Member): number => (granted < unit ? 1 : forMs < turnMs ? 0 : 2);

const byTurn = (a: Member, b: Member): number =>
  turnOf(a) - turnOf(b) || (turnOf(a) === 1 ? b.forMs - a.forMs : 0) || compare(a.id, b.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
