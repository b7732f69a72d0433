/**
 * True when `text` is what `glob` says: `*` stands for any run of characters, everything else for itself. Work is
 * at most the product of the lengths.
 */
export function globMatches(glob: string, text: string): boolean {
  let at = 0;
  let inGlob = 0;
  // Where the last star was, and how far the text was then: on a mismatch the star takes one character more.
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
