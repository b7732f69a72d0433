import { Random } from '../../draw/canvas/random.ts';
import type { Candidate, ModelReply, ReplyPart } from '../answer.ts';
import { addTokens, countTokens, type ModalTokens, splitTokens, type Usage } from '../models.ts';

/** A part of a streamed reply, in a form that both endpoints can write. */
export interface Slice {
  readonly candidate: number;
  /** The new part; absent if the slice only ends a candidate. */
  readonly part?: ReplyPart | { readonly kind: 'thought'; readonly text: string };
  /** The candidate that ends with this slice. */
  readonly ends?: Candidate;
  /** The usage so far. */
  readonly usage: Usage;
  /** Tokens of this slice, which decide how long it takes. */
  readonly tokens: number;
}

/** Cuts a reply into slices of random sizes, which depend only on the request. */
export function slicesOf(reply: ModelReply, digest: string): readonly Slice[] {
  const random = new Random(`${digest} slices`);
  const slices: Slice[] = [];
  let thoughts = 0;
  let candidates: ModalTokens = {};
  for (const [index, candidate] of reply.candidates.entries()) {
    thoughts += candidate.thoughts;
    const parts = piecesOf(candidate, random);
    const before = candidates;
    const last = parts.length - 1;
    let waited = candidate.thoughts;
    for (const [at, part] of parts.entries()) {
      const fresh = tokensOfPart(part, candidate);
      candidates = addTokens(candidates, fresh);
      const tokens = waited + Object.values(fresh).reduce((sum, count) => sum + count, 0);
      waited = 0;
      // The pieces can add up to more tokens than the whole text: the last slice has the right sum.
      if (at === last) candidates = addTokens(before, candidate.tokens);
      slices.push({
        candidate: index,
        part,
        ...(at === last && random.chance(0.5) ? { ends: candidate } : {}),
        usage: { ...reply.usage, candidates, thoughts, tool: {} },
        tokens,
      });
    }
    // Half of the streams end with an event that has no content (gateway 6.7).
    if (slices.at(-1)?.ends !== candidate) {
      candidates = addTokens(before, candidate.tokens);
      slices.push({
        candidate: index,
        ends: candidate,
        usage: { ...reply.usage, candidates, thoughts, tool: {} },
        tokens: waited,
      });
    }
  }
  const end = slices.pop();
  return end === undefined ? [] : [...slices, { ...end, usage: reply.usage }];
}

type Piece = NonNullable<Slice['part']>;

function piecesOf(candidate: Candidate, random: Random): readonly Piece[] {
  const pieces: Piece[] = [];
  if (candidate.thought !== undefined) {
    for (const text of cutText(candidate.thought, random)) pieces.push({ kind: 'thought', text });
  }
  for (const part of candidate.parts) {
    if (part.kind === 'text') {
      for (const text of cutText(part.text, random)) pieces.push({ kind: 'text', text });
    } else {
      pieces.push(part);
    }
  }
  return pieces;
}

function cutText(text: string, random: Random): readonly string[] {
  const tokens = splitTokens(text);
  const most = Math.max(12, Math.ceil(tokens.length / 100));
  const pieces: string[] = [];
  for (let at = 0; at < tokens.length; ) {
    const size = random.int(1, most);
    pieces.push(tokens.slice(at, at + size).join(''));
    at += size;
  }
  return pieces;
}

function tokensOfPart(part: Piece, { tokens }: Candidate): ModalTokens {
  switch (part.kind) {
    case 'thought':
      return {};
    case 'text':
      return { TEXT: countTokens(part.text) };
    case 'image':
      return { IMAGE: tokens.IMAGE ?? 0 };
    default:
      // Calls and code are one piece, whose tokens are counted at the end.
      return {};
  }
}
