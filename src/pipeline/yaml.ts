import { Composer, type CST, Lexer, Parser, type YAMLError } from 'yaml';
import type { SourceNode } from './node.ts';
import type { Reports } from './reports.ts';
import type { SourceText } from './source.ts';
import { convertDocument } from './yaml-convert.ts';
import { tooDeep, yamlLimits } from './yaml-limits.ts';

/** Reads the text as YAML 1.2 with JSON's shapes only. Undefined when it cannot be understood as a whole. */
export function readYaml(source: SourceText, reports: Reports): SourceNode | undefined {
  if (source.text.length > yamlLimits.characters) {
    const most = yamlLimits.characters / 1024 / 1024;
    const message = `The file has more than ${most} Mi characters.`;
    reports.error(
      'yaml.size',
      { offset: 0, length: 1 },
      message,
      'Put long lists into a table and name it in matrix.rows.',
    );
    return undefined;
  }
  const tokens = readTokens(source.text);
  if (typeof tokens === 'number') {
    reports.error('yaml.nesting', { offset: tokens, length: 1 }, tooDeep);
    return undefined;
  }
  // Unique keys are checked below: the composer's own check takes quadratic time.
  const options = { resolveKnownTags: false, uniqueKeys: false };
  const [document, second] = new Composer(options).compose(tokens, true, source.text.length);
  if (document === undefined) throw new Error('Internal error: YAML without a document');
  if (document.directives.yaml.version !== '1.2') {
    const directive = /^%YAML.*/m.exec(source.text);
    const span = { offset: directive?.index ?? 0, length: directive?.[0].trimEnd().length ?? 1 };
    reports.error('yaml.version', span, 'Pipelines are YAML 1.2.', 'Remove the %YAML line.');
    return undefined;
  }
  if (reportSyntax(document.errors, reports)) return undefined;
  if (second !== undefined) {
    const span = { offset: second.range[0], length: 3 };
    reports.error(
      'yaml.documents',
      span,
      'The file holds more than one YAML document.',
      'One file is one pipeline: remove what follows `---`.',
    );
    return undefined;
  }
  if (document.contents === null) {
    reports.error(
      'yaml.empty',
      { offset: 0, length: 1 },
      'The file is empty.',
      'A pipeline has at least a name and steps.',
    );
    return undefined;
  }
  return convertDocument(document, reports);
}

/** The file's tokens, or the offset at which collections lie too deep in each other. */
function readTokens(text: string): CST.Token[] | number {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let brackets = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    // The parser takes quadratic time in open brackets.
    if (brackets > yamlLimits.depth) return parser.offset;
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  return deepToken(tokens) ?? tokens;
}

/**
 * Where collections first lie too deep in each other. The composer would recurse into them, and how far that goes
 * depends on the stack.
 */
function deepToken(tokens: readonly CST.Token[]): number | undefined {
  let level: CST.Token[] = [...tokens];
  for (let depth = 0; level.length > 0; depth += 1) {
    const deeper = level.flatMap(within);
    const [first] = deeper;
    if (depth > yamlLimits.depth && first !== undefined) return first.offset;
    level = deeper;
  }
  return undefined;
}

function within(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) => [item.key, item.value].filter((part) => isCollection(part)));
}

const isCollection = (token: CST.Token | null | undefined): token is CST.Token =>
  token !== null && token !== undefined && 'items' in token;

function reportSyntax(errors: readonly YAMLError[], reports: Reports): boolean {
  const lines = new Set<number>();
  for (const { code, pos, message } of errors) {
    const span = { offset: pos[0], length: pos[1] - pos[0] };
    const { line } = reports.source.position(span);
    if (lines.has(line) || lines.size >= yamlLimits.syntaxMistakes) continue;
    lines.add(line);
    if (code === 'TAB_AS_INDENT') {
      reports.error('yaml.tab', span, 'YAML is not indented with tabs.', 'Use spaces.');
    } else {
      reports.error('yaml.syntax', span, `${message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')}.`);
    }
  }
  return errors.length > 0;
}
