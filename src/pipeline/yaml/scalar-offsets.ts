import type { Position } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../diagnostics/source.ts';
import type { ScalarStyle, TextNode } from './node.ts';

const simpleEscapes = '0abtnvfre "/\\NbLP_\t';

/** Returns the length of an escape in a double-quoted scalar, and the number of units of text that it yields. */
function escapeAt(text: string, at: number): { consumed: number; made: number } {
  const mark = text[at + 1] ?? '';
  if (mark === 'x') return { consumed: 4, made: 1 };
  if (mark === 'u') return { consumed: 6, made: 1 };
  if (mark === 'U')
    return { consumed: 10, made: Number.parseInt(text.slice(at + 2, at + 10), 16) > 0xffff ? 2 : 1 };
  return { consumed: 2, made: simpleEscapes.includes(mark) ? 1 : 0 };
}

const isBlank = (unit: string | undefined): boolean =>
  unit === ' ' || unit === '\t' || unit === '\n' || unit === '\r';

/** Returns where the text begins: after an opening quote, or on the line below a block scalar's header. */
function textStart(style: ScalarStyle, file: string, offset: number): number {
  if (style === 'plain') return offset;
  if (style !== 'block') return offset + 1;
  const lineEnd = file.indexOf('\n', offset);
  return lineEnd === -1 ? file.length : lineEnd + 1;
}

/**
 * Returns the offset in the file of each unit of a scalar's text, and of its end. White space may be folded, indented or escaped in the
 * file; all other characters are in the same order, so both are walked together.
 */
function unitOffsets(source: SourceText, scalar: TextNode): readonly number[] {
  const file = source.text;
  const { value, style } = scalar;
  const offsets: number[] = [];
  let at = textStart(style, file, scalar.span.offset);
  while (offsets.length < value.length) {
    const wanted = value[offsets.length];
    const blank = isBlank(wanted);
    if (style === 'double' && file[at] === '\\') {
      const { consumed, made } = escapeAt(file, at);
      for (let unit = 0; unit < made && offsets.length < value.length; unit += 1) offsets.push(at);
      at += consumed;
    } else if (!blank && isBlank(file[at])) {
      at += 1;
    } else {
      offsets.push(Math.min(at, file.length));
      if (!blank) at += style === 'single' && wanted === "'" ? 2 : 1;
      else if (isBlank(file[at])) at += 1;
    }
  }
  offsets.push(Math.min(at, file.length));
  return offsets;
}

/** Returns a function that converts offsets in a scalar's text to positions in the file, across quotes, escapes and folds. */
export function scalarLocator(
  source: SourceText,
  scalar: TextNode,
): (offset: number, length: number) => Position {
  // A flag is one short text and is marked as a whole.
  if (scalar.span.offset > source.text.length) return () => source.position(scalar.span);
  let offsets: readonly number[] | undefined;
  const fileOffset = (unit: number): number => {
    offsets ??= unitOffsets(source, scalar);
    const last = offsets.length - 1;
    return offsets[Math.min(Math.max(unit, 0), last)] as number;
  };
  return (offset, length) => {
    const start = fileOffset(offset);
    // The end follows the last marked unit: the next unit may be on another line.
    const end = length > 0 ? fileOffset(offset + length - 1) + 1 : start;
    return source.position({ offset: start, length: end - start });
  };
}
