/** Bounds of the kept prompts: a describe task suggests four prompts of some hundred characters. */
const most = { prompts: 25, characters: 8_000 } as const;

// 1️⃣ is a digit, with or without a variation selector, in a key cap; 🔟 is a character of its own.
const keycap = /(?:([1-9])\uFE0F?\u20E3|\u{1F51F})/gu;
const keycapAtLineStart = /^[ \t>*_-]*(?:([1-9])\uFE0F?\u20E3|\u{1F51F})/gmu;
const numberAtLineStart = /^[ \t>*_#-]*(\d{1,2})[ \t]*(?:[.:)][*_]*[ \t]|[．。：、）])/gm;

/**
 * Splits the prompts that a describe task suggests in its `finalPrompt`: `1️⃣ a fox --ar 5:4\n\n2️⃣ …` (gateway 4.5). Returns them
 * without their numbers, each on one line. Numbers must count from 1 without a gap, because a prompt may contain numbers; text before
 * them is not a prompt. Without numbers, blank lines divide; without those, it is one prompt.
 */
export function splitPrompts(text: string): readonly string[] {
  const lines = text.replace(/\r\n?/g, '\n');
  const pieces = [keycapAtLineStart, keycap, numberAtLineStart]
    .map((mark) => numbered(lines, mark))
    .find((found) => found.length > 1);
  return (pieces ?? numberedOnce(lines) ?? lines.split(/\n[ \t]*\n/))
    .map(oneLine)
    .filter((prompt) => prompt !== '')
    .slice(0, most.prompts);
}

/**
 * Returns a single prompt without its number. A number further down belongs to the text (`a fox\n\n1. of May`), unless the words before
 * it announce the prompt (`Here it is:`). A key cap is never part of a text.
 */
function numberedOnce(text: string): readonly string[] | undefined {
  const [keycaps = [], numbers = []] = [keycapAtLineStart, numberAtLineStart].map((mark) =>
    numbered(text, mark),
  );
  if (keycaps.length === 1) return keycaps;
  const [prompt] = numbers;
  if (numbers.length !== 1 || prompt === undefined) return undefined;
  const before = text.slice(0, text.length - prompt.length).trimStart();
  const end = before.lastIndexOf('\n');
  return end === -1 || before.slice(0, end).trimEnd().endsWith(':') ? numbers : undefined;
}

/** Returns the texts between the marks 1, 2, 3, …, up to the first missing mark. */
function numbered(text: string, mark: RegExp): readonly string[] {
  const starts: { readonly at: number; readonly end: number }[] = [];
  for (const match of text.matchAll(mark)) {
    const number = match[1] === undefined ? 10 : Number(match[1]);
    if (number === starts.length + 1) starts.push({ at: match.index, end: match.index + match[0].length });
  }
  return starts.map(({ end }, i) => text.slice(end, starts[i + 1]?.at));
}

function oneLine(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return line.length <= most.characters
    ? line
    : line.slice(0, most.characters).replace(/\p{Surrogate}$/u, '');
}
