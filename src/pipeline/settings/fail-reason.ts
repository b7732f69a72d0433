import type { ReasonMatch } from '../pipeline.ts';
import { compilePattern, patternSubject } from '../selectors/pattern.ts';

/** A reason as `retry.permanent` and `retry.transient` write it: a text, or a pattern between slashes. */
export function reasonMatch(written: string): ReasonMatch {
  return written.length > 1 && written.startsWith('/') && written.endsWith('/')
    ? { kind: 'pattern', source: written.slice(1, -1) }
    : { kind: 'text', text: written };
}

const spelling = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * True for a failed task's reason that is meant: a text stands somewhere in it, in capitals or not; a pattern is found in
 * its first 256 characters, which bounds the work whatever a service says (see `selector-pattern.ts`).
 */
export function reasonMatches(match: ReasonMatch, reason: string): boolean {
  return match.kind === 'text'
    ? spelling(reason).includes(spelling(match.text))
    : compilePattern(match.source).test(reason.slice(0, patternSubject));
}
