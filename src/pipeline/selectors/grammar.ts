import type { DiagnosticCode } from '../diagnostics/codes.ts';
import type { Locate } from '../diagnostics/diagnostic.ts';
import type { ButtonMatch, ButtonWord, PathSegment, Selector } from '../pipeline.ts';
import { compileTemplate } from '../templates/compile.ts';
import type { Template } from '../templates/template.ts';
import { buttonWords } from './known-buttons.ts';
import { type DiagnosticList, type SelectorSpan, selectorLimits } from './limits.ts';
import { atomName, joinNames } from './names.ts';
import { isOutput, outputNumber, readOutput } from './output.ts';
import { patternDiagnostic } from './pattern.ts';
import { type Atom, type SelectorToken, type Separator, sourceOffset } from './token.ts';

/** Returns the button word that a label is, in quotes or not. */
export const wordOf = (label: string): ButtonWord | undefined => {
  const spelled = label.replace(/\s+/gu, ' ');
  return buttonWords.find((word) => word === spelled);
};

interface Group {
  readonly tokens: readonly SelectorToken[];
  readonly span: SelectorSpan;
}

/** Splits tokens at separators of one kind; an empty group has the position of the separator after it. */
export function splitAt(tokens: readonly SelectorToken[], kind: Separator, around: SelectorSpan): Group[] {
  const groups: Group[] = [];
  let begin = around.offset;
  let group: SelectorToken[] = [];
  const close = (end: number): void => {
    const [first] = group;
    const last = group.at(-1);
    const offset = first === undefined ? begin : spanOf(first).offset;
    const until = last === undefined ? end : spanOf(last).offset + spanOf(last).length;
    groups.push({ tokens: group, span: { offset, length: until - offset } });
    group = [];
  };
  for (const token of tokens) {
    if (token.kind === kind) {
      close(token.offset);
      begin = token.offset + token.length;
    } else group.push(token);
  }
  close(around.offset + around.length);
  return groups;
}

export const spanOf = (token: SelectorToken): SelectorSpan => (token.kind === 'atom' ? token.span : token);

/** Turns the tokens of paths and selectors into path segments and selectors of a pipeline. */
export class SelectorGrammar {
  readonly diagnostics: DiagnosticList;
  readonly #locate: Locate;

  constructor(diagnostics: DiagnosticList, locate: Locate) {
    this.diagnostics = diagnostics;
    this.#locate = locate;
  }

  /** Reads one stage of a path: selectors separated by commas. */
  segment(tokens: readonly SelectorToken[], span: SelectorSpan): PathSegment {
    const parts = splitAt(tokens, 'comma', span);
    const selectors: Selector[] = [];
    const seen = new Set<string>();
    let wildcard = false;
    for (const part of parts) {
      if (part.tokens.length === 0) {
        this.#empty(part.span, parts.length > 1 ? 'Between commas' : 'Here');
        continue;
      }
      for (const selector of this.selectors(part.tokens, part.span)) {
        wildcard ||= selector.alternatives[0]?.kind === 'wildcard';
        if (seen.has(selector.name)) {
          const message = `"${selector.name}" occurs twice in this fan-out.`;
          this.diagnostics.add('path.duplicate', message, part.span);
        }
        seen.add(selector.name);
        selectors.push(selector);
      }
      if (selectors.length > selectorLimits.selectors) break;
    }
    if (selectors.length > selectorLimits.selectors) {
      const message = `A fan-out may have at most ${selectorLimits.selectors} selectors.`;
      this.diagnostics.add('path.too-many', message, span);
    }
    if (wildcard && parts.length > 1) {
      const message =
        'A wildcard must be alone: another selector beside it could press the same button again.';
      this.diagnostics.add('path.wildcard-place', message, span);
    }
    this.#checkOutputs(selectors, span);
    return { selectors, position: this.#locate(span.offset, span.length) };
  }

  #checkOutputs(selectors: readonly Selector[], span: SelectorSpan): void {
    const outputs = selectors.filter(({ output }) => output !== undefined);
    if (outputs.some(({ output }) => output === 'each')) {
      const hint = 'Write them out, for example #1..#4; an address may have it: from: grid/#*.';
      this.diagnostics.add('path.output', 'A path names its outputs by number.', span, hint);
    } else if (outputs.length > 0 && outputs.length < selectors.length) {
      const message = 'Outputs and buttons cannot stand in one fan-out.';
      this.diagnostics.add('path.output', message, span, 'Write another step for the buttons.');
    } else if (selectors.length > 1 && outputs.some(({ output }) => typeof output === 'object')) {
      const message =
        'An output that a template numbers must be alone: another one beside it could be the same.';
      this.diagnostics.add('path.output', message, span, 'Write another step: from: "grid/#{{ … }}".');
    }
  }

  /** Reads one selector, or the selectors of one range. */
  selectors(tokens: readonly SelectorToken[], span: SelectorSpan): readonly Selector[] {
    const parts = splitAt(tokens, 'pipe', span);
    if (parts.length > selectorLimits.alternatives) {
      const message = `A selector may have at most ${selectorLimits.alternatives} alternatives.`;
      this.diagnostics.add('path.too-many', message, span);
      return [];
    }
    const atoms: Atom[] = [];
    for (const part of parts) {
      const [token] = part.tokens;
      if (token?.kind === 'atom' && (token.text.trim() !== '' || token.form === 'pattern' || token.broken))
        atoms.push(token);
      else this.#empty(part.span, parts.length > 1 ? 'On each side of "|"' : 'Here');
    }
    if (atoms.length < parts.length || atoms.some(({ broken }) => broken)) return [];
    const [first] = atoms;
    if (first !== undefined && atoms.length === 1 && first.dots !== undefined) return this.#range(first);
    const named = atoms.find(isOutput);
    if (named !== undefined) return atoms.length > 1 ? this.#noAlternative(named) : this.#output(named);
    const alternatives: ButtonMatch[] = [];
    const names = new Set<string>();
    for (const [index, atom] of atoms.entries()) {
      const name = atomName(atom);
      if (names.has(name)) this.diagnostics.add('path.duplicate', `"${name}" occurs twice here.`, atom.span);
      names.add(name);
      if (atom.optional && index < atoms.length - 1) {
        const hint = 'Write the "?" after the last alternative; it applies to all of them.';
        const message = 'A single alternative cannot be optional.';
        this.diagnostics.add('path.optional-place', message, atom.span, hint);
      }
      const match = this.#match(atom, atoms.length > 1);
      if (match !== undefined) alternatives.push(match);
    }
    if (alternatives.length < atoms.length) return [];
    return [
      {
        alternatives,
        optional: atoms.at(-1)?.optional ?? false,
        name: joinNames([...names]),
        position: this.#locate(span.offset, span.length),
      },
    ];
  }

  #noAlternative({ span }: Atom): readonly never[] {
    this.diagnostics.add('path.output', 'An output cannot be an alternative.', span);
    return [];
  }

  #output(atom: Atom): readonly Selector[] {
    const output = readOutput(atom, this.#locate, this.diagnostics);
    const position = this.#locate(atom.span.offset, atom.span.length);
    return output === undefined
      ? []
      : [{ alternatives: [], output, optional: false, name: atomName(atom), position }];
  }

  #empty(span: SelectorSpan, where: string): void {
    this.diagnostics.add('path.empty', `${where}, a button is expected.`, span);
  }

  #match(atom: Atom, alternative: boolean): ButtonMatch | undefined {
    if (atom.form === 'pattern') return this.#pattern(atom);
    if (atom.form === 'plain') {
      if (atom.dots !== undefined) {
        const hint = 'Write the alternatives out, or quote a label that contains "..".';
        this.diagnostics.add('path.range-place', 'A range cannot be an alternative.', atom.span, hint);
        return undefined;
      }
      if (atom.star !== undefined) return this.#wildcard(atom, atom.star, alternative);
      const word = wordOf(atom.text);
      if (word !== undefined) return { kind: 'word', word };
    } else if (/^(?:\*{1,2}$|#)/.test(atom.text.trim())) {
      const message =
        'A branch cannot be named "*" or "**", or begin with "#": in an address these have another meaning.';
      this.diagnostics.add('path.reserved', message, atom.span);
      return undefined;
    }
    const text = this.#label(atom);
    return text && { kind: 'text', text };
  }

  #pattern(atom: Atom): ButtonMatch | undefined {
    const diagnostic = patternDiagnostic(atom.text);
    if (diagnostic === undefined) return { kind: 'pattern', source: atom.text };
    this.diagnostics.push({ ...diagnostic, offset: atom.offset + diagnostic.offset });
    return undefined;
  }

  #wildcard(atom: Atom, star: number, alternative: boolean): ButtonMatch | undefined {
    const hint = 'Quote a label that contains "*".';
    const at = { offset: star, length: 1 };
    if (alternative) {
      this.diagnostics.add('path.wildcard-place', 'A wildcard cannot be an alternative.', at, hint);
    } else if (atom.template) {
      this.diagnostics.add('path.wildcard-place', 'A wildcard cannot contain a template.', at, hint);
    } else if (atom.text.includes('**')) {
      const message = 'A wildcard may contain "*", but not "**", which is for addresses.';
      this.diagnostics.add('path.wildcard-place', message, at, hint);
    } else if (this.#short(atom)) return { kind: 'wildcard', source: atom.text };
    return undefined;
  }

  #short(atom: Atom): boolean {
    if (atom.text.length <= selectorLimits.label) return true;
    const message = `A label may have at most ${selectorLimits.label} characters, but this one has ${atom.text.length}.`;
    this.diagnostics.add('path.too-long', message, atom.span);
    return false;
  }

  #label(atom: Atom): Template | undefined {
    if (!this.#short(atom)) return undefined;
    const inText = (offset: number, length: number): SelectorSpan => {
      const begin = sourceOffset(atom, offset);
      return { offset: begin, length: sourceOffset(atom, offset + length) - begin };
    };
    const compiled = compileTemplate(atom.text, (offset, length) => {
      const span = inText(offset, length);
      return this.#locate(span.offset, span.length);
    });
    if (compiled.ok) return compiled.value;
    for (const diagnostic of compiled.error)
      this.diagnostics.push({ ...diagnostic, ...inText(diagnostic.offset, diagnostic.length) });
    return undefined;
  }

  /** Reads a range such as `U1..U4` or `prompt 1..prompt 4`: the same text before two rising numbers. */
  #range(atom: Atom): Selector[] {
    const at = (atom.dots as number) - atom.offset;
    const low = numbered(atom.text.slice(0, at).trimEnd());
    const high = numbered(atom.text.slice(at + 2).trimStart());
    const hint = 'A range is written U1..U4; quote a label that contains "..".';
    const fail = (code: DiagnosticCode, message: string): Selector[] => {
      this.diagnostics.add(code, message, atom.span, hint);
      return [];
    };
    if (atom.template) return fail('path.bad-range', 'A range cannot contain a template.');
    if (low === undefined || high === undefined)
      return fail('path.bad-range', 'Both ends of a range must end in a number.');
    if (low.prefix !== high.prefix) {
      return fail(
        'path.bad-range',
        `The ends of a range differ before the number: "${low.prefix}" and "${high.prefix}".`,
      );
    }
    if (low.number > high.number)
      return fail('path.bad-range', 'The first number of a range is not above the last.');
    const size = high.number - low.number + 1;
    if (size > selectorLimits.selectors) {
      return fail('path.too-many', `A range may have ${selectorLimits.selectors} members, not ${size}.`);
    }
    if (
      low.prefix.startsWith('#') &&
      (atom.optional || outputNumber(`${low.number}`) === undefined || low.prefix !== '#')
    )
      return fail('path.output', 'A range of outputs is written #1..#4.');
    if (low.prefix.includes('*')) return fail('path.wildcard-place', 'A range cannot contain a wildcard.');
    if (!this.#short(atom)) return [];
    const position = this.#locate(atom.span.offset, atom.span.length);
    return Array.from({ length: size }, (_, index) => {
      const label = `${low.prefix}${low.number + index}`;
      if (low.prefix === '#')
        return {
          alternatives: [],
          output: low.number + index,
          optional: false,
          name: label,
          position,
        };
      const word = wordOf(label);
      const match: ButtonMatch =
        word === undefined ? { kind: 'text', text: literal(label, position) } : { kind: 'word', word };
      return {
        alternatives: [match],
        optional: atom.optional,
        name: atomName({ ...atom, text: label }),
        position,
      };
    });
  }
}

/** Makes the template of a label without tags, which is always valid. */
function literal(label: string, position: ReturnType<Locate>): Template {
  const compiled = compileTemplate(label, () => position);
  if (!compiled.ok) throw new Error(`Internal error: the label "${label}" was taken for a template`);
  return compiled.value;
}

/** Splits `U12` into `U` and 12; numbers have no leading zero and at most 5 digits. */
function numbered(text: string): { readonly prefix: string; readonly number: number } | undefined {
  let at = text.length;
  while (at > 0 && text.length - at < 6 && /[0-9]/.test(text[at - 1] as string)) at -= 1;
  const digits = text.slice(at);
  if (!/^(?:0|[1-9]\d{0,4})$/.test(digits)) return undefined;
  return { prefix: text.slice(0, at), number: Number(digits) };
}
