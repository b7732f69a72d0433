import type { ButtonWord } from '../pipeline/pipeline.ts';
import { globMatches } from '../pipeline/selectors/glob.ts';
import { normalName } from '../pipeline/selectors/names.ts';
import { compilePattern, patternSubject } from '../pipeline/selectors/pattern.ts';
import type { Button } from './job.ts';
import type { Press } from './job-request.ts';

/** The result of searching a button on a task. */
export type Found =
  | { readonly kind: 'one'; readonly button: Button }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly buttons: readonly Button[] };

/** Normalises texts that look the same. Emoji come with and without the variation selector that asks for their coloured form. */
const spelling = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\uFE0E\uFE0F]/g, '')
    .trim();

interface WordMarks {
  /** Pattern in a customId, between `::`; gateways differ in the prefix and in upper and lower case (gateway 5.1). */
  readonly customId: RegExp;
  readonly emoji: string;
}

/** Returns the marks of a describe's suggestion, or of a shortened prompt. */
function suggestion(number: number): WordMarks {
  const customId = new RegExp(`(?:^|::)(?:PicReader|PromptAnalyzer)::${number}(?:::|$)`, 'i');
  return { customId, emoji: `${number}\u20E3` };
}

const marks: Readonly<Record<ButtonWord, WordMarks>> = {
  reroll: { customId: /(?:^|::)reroll(?:::|$)/i, emoji: '🔄' },
  'pan left': { customId: /(?:^|::)pan_left(?:::|$)/i, emoji: '⬅' },
  'pan right': { customId: /(?:^|::)pan_right(?:::|$)/i, emoji: '➡' },
  'pan up': { customId: /(?:^|::)pan_up(?:::|$)/i, emoji: '⬆' },
  'pan down': { customId: /(?:^|::)pan_down(?:::|$)/i, emoji: '⬇' },
  'prompt 1': suggestion(1),
  'prompt 2': suggestion(2),
  'prompt 3': suggestion(3),
  'prompt 4': suggestion(4),
};

function firstOf(
  buttons: readonly Button[],
  tests: readonly ((button: Button) => boolean)[],
): readonly Button[] {
  for (const test of tests) {
    const matches = buttons.filter(test);
    if (matches.length > 0) return matches;
  }
  return [];
}

function matches(press: Press, buttons: readonly Button[]): readonly Button[] {
  switch (press.kind) {
    case 'text': {
      const text = spelling(press.text);
      // An empty text does not match a button without a label.
      if (text === '') return [];
      return firstOf(buttons, [
        ({ label }) => spelling(label) === text,
        ({ emoji }) => spelling(emoji) === text,
      ]);
    }
    case 'pattern': {
      const pattern = compilePattern(press.source);
      return buttons.filter(({ customId }) => customId.length <= patternSubject && pattern.test(customId));
    }
    case 'word': {
      const mark = marks[press.word];
      return firstOf(buttons, [
        ({ customId }) => mark.customId.test(customId),
        ({ emoji }) => spelling(emoji) === mark.emoji,
        ({ label }) => spelling(label).toLowerCase() === press.word,
      ]);
    }
  }
}

/**
 * Finds the button to press: that of the first alternative which the task offers. A text is compared exactly with labels, or with emoji
 * if no label matches. Several buttons for one alternative give `several`, never the first.
 */
export function findButton(press: readonly Press[], buttons: readonly Button[]): Found {
  for (const alternative of press) {
    const found = matches(alternative, buttons);
    const [button] = found;
    if (button === undefined) continue;
    return found.length === 1 ? { kind: 'one', button } : { kind: 'several', buttons: found };
  }
  return { kind: 'none' };
}

/** Parts of a customId, between `::`, of buttons that begin something other than one task (gateway 3.4, 5.3). */
const noTask: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^|::)PicReader::all(?:::|$)/i,
    'begins several tasks at once, and a job is one. Press one by one: prompt 1, prompt 2, prompt 3, prompt 4, each in its own branch',
  ],
  [/(?:^|::)BOOKMARK(?:::|$)/i, 'begins no task: it only marks the image on the service'],
];

/** Whether the client made up a button for a gateway that shows none; it is pressed by `submit/change` (gateway 2.4). */
export const isChange = ({ customId }: Button): boolean => customId.startsWith('change::');

/** Returns the number, from 1, of the suggested prompt that a button draws; undefined for others. The button's window proposes it. */
export function suggestedBy({ customId }: Button): number | undefined {
  const number = /(?:^|::)(?:PicReader|PromptAnalyzer)::([1-9])(?:::|$)/i.exec(customId)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Whether a button is Vary (Region), whose window takes a mask (gateway 5.5). */
export const isInpaint = ({ customId }: Button): boolean => /(?:^|::)Inpaint(?:::|$)/i.test(customId);

/** Matches the buttons of gateway 5 other than Inpaint. */
const maskless =
  /(?:^|::)(?:CustomZoom|Outpaint|reroll|(?:low_|high_)?variation|pan_\w+|upsample\w*|animate_\w+|video\w*|PicReader|Picread|PromptAnalyzer)(?:::|$)/i;

/** False for a button that opens no window, or a window without a mask. */
export const mayTakeMask = (button: Button): boolean => isInpaint(button) || !maskless.test(button.customId);

/** Returns why a job, which is one task, cannot press a button, as words that follow the button's name; undefined if it can. */
export const whyNoTask = ({ customId }: Button): string | undefined =>
  noTask.find(([mark]) => mark.test(customId))?.[1];

/** Returns the branch segment of a button that a wildcard found. */
export const wildcardBranch = (button: Button): string => normalName(button.label);

/**
 * Returns the buttons whose labels match a wildcard such as `U*`, in the task's order; a button without a label never matches. Of buttons
 * with the same label only the first is returned, so that each has its own branch; pressing that label then fails as ambiguous, and
 * nothing is pressed by guess.
 */
export function wildcardMatches(glob: string, buttons: readonly Button[]): readonly Button[] {
  const wanted = spelling(glob);
  const branches = new Set(['', '*', '**']);
  return buttons.filter((button) => {
    const branch = wildcardBranch(button);
    if (branches.has(branch) || !globMatches(wanted, spelling(button.label))) return false;
    branches.add(branch);
    return true;
  });
}

const shownButtons = 40;
const shownLength = 80;

/** Returns the name of a button in messages: its label, else its word, else its emoji; cut if it is very long. */
export function buttonName(button: Button): string {
  // A service's text is shown on a terminal here: no control characters.
  const label = normalName(button.label.replace(/\p{Cc}/gu, ' '));
  if (label !== '') return label.slice(0, shownLength);
  const word = (Object.keys(marks) as ButtonWord[]).find(
    (name) => matches({ kind: 'word', word: name }, [button]).length > 0,
  );
  return (
    word ?? (normalName(button.emoji.replace(/\p{Cc}/gu, ' ')).slice(0, shownLength) || 'one without a label')
  );
}

/** Lists the buttons that can be pressed, for error texts: labels, else words, else emoji; `no buttons` if there are none. */
export function offered(buttons: readonly Button[]): string {
  if (buttons.length === 0) return 'no buttons';
  const texts = buttons.slice(0, shownButtons).map(buttonName);
  if (buttons.length > shownButtons) texts.push(`and ${buttons.length - shownButtons} more`);
  return texts.join(', ');
}
