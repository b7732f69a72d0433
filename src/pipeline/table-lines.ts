import { type TableSection, tooLong } from './table-bytes.ts';
import { tableLimits } from './table-error.ts';

/** A line of a table without its line end. */
export interface TableLine {
  readonly text: string;
  readonly line: number;
}

/** The lines of a section that hold anything. @throws TableError `table.too-long` */
export function* sectionLines(section: TableSection): Generator<TableLine, void, undefined> {
  const { bytes } = section;
  let { line } = section;
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from);
    const next = end < 0 ? bytes.length : end + 1;
    let stop = end < 0 ? bytes.length : end;
    if (stop > from && bytes[stop - 1] === 0x0d) stop--;
    if (stop - from > tableLimits.recordBytes) throw tooLong(line);
    // Each line is a text of its own: a slice of the section's text would keep all of that alive.
    if (stop > from) yield { text: bytes.toString('utf8', from, stop), line };
    from = next;
  }
}
