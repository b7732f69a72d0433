import type { ReasonMatch } from '../pipeline.ts';
import { compilePattern, patternSubject } from '../selectors/pattern.ts';

/** Parses a reason of `retry.permanent` or `retry.transient`: a text, or a pattern between slashes. */
export function reasonMatch(written: string): ReasonMatch {
  return written.length > 1 && written.startsWith('/') && written.endsWith('/')
    ? { kind: 'pattern', source: written.slice(1, -1) }
    : { kind: 'text', text: written };
}

const spelling = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * Whether the reason of a failed task matches: it contains the text, in upper or lower case, or the pattern is found in its first 256
 * characters, which bounds the work (see `selector-pattern.ts`).
 */
export function reasonMatches(match: ReasonMatch, reason: string): boolean {
  return match.kind === 'text'
    ? spelling(reason).includes(spelling(match.text))
    : compilePattern(match.source).test(reason.slice(0, patternSubject));
}
