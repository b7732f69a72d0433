import type { Input, Piece } from './input.ts';

/** Inputs that are a little smaller, the boldest first. */
function* smaller(input: Input): Generator<Input> {
  const { pieces } = input;
  const replace = (at: number, ...by: readonly Piece[]): Input => ({
    ...input,
    pieces: [...pieces.slice(0, at), ...by, ...pieces.slice(at + 1)],
  });
  const half = Math.floor(pieces.length / 2);
  if (half > 1) {
    yield { ...input, pieces: pieces.slice(0, half) };
    yield { ...input, pieces: pieces.slice(half) };
  }
  for (const [at, one] of pieces.entries()) {
    if (pieces.length > 1) yield replace(at);
    for (const times of [1, Math.floor(one.times / 8), Math.floor(one.times / 2)]) {
      if (times > 0 && times < one.times) yield replace(at, { ...one, times });
    }
    for (let size = one.text.length >> 1; size > one.text.length / 64; size >>= 1) {
      for (let from = 0; from < one.text.length; from += size) {
        yield replace(at, { ...one, text: one.text.slice(0, from) + one.text.slice(from + size) });
      }
    }
  }
}

/** The smallest input that was found to be wrong as well, within so many attempts. */
export async function shrink(
  input: Input,
  isWrong: (input: Input) => Promise<boolean>,
  attempts: number,
): Promise<Input> {
  let smallest = input;
  let left = attempts;
  for (;;) {
    let found: Input | undefined;
    for (const candidate of smaller(smallest)) {
      if (left === 0) return smallest;
      left -= 1;
      if (!(await isWrong(candidate))) continue;
      found = candidate;
      break;
    }
    if (found === undefined) return smallest;
    smallest = found;
  }
}
