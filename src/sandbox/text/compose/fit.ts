import { type Candidate, plain, type ReplyFinish, type ReplyPart } from '../answer.ts';
import type { Ask } from '../ask.ts';
import { addTokens, countTokens, firstTokens, type ModalTokens } from '../tokens.ts';

/** Tokens of an image that is made, by its size (gateway 6.5). */
const paintedTokens = { 1: 1120, 2: 1120, 4: 2000 } as const;

/** What is left of a reply's parts, why it ends there, and what these parts count. */
type Fitted = Pick<Candidate, 'parts' | 'finish' | 'tokens'>;

/**
 * As much of a reply as there is: up to the first stop sequence, and what there is room for.
 *
 * @param room in tokens
 */
export function fit(parts: readonly ReplyPart[], ask: Ask, room: number): Fitted {
  const kept: ReplyPart[] = [];
  let tokens: ModalTokens = {};
  let left = room;
  const end = (finish: ReplyFinish): Fitted => ({
    parts: kept,
    finish,
    tokens,
  });
  for (const part of parts) {
    if (part.kind === 'text') {
      const stop = Math.min(
        ...ask.stops
          .filter((word) => word !== '' && part.text.includes(word))
          .map((word) => part.text.indexOf(word)),
      );
      const text = Number.isFinite(stop) ? part.text.slice(0, stop) : part.text;
      const count = countTokens(text);
      const fitting = count > left ? firstTokens(text, left) : text;
      tokens = addTokens(tokens, { TEXT: Math.min(count, left) });
      if (fitting !== '') kept.push({ kind: 'text', text: fitting });
      if (count > left) return end('MAX_TOKENS');
      left -= count;
      if (Number.isFinite(stop)) return end('STOP');
    } else {
      const image = part.kind === 'image';
      const count = image ? paintedTokens[ask.image?.scale ?? 1] : countTokens(plain(part));
      if (count > left) return end('MAX_TOKENS');
      left -= count;
      tokens = addTokens(tokens, image ? { IMAGE: count } : { TEXT: count });
      kept.push(part);
    }
  }
  return end('STOP');
}
