import type { Locate } from '../diagnostics/diagnostic.ts';
import type { OutputChoice } from '../pipeline.ts';
import { compileTemplate } from '../templates/compile.ts';
import type { DiagnosticList } from './limits.ts';
import { type Atom, sourceOffset } from './token.ts';

/** Whether a branch has the name of an output: `#1`, `#*`, `#{{ … }}`. No button has such a name in a pipeline. */
export const isOutputName = (name: string): boolean => name.startsWith('#');

/** Whether an atom is written as an output: not in quotes. */
export const isOutput = (atom: Atom): boolean => atom.form === 'plain' && isOutputName(atom.text);

/** Returns the number of an output from its text; undefined for anything but a whole number from 1 to 99999. */
export const outputNumber = (text: string): number | undefined =>
  /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;

/** Reads an atom that begins with `#`; undefined after an error, of code `path.output` or of its template. */
export function readOutput(
  atom: Atom,
  locate: Locate,
  diagnostics: DiagnosticList,
): OutputChoice | undefined {
  const text = atom.text.slice(1);
  if (!atom.optional && text === '*') return 'each';
  if (!atom.optional && atom.template) {
    const offset = sourceOffset(atom, 1);
    const compiled = compileTemplate(text, (at, length) => locate(offset + at, length));
    if (compiled.ok) return compiled.value;
    for (const diagnostic of compiled.error)
      diagnostics.push({ ...diagnostic, offset: offset + diagnostic.offset });
    return undefined;
  }
  const number = atom.optional ? undefined : outputNumber(text);
  if (number !== undefined) return number;
  const hint =
    'Outputs are #1, #2 and so on, #* (each of them) or #{{ … }}; a path may have a range, #1..#4.';
  const message = atom.optional ? 'An output cannot be optional.' : `"${atom.text}" names no output.`;
  diagnostics.add('path.output', message, atom.span, hint);
  return undefined;
}
