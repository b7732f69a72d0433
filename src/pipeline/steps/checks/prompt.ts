import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { Position } from '../../diagnostics/diagnostic.ts';
import { isPress, isTextKind } from '../../kinds.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import { treeVariables } from '../../templates/tree.ts';
import { memberAt } from '../../values/path.ts';
import { isText, itemsOf, member, type SourceNode } from '../../yaml/node.ts';
import { scalarLocator } from '../../yaml/scalar-offsets.ts';
import type { StepDraft } from '../draft.ts';

/** A part of a prompt that the bot reads in another way than intended. */
interface Misread {
  readonly code: 'prompt.multiplied' | 'prompt.words';
  readonly at: number;
  readonly length: number;
  readonly message: string;
  readonly hint: string;
}

/**
 * Warns of prompts that the bot behind a gateway reads in another way than intended: permutations and `--repeat`, which make several
 * tasks of one submission (each is paid, and a run knows one of them), and syntax of other programs, which the bot draws.
 */
export function checkPrompts(
  steps: readonly StepDraft[],
  { variables }: MatrixDraft,
  collector: DiagnosticCollector,
): void {
  const told = new Set<Position>();
  for (const { kind, node, request, path } of steps) {
    if (kind === undefined || isTextKind(kind)) continue;
    const own = isPress(kind) ? node : member(node, kind);
    for (const place of [own, ...itemsOf(member(node, 'path'))])
      checkWritten(place?.kind === 'mapping' ? member(place, 'prompt') : place === own ? own : undefined);
    for (const tree of [request['prompt'], ...path.map(({ prompt }) => prompt)])
      for (const use of tree === undefined ? [] : treeVariables(tree)) checkValues(use.path);
  }

  function checkWritten(prompt: SourceNode | undefined): void {
    if (prompt === undefined || !isText(prompt)) return;
    const locate = scalarLocator(collector.source, prompt);
    for (const { code, at, length, message, hint } of misreadIn(withoutTags(prompt.value)))
      collector.warning(code, locate(at, length), message, hint);
  }

  /** Checks the values of an axis that are used in a prompt, each once. */
  function checkValues([root = '', ...way]: readonly string[]): void {
    const { values = [], positions = [] } = variables.get(root) ?? {};
    for (const [at, value] of values.entries()) {
      const position = positions[at];
      const text = memberAt(value, way);
      if (position === undefined || typeof text !== 'string' || told.has(position)) continue;
      const [found] = misreadIn(text);
      if (found === undefined) continue;
      told.add(position);
      collector.warning(found.code, position, found.message, found.hint);
    }
  }
}

/** Placeholder for each character of a tag, whose result is unknown. */
const unknown = '\0';

function withoutTags(text: string): string {
  let isInside = false;
  return text
    .split(/(\{\{|\{%|\}\}|%\})/)
    .map((part) => {
      if (part === '{{' || part === '{%') isInside = true;
      const kept = isInside ? unknown.repeat(part.length) : part;
      if (part === '}}' || part === '%}') isInside = false;
      return kept;
    })
    .join('');
}

const multiplies =
  'The bot makes several tasks of one submission: each is paid, and the run sees one of them.';

const patterns: readonly {
  readonly pattern: RegExp;
  readonly code: Misread['code'];
  readonly message: (found: string) => string;
  readonly hint: string;
}[] = [
  {
    pattern: /\{[^{}|]{0,200},[^{}|]{0,200}\}/g,
    code: 'prompt.multiplied',
    message: (found) => `"${found}" is a permutation. ${multiplies}`,
    hint: 'Make it an axis of the matrix: then each value has its own row.',
  },
  {
    pattern: /(?<!\S)(?:--|—)(?:repeat|r)[\s=]{1,9}\d{1,3}(?!\S)/gi,
    code: 'prompt.multiplied',
    message: (found) => `"${found}" repeats the prompt. ${multiplies}`,
    hint: 'Write repeat below matrix: then each repeat has its own row.',
  },
  {
    pattern: /\{[^{}|]{0,200}\|[^{}]{0,200}\}/g,
    code: 'prompt.words',
    message: (found) => `"${found}" is a choice in other programs; the bot reads it as words.`,
    hint: 'Make it an axis of the matrix.',
  },
  {
    pattern: /(?<![^\s,(])__[\w/*-]{1,100}?__(?![^\s,.)])/g,
    code: 'prompt.words',
    message: (found) => `"${found}" is a wildcard in other programs; the bot reads it as words.`,
    hint: 'Make it an axis of the matrix: a list, or a table.',
  },
  {
    pattern: /<(?:lora|lyco|hypernet|embedding):[^<>]{0,200}>/gi,
    code: 'prompt.words',
    message: (found) => `"${found}" names a model in other programs; the bot reads it as words.`,
    hint: 'Leave it out.',
  },
  {
    pattern: /\([^()]{1,200}?:\d{1,2}(?:\.\d{1,3})?\)/g,
    code: 'prompt.words',
    message: (found) => `"${found}" is a weight in other programs; the bot reads it as words.`,
    hint: 'Write weights with two colons: fox::1.3.',
  },
  {
    pattern: /(?<!\S)-\s{1,9}-[a-z]{1,30}(?![^\s=])/gi,
    code: 'prompt.words',
    message: (found) => `"${found}" has a blank between its hyphens; the bot reads it as words.`,
    hint: 'Write both hyphens together.',
  },
  {
    pattern:
      /(?<!\S|-\s)-(?:ar|aspect|chaos|cref|iw|niji|no|quality|repeat|seed|sref|stop|style|stylize|tile|weird)(?![^\s=])/gi,
    code: 'prompt.words',
    message: (found) => `"${found}" has one hyphen; the bot reads it as words.`,
    hint: 'Parameters begin with two hyphens.',
  },
];

function misreadIn(text: string): readonly Misread[] {
  const found = patterns.flatMap(({ pattern, code, message, hint }) =>
    [...text.matchAll(pattern)].map(({ 0: part, index: at }): Misread => {
      return { code, at, length: part.length, message: message(part.replaceAll(unknown, '…')), hint };
    }),
  );
  return [...found, ...textBehind(text)].sort((one, other) => one.at - other.at);
}

const takesMany = /^(?:no|sref|cref|oref|p|profile|personalize)$/i;
const takesNone = /^(?:draft|fast|hd|loop|public|raw|relax|stealth|tile|turbo|video)$/i;

/** Finds words after the parameters, which must come last: such words belong to the last parameter or are ignored. */
function* textBehind(text: string): Generator<Misread> {
  /** Number of words that the last parameter still takes. */
  let left = Number.POSITIVE_INFINITY;
  for (const { 0: word, index: at } of text.matchAll(/\S+/g)) {
    const [, name] = /^(?:--|—)([a-z]\w*)/i.exec(word) ?? [];
    if (name !== undefined) {
      left = takesMany.test(name)
        ? Number.POSITIVE_INFINITY
        : takesNone.test(name) || word.includes('=')
          ? 0
          : 1;
      continue;
    }
    left -= 1;
    if (left >= 0) continue;
    // A template may yield a parameter.
    if (word.includes(unknown) || /^[-—]/.test(word)) return;
    const behind = /^[^]*?(?=\s(?:--|—)[a-z]|\0|$)/i.exec(text.slice(at))?.[0].trimEnd() ?? word;
    yield {
      code: 'prompt.words',
      at,
      length: behind.length,
      message: `"${behind}" follows the parameters: the bot reads it as part of them, or refuses the prompt.`,
      hint: 'Write parameters at the end of a prompt.',
    };
    return;
  }
}
