/** Whether a text matches a glob, in which `*` stands for any characters. Takes at most the product of both lengths. */
export function globMatches(glob: string, text: string): boolean {
  let at = 0;
  let inGlob = 0;
  // The position of the last star and of the text at that time: after a mismatch the star takes one character more.
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (glob[inGlob] === '*') {
      star = inGlob;
      resume = at;
      inGlob += 1;
    } else if (glob[inGlob] === text[at]) {
      inGlob += 1;
      at += 1;
    } else if (star !== -1) {
      inGlob = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob += 1;
  return inGlob === glob.length;
}

/** Whether some text matches both globs. Takes at most the product of both lengths. */
export function globsMeet(one: string, other: string): boolean {
  // Prefixes of `other` that can match the same text as the examined prefix of `one`.
  let meets: boolean[] = [true];
  for (let at = 0; at < other.length; at += 1) meets.push(meets[at] === true && other[at] === '*');
  for (const char of one) {
    const next = [meets[0] === true && char === '*'];
    for (let at = 0; at < other.length; at += 1) {
      const isStar = char === '*' || other[at] === '*';
      next.push(
        isStar ? next[at] === true || meets[at + 1] === true : char === other[at] && meets[at] === true,
      );
    }
    meets = next;
  }
  return meets[other.length] === true;
}
