const stopWords = new Set(
  (
    'a an the this that these those and or but nor so of in on at to for from by with without into onto over under as is are was ' +
    'were be been being am do does did done have has had can could should would will may might must shall i me my you your ' +
    'he she it its we our they them their who whom whose which what when where why how not no yes only just also please very ' +
    'more most less least each every all any some one two three four five six seven eight nine ten if then than there here ' +
    'up down out about between within during per via use using used write writing give show shows tell describe caption ' +
    'name list answer reply return respond explain say make create generate produce summarize summarise translate rate ' +
    'rank score judge choose pick select compare find identify word words sentence sentences paragraph paragraphs line ' +
    'lines short long brief briefly exactly most json image images picture pictures photo text prompt question following ' +
    'draw paint render see seen look good best better worst want need like get let fact facts idea ideas tag tags keyword ' +
    'keywords item items bullet bullets title titles example examples option options language languages caption captions ' +
    'description descriptions translation tone style format output length limit maximum minimum character characters instruction ' +
    'sharpest strongest instructions include including mention avoid plain simple clear alone frame frames row rows'
  ).split(' '),
);

/** `Language: German.`, `Tone: dry`: how to write, and not what of. */
const settings =
  /\b(?:language|tone|style|format|length|audience|voice|output|limit|maximum)[ \t]?:[^.;\n]*/gi;

/** `in German`, `into plain English`. */
const languages =
  /\b(?:in|into|to|from)[ \t](?:plain[ \t]|simple[ \t])?(?:arabic|chinese|czech|danish|dutch|english|finnish|french|german|greek|hebrew|hindi|italian|japanese|korean|latin|norwegian|polish|portuguese|russian|spanish|swedish|turkish|ukrainian)\b/gi;

/** The words that a prompt is about, in its order, each once; not those that say how to write. */
export function subjectOf(prompt: string, most = 8): readonly string[] {
  const found = new Map<string, string>();
  const text = prompt.slice(0, 20_000).replaceAll(settings, ' ').replaceAll(languages, ' ');
  for (const [word] of text.matchAll(/\p{L}[\p{L}\p{M}'’-]{2,40}/gu)) {
    const plain = word.toLowerCase();
    if (!stopWords.has(plain) && !found.has(plain)) found.set(plain, word);
    if (found.size >= most) break;
  }
  return [...found.values()];
}

/** The words of a text that carry meaning, by their stems: to find out whether two texts are about the same. */
export function stemsOf(text: string): ReadonlySet<string> {
  const split = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return new Set(subjectOf(split, 400).map((word) => word.toLowerCase().replace(/(ing|ed|es|s)$/, '')));
}

/** Numbers that a prompt lets one choose among, for example `frames (1 to 4)`; default 1 to the images shown, or 4. */
export function rangeOf(prompt: string, images: number): { readonly low: number; readonly high: number } {
  const [, from, to] = /\b(\d{1,4})\s*(?:to|-|–|\.\.|through|and)\s*(\d{1,4})\b/.exec(prompt) ?? [];
  const low = Number(from);
  const high = Number(to);
  if (from !== undefined && low < high) return { low, high };
  return { low: 1, high: images > 1 ? images : 4 };
}
