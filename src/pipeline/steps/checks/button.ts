import { distance } from 'fastest-levenshtein';
import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { listing } from '../../diagnostics/did-you-mean.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { ButtonMatch, Selector } from '../../pipeline.ts';
import { plainLabel } from '../../selectors/button-stage.ts';
import { buttonWords, findsKnownLabel, isKnownButton, knownLabels } from '../../selectors/known-buttons.ts';
import { hasTags } from '../../templates/compile.ts';
import { meantOutput } from '../branch.ts';
import { type CheckContext, type StepDraft, selectorsOf } from '../draft.ts';
import { literalScopes, renderedOf } from '../literal-scopes.ts';
import { belowOutputs } from './output.ts';

const maxListed = 3;

const longestCompared = 64;

/**
 * Warns of labels that no known model version offers: the images above them would be paid before the click fails. Only a warning, because
 * gateways may offer more. Templates are checked as far as the file alone determines them.
 */
export function checkButtons(step: StepDraft, { matrix, collector }: CheckContext): void {
  // All members of a range have the same position, and share one warning.
  const ranges = new Map<Selector['position'], (readonly string[])[]>();
  const below = new Set(belowOutputs(step));
  const { from, selector: pressed } = step;
  const isOfMeantOutput = from !== undefined && from.picks === undefined && meantOutput(from) !== undefined;
  if (isOfMeantOutput && pressed !== undefined) below.add(pressed);
  for (const selector of selectorsOf(step)) {
    if (below.has(selector)) continue;
    const alternatives = ranges.get(selector.position) ?? [];
    ranges.set(selector.position, alternatives);
    for (const [at, match] of selector.alternatives.entries())
      alternatives[at] = [...(alternatives[at] ?? []), ...unknownLabels(match, step, matrix)];
  }
  for (const [position, alternatives] of ranges)
    for (const labels of alternatives) warn(labels, position, collector);
}

function unknownLabels(match: ButtonMatch, step: StepDraft, matrix: MatrixDraft): readonly string[] {
  if (match.kind === 'wildcard') return findsKnownLabel(match.source) ? [] : [match.source];
  if (match.kind !== 'text') return [];
  const { text } = match;
  if (!hasTags(text.source)) return isKnownButton(text.source) ? [] : [text.source];
  if (!step.usesKnown) return [];
  const unknown = new Set<string>();
  for (const scope of literalScopes(step, [text], matrix)) {
    const label = renderedOf(() => text.render(scope));
    if (label === undefined || plainLabel(label) === '' || isKnownButton(label)) continue;
    unknown.add(label);
    if (unknown.size === maxListed) break;
  }
  return [...unknown];
}

function warn(
  labels: readonly string[],
  position: Selector['position'],
  collector: DiagnosticCollector,
): void {
  const [first] = labels;
  if (first === undefined) return;
  const named = `${labels.length === 1 ? 'a button' : 'any of the buttons'} ${listing(labels, maxListed)}`;
  const message = `No known model version offers ${named}; the click would fail after its image is paid.`;
  collector.warning('button.unknown', position, message, () => hintFor(first));
}

function hintFor(label: string): string {
  const written = otherSpelling(label);
  if (written !== undefined) return written;
  const near = nearestLabels(label);
  if (near.length === 0)
    return 'promptpress show JOB shows the buttons of a finished task; a button that only your gateway has can stay.';
  return `Did you mean ${listing(near)}?`;
}

/** Finds known labels in a text with something between them that is not a separator. */
function otherSpelling(label: string): string | undefined {
  if (label.length > longestCompared) return undefined;
  // In `-->` the path has read the arrow, and the rest ends the label.
  const bare = label.replace(/[-=]{1,8}$/, '').trim();
  if (bare !== label && bare !== '') return `Write an arrow as → or ->: ${meantBy(bare) ?? bare} → ….`;
  const range = rangeOf(label);
  if (range !== undefined) return `Write a range as ${range}.`;
  const parts = label.split(/(?:[-=]{0,8}>|[»⇒➜➔⟶/;&+])+/u).map((part) => part.trim());
  const meant = parts.flatMap((part) => meantBy(part) ?? []);
  if (parts.length > 1 && meant.length === parts.length) {
    const arrows = /[>»⇒➜➔⟶/]/u.test(label);
    return arrows
      ? `Write one button after the other as ${meant.join(' → ')} (or ->).`
      : `Write several buttons of one task as ${meant.join(', ')}.`;
  }
  const words = label.split(/\s+/u);
  if (words.length > 1 && words.every((word) => isKnownButton(word)))
    return `Write several buttons of one task as ${words.join(', ')}, one after the other as ${words.join(' → ')}.`;
  return undefined;
}

/** Returns the range `U1..U4` that was meant by a text with another sign between its ends. */
function rangeOf(text: string): string | undefined {
  const found = /^([uv])\[?([1-4]) ?(?:-|–|—|~|:|…|to|bis) ?([uv]?)([1-4])\]?$/iu.exec(text);
  const [, letter = '', from = '', other = '', to = ''] = found ?? [];
  const isOne = other === '' || other.toLowerCase() === letter.toLowerCase();
  if (found === null || !isOne || from >= to) return undefined;
  const stem = letter.toUpperCase();
  return `${stem}${from}..${stem}${to}`;
}

/** Returns the probable meaning of a part of a path: a known button, the nearest one, or a range. */
function meantBy(part: string): string | undefined {
  if (part === '') return undefined;
  if (isKnownButton(part) || buttonWords.some((word) => word === part)) return part;
  if (/^[UV][1-4]\.\.[UV][1-4]$/.test(part)) return part;
  return rangeOf(part) ?? nearestLabels(part)[0];
}

/** Reduces a label to letters and digits in lower case: brackets and blanks are often forgotten. */
const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, '');

/** Returns the nearest labels, at most three. */
function nearestLabels(label: string): readonly string[] {
  if (label.length > longestCompared) return [];
  const small = letters(label);
  const bound = Math.max(1, Math.floor(small.length / 3));
  return [...knownLabels, ...buttonWords]
    .map((known) => ({ known, far: distance(small, letters(known)) }))
    .filter(({ far }) => far <= bound)
    .sort((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ known }) => known);
}
