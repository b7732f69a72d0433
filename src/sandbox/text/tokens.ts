// What one token is here: up to six letters or three digits of one word, or one sign, with the space before it.
const piece = /\s*(?:\p{L}{1,6}|\p{N}{1,3}|[^\s\p{L}\p{N}])|\s+$/gu;

/** Tokens of a text. */
export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(piece)) count += 1;
  return count;
}

/** The text cut into its tokens; joined they are the text. */
export function splitTokens(text: string): readonly string[] {
  return text.match(piece) ?? [];
}

/** The text's first tokens. */
export function firstTokens(text: string, count: number): string {
  let end = 0;
  let left = count;
  for (const match of text.matchAll(piece)) {
    if (left <= 0) break;
    left -= 1;
    end = match.index + match[0].length;
  }
  return text.slice(0, end);
}

/** Tokens by what they are of (gateway 6.5, `*TokensDetails`). */
export type Modality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';

export type ModalTokens = Readonly<Partial<Record<Modality, number>>>;

/** The same for both endpoints. `total` = prompt + candidates + thoughts + tool; `prompt` includes `cached`. */
export interface Usage {
  readonly prompt: ModalTokens;
  readonly cached: ModalTokens;
  readonly candidates: ModalTokens;
  readonly thoughts: number;
  readonly tool: ModalTokens;
}

export const modalSum = (tokens: ModalTokens): number =>
  Object.values(tokens).reduce((sum, count) => sum + count, 0);

/** Two counts together. */
export function addTokens(one: ModalTokens, other: ModalTokens): ModalTokens {
  const sum: Partial<Record<Modality, number>> = { ...one };
  for (const [modality, count] of Object.entries(other) as [Modality, number][]) {
    sum[modality] = (sum[modality] ?? 0) + count;
  }
  return sum;
}

/** All that a reply used. */
export const totalOf = ({ prompt, candidates, thoughts, tool }: Usage): number =>
  modalSum(prompt) + modalSum(candidates) + thoughts + modalSum(tool);

/** Tokens of an image that is shown: one tile up to 384 pixels a side, else one for each 768 (gateway 6.5). */
export function imageTokens(width: number, height: number): number {
  const tile = 258;
  if (width <= 384 && height <= 384) return tile;
  return tile * Math.ceil(width / 768) * Math.ceil(height / 768);
}
