import { err, type Locate, ok, type Parsed } from '../diagnostics/diagnostic.ts';
import type { BranchAddress, OutputChoice } from '../pipeline.ts';
import { spanOf, splitAt } from './grammar.ts';
import { SelectorLexer } from './lexer.ts';
import { DiagnosticList, type SelectorSpan, selectorLimits } from './limits.ts';
import { atomName, joinNames, normalName, writeLabel } from './names.ts';
import { isOutput, isOutputName, readOutput } from './output.ts';
import { type Atom, escapeQuoted, type SelectorToken } from './token.ts';

/**
 * The grammar of branch addresses:
 *
 * ```
 * address   step (/ branch)* (/ "*" | / "**")?
 * branch    alternative (| alternative)*
 *           #1 | #* | #{{ … }}               an output
 * ```
 *
 * A branch is written as in the path that made it, so `/` inside a label needs quotes, and a pattern keeps its
 * slashes: `grid//upsample::2::/`. Spelling is normalised as in a selector's name.
 */

const isStar = (name: string): boolean => name === '*' || name === '**';

class AddressReader {
  readonly diagnostics = new DiagnosticList();
  /** See `BranchAddress.outputs`. */
  readonly outputs: Record<string, OutputChoice> = {};
  readonly #locate: Locate;

  constructor(locate: Locate) {
    this.#locate = locate;
  }

  step(tokens: readonly SelectorToken[], span: SelectorSpan): string {
    const [atom, ...more] = tokens;
    if (atom?.kind === 'atom' && atom.broken) return '';
    if (
      atom?.kind === 'atom' &&
      more.length === 0 &&
      atom.form !== 'pattern' &&
      atom.text.trim() !== '' &&
      !atom.optional
    ) {
      return normalName(atom.text);
    }
    const hint = 'Write <step>, <step>/<branch>, <step>/* or <step>/**.';
    this.diagnostics.add('address.step', 'An address begins with the name of a step.', span, hint);
    return '';
  }

  segment(tokens: readonly SelectorToken[], span: SelectorSpan, last: boolean): string {
    const stray = tokens.find(({ kind }) => kind === 'arrow' || kind === 'comma');
    if (stray?.kind === 'arrow') {
      const message = 'In an address, write "/" between branches.';
      const hint = 'Or quote a label that contains an arrow.';
      this.diagnostics.add('address.separator', message, spanOf(stray), hint);
      return '';
    }
    if (stray !== undefined) {
      this.#several(spanOf(stray));
      return '';
    }
    const parts = splitAt(tokens, 'pipe', span);
    if (parts.length > selectorLimits.alternatives) {
      const message = `A branch may have at most ${selectorLimits.alternatives} alternatives.`;
      this.diagnostics.add('path.too-many', message, span);
      return '';
    }
    const names: string[] = [];
    for (const part of parts) {
      const [token] = part.tokens;
      if (parts.length > 1 && token?.kind === 'atom' && isOutput(token))
        this.diagnostics.add('path.output', 'An output cannot be an alternative.', token.span);
      else if (token?.kind === 'atom' && (token.text.trim() !== '' || token.broken))
        names.push(this.#name(token, parts.length === 1 && last));
      else this.diagnostics.add('path.empty', 'The name of a branch is expected here.', part.span);
    }
    return joinNames(names);
  }

  #several(span: SelectorSpan): void {
    const hint = 'Use * for each branch one level below, ** for every leaf, or quote the label.';
    this.diagnostics.add('address.several', 'An address names one branch.', span, hint);
  }

  #name(atom: Atom, starPlace: boolean): string {
    const name = atomName(atom);
    if (isOutput(atom)) {
      const output = readOutput(atom, this.#locate, this.diagnostics);
      if (output !== undefined) this.outputs[name] = output;
      return name;
    }
    if (atom.optional) {
      this.diagnostics.add('address.optional', 'An address names the branch without its "?".', atom.span);
    }
    if (atom.dots !== undefined) this.#several(atom.span);
    if (atom.form === 'plain' && atom.star !== undefined) {
      if (!isStar(atom.text)) this.#several({ offset: atom.star, length: 1 });
      else if (!starPlace) {
        const message = `"${name}" is possible only alone at the end of an address.`;
        this.diagnostics.add('address.star', message, atom.span);
      }
    } else if (isStar(name) || isOutputName(name)) {
      this.diagnostics.add('path.reserved', `No branch is named "${name}".`, atom.span);
    }
    return name;
  }
}

/**
 * Parses the value of `from:` or `gather:`. Whether the step and its branches exist is not checked here.
 *
 * @returns the address, or all errors: codes `address.*` and `path.*`
 */
export function parseAddress(text: string, locate: Locate): Parsed<BranchAddress> {
  const span = { offset: 0, length: text.length };
  const reader = new AddressReader(locate);
  const { diagnostics } = reader;
  if (text.length > selectorLimits.text) {
    const message = `An address may have at most ${selectorLimits.text} characters, but this one has ${text.length}.`;
    diagnostics.add('path.too-long', message, span);
    return err(diagnostics.all);
  }
  const lexer = new SelectorLexer(text, { slash: true });
  lexer.read();
  for (const diagnostic of lexer.diagnostics) diagnostics.push(diagnostic);
  const [head, ...rest] = splitAt(lexer.tokens, 'slash', span);
  const step = reader.step(head?.tokens ?? [], head?.span ?? span);
  if (rest.length > selectorLimits.segments) {
    const message = `An address may have at most ${selectorLimits.segments} branches.`;
    diagnostics.add('path.too-many', message, span);
    return err(diagnostics.all);
  }
  const segments: string[] = [];
  for (const [index, part] of rest.entries()) {
    segments.push(reader.segment(part.tokens, part.span, index === rest.length - 1));
  }
  if (diagnostics.all.length > 0) return err(diagnostics.sorted());
  const { outputs } = reader;
  return ok({
    step,
    segments,
    ...(Object.keys(outputs).length === 0 ? {} : { outputs }),
    source: text,
    position: locate(0, text.length),
  });
}

const nowhere: Locate = () => ({ line: 1, column: 1, length: 1 });

function writeName(name: string): string {
  const lexer = new SelectorLexer(`s/${name}`, { slash: true });
  lexer.read();
  const reader = new AddressReader(nowhere);
  const tokens = lexer.tokens.slice(2);
  const marks = tokens.some(({ kind }) => kind === 'slash');
  const read = marks ? '' : reader.segment(tokens, { offset: 0, length: 0 }, true);
  const same = read === name && lexer.diagnostics.length + reader.diagnostics.all.length === 0;
  return same ? name : `"${escapeQuoted(name)}"`;
}

/** Formats an address so that it parses back to the same address. */
export const formatAddress = (address: Pick<BranchAddress, 'step' | 'segments'>): string =>
  [writeLabel(address.step, { slash: true }), ...address.segments.map(writeName)].join('/');

/** Formats branch segments as one unambiguous text, `U2/Vary (Strong)`; empty for a step's own operation. */
export const formatBranch = (segments: readonly string[]): string => segments.map(writeName).join('/');
