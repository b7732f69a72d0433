import { createColors } from 'picocolors';
import { type Glyph, glyphsOf } from './columns.ts';
import type { Diagnostic } from './diagnostic.ts';
import { cutText, printable } from './terminal-text.ts';

/** Columns of source text shown; a longer line is cut around the marked text. */
const windowWidth = 100;
/** Columns shown before the marked text when the line is cut. */
const lead = 30;

/**
 * Formats a diagnostic for people, as several lines without a final line end:
 *
 *     foxes.yaml:4:9 error schema.value speed cannot be "fats".
 *       4 |   speed: fats
 *         |          ^~~~
 *         = Did you mean "fast"? Possible: relax, fast, turbo.
 */
export function formatDiagnostic(diagnostic: Diagnostic, options: { readonly color?: boolean } = {}): string {
  const paint = createColors(options.color ?? false);
  const { file, line, column, severity, code, message, hint } = diagnostic;
  const colored = severity === 'error' ? paint.red : paint.yellow;
  const isFlag = diagnostic.flag !== undefined;
  const place = isFlag
    ? `${paint.bold(cutText(printable(file)))}:`
    : paint.bold(`${printable(file)}:${line}:${column}`);
  const lines = [`${place} ${colored(severity)} ${paint.dim(code)} ${printable(message)}`];
  const number = isFlag ? ' ' : String(line);
  const margin = ' '.repeat(number.length + 2);
  const bar = paint.dim('|');
  const excerpt = excerptOf(diagnostic);
  if (excerpt !== undefined) {
    lines.push(`  ${paint.dim(number)} ${bar} ${excerpt.text}`);
    lines.push(`${margin} ${bar} ${' '.repeat(excerpt.before)}${colored(excerpt.mark)}`);
  }
  if (hint !== undefined) lines.push(`${margin} ${paint.dim('=')} ${printable(hint)}`);
  return lines.join('\n');
}

interface Excerpt {
  readonly text: string;
  /** Columns before the mark. */
  readonly before: number;
  readonly mark: string;
}

function excerptOf({ sourceLine, sourceColumn = 1, column, length }: Diagnostic): Excerpt | undefined {
  if (sourceLine === '') return undefined;
  const glyphs = glyphsOf(sourceLine);
  const start = column - sourceColumn;
  const isMarked = (glyph: Glyph, index: number): boolean => {
    const end = glyphs[index + 1]?.at ?? sourceLine.length;
    return end > start && glyph.at < start + length;
  };
  const first = glyphs.findIndex(isMarked);
  const firstOrEnd = first === -1 ? glyphs.length : first;
  const before = widthOf(glyphs.slice(0, firstOrEnd));
  const marked = widthOf(glyphs.filter(isMarked));
  const total = widthOf(glyphs);
  const cutLeft =
    sourceColumn > 1 || total > windowWidth ? Math.max(0, Math.min(before - lead, total - windowWidth)) : 0;
  return cut(glyphs, cutLeft, sourceColumn > 1, { before, marked });
}

function cut(
  glyphs: readonly Glyph[],
  cutLeft: number,
  cutBefore: boolean,
  { before, marked }: { before: number; marked: number },
): Excerpt {
  let text = '';
  let at = 0;
  let left = 0;
  let shown = 0;
  let cutAfter = false;
  for (const { text: glyph, width } of glyphs) {
    if (at < cutLeft) left += width;
    else if (shown + width <= windowWidth) {
      text += glyph;
      shown += width;
    } else {
      cutAfter = true;
      break;
    }
    at += width;
  }
  const dots = left > 0 || cutBefore ? '…' : '';
  const offset = Math.max(0, before - left);
  const room = Math.max(1, shown - offset);
  const mark = `^${'~'.repeat(Math.max(0, Math.min(marked, room) - 1))}`;
  return { text: `${dots}${text}${cutAfter ? '…' : ''}`, before: offset + dots.length, mark };
}

const widthOf = (glyphs: readonly Glyph[]): number => glyphs.reduce((sum, { width }) => sum + width, 0);
