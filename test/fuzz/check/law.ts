import { diagnosticCodes } from '../../../src/pipeline/diagnostics/codes.ts';
import type { Diagnostic, DiagnosticDraft, Locate } from '../../../src/pipeline/diagnostics/diagnostic.ts';
import { formatDiagnostic } from '../../../src/pipeline/diagnostics/format.ts';

/** What every reader promises was not kept. Whatever else is thrown is a finding too. */
export class Broken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Broken';
  }
}

/** Runs one prepared input; only this is measured. Returns the codes that it was met with. */
export type Run = () => Promise<readonly string[]>;

const isKnown = (code: string): boolean => Object.hasOwn(diagnosticCodes, code);

/** A diagnostic is read by a person: about a screen. */
const longestDiagnostic = 10_000;

/** Steers a terminal, or the direction of what it shows; line ends are ours. */
const steering = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** A text that goes to a terminal. @throws Broken */
export function lawfulText(text: string, what: string): void {
  const found = steering.exec(text.replaceAll('\n', ''));
  if (found !== null)
    throw new Broken(`${what} holds ${JSON.stringify(found[0])}: ${JSON.stringify(text.slice(0, 300))}`);
}

/** @throws Broken unless the diagnostics have known codes, stand somewhere, and can be shown; one is an error if `failed` */
export function lawful(diagnostics: readonly Diagnostic[], failed: boolean): readonly string[] {
  if (failed !== diagnostics.some(({ severity }) => severity === 'error')) {
    throw new Broken(failed ? 'It failed without an error.' : 'It is valid in spite of an error.');
  }
  for (const diagnostic of diagnostics) {
    const { code, line, column, length } = diagnostic;
    if (!isKnown(code)) throw new Broken(`The code ${code} is unknown.`);
    if (line < 1 || column < 1 || length < 1)
      throw new Broken(`${code} stands at ${line}:${column}, ${length} long.`);
    const text = formatDiagnostic(diagnostic);
    if (text.length > longestDiagnostic) throw new Broken(`${code} is said in ${text.length} characters.`);
    lawfulText(text, code);
  }
  return codesOf(diagnostics);
}

/** The same for what a grammar found in a text. @throws Broken */
export function lawfulDiagnostics(diagnostics: readonly DiagnosticDraft[], text: string): readonly string[] {
  if (diagnostics.length === 0) throw new Broken('It failed without a mistake.');
  if (diagnostics.length > 100) throw new Broken(`${diagnostics.length} mistakes are described.`);
  for (const { code, message, offset, length, hint = '' } of diagnostics) {
    if (!isKnown(code)) throw new Broken(`The code ${code} is unknown.`);
    if (offset < 0 || length < 0 || offset + length > text.length)
      throw new Broken(`${code} marks ${offset}+${length} of ${text.length}.`);
    if (message.length + hint.length > longestDiagnostic)
      throw new Broken(`${code} is said in ${message.length + hint.length} characters.`);
  }
  return codesOf(diagnostics);
}

const codesOf = (found: readonly { readonly code: string }[]): readonly string[] => [
  ...new Set(found.map(({ code }) => code)),
];

/** @throws Broken when an input has reached into what all objects share */
export function lawfulPrototypes(): void {
  const grown = [Object.prototype, Array.prototype, Function.prototype].flatMap((shared) =>
    Object.keys(shared),
  );
  if (grown.length > 0) throw new Broken(`A prototype has got ${grown.join(', ')}.`);
}

/** Places in a text that stands alone. */
export const locate: Locate = (offset, length) => ({
  line: 1,
  column: offset + 1,
  length: Math.max(1, length),
});
