import type { CST, YAMLError } from 'yaml';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { SourceText } from '../diagnostics/source.ts';
import { convertDocument } from './convert.ts';
import { tooDeep, yamlLimits } from './limits.ts';
import type { SourceNode } from './node.ts';
import { plainWords } from './plain-words.ts';
import { syntaxSlip } from './slips.ts';
import { composeTokens, quoteEndingAt, readTokens } from './tokens.ts';

const longestShown = 80;

/** Reads a text as YAML 1.2 with JSON's shapes only; undefined if the document cannot be understood. */
export function readYaml(source: SourceText, collector: DiagnosticCollector): SourceNode | undefined {
  if (source.text.length > yamlLimits.characters) {
    const most = yamlLimits.characters / 1024 / 1024;
    const message = `The file has more than ${most} Mi characters.`;
    collector.error(
      'yaml.size',
      { offset: 0, length: 1 },
      message,
      'Put long lists into a table and name it in matrix.rows.',
    );
    return undefined;
  }
  const tokens = readTokens(source.text);
  if (typeof tokens === 'number') {
    collector.error('yaml.nesting', { offset: tokens, length: 1 }, tooDeep);
    return undefined;
  }
  // Duplicate keys are checked below: the composer's own check takes quadratic time.
  const options = { resolveKnownTags: false, uniqueKeys: false };
  const { documents, diagnostics } = composeTokens(tokens, options, source.text.length);
  const [document, second] = documents;
  if (document === undefined && reportSyntax(diagnostics, tokens, collector)) return undefined;
  if (document === undefined) throw new Error('Internal error: YAML without a document');
  if (document.directives.yaml.version !== '1.2') {
    const directive = /^%YAML.*/m.exec(source.text);
    const span = { offset: directive?.index ?? 0, length: directive?.[0].trimEnd().length ?? 1 };
    collector.error('yaml.version', span, 'Pipelines are YAML 1.2.', 'Remove the %YAML line.');
    return undefined;
  }
  if (reportSyntax(document.errors, tokens, collector)) return undefined;
  if (second !== undefined) {
    const span = { offset: second.range[0], length: 3 };
    collector.error(
      'yaml.documents',
      span,
      'The file contains more than one YAML document.',
      'One file is one pipeline: put the text after `---` into a separate file, or remove it.',
    );
    return undefined;
  }
  if (document.contents === null) {
    collector.error(
      'yaml.empty',
      { offset: 0, length: 1 },
      'The file is empty.',
      'A pipeline has at least a name and steps.',
    );
    return undefined;
  }
  return convertDocument(document, collector);
}

function reportSyntax(
  errors: readonly YAMLError[],
  tokens: readonly CST.Token[],
  collector: DiagnosticCollector,
): boolean {
  const lines = new Set<number>();
  for (const error of errors) {
    const { code, pos, message } = error;
    const quote = message.startsWith('Missing closing') ? quoteEndingAt(pos[0], tokens) : undefined;
    const offset = quote ?? pos[0];
    const span = { offset, length: pos[1] - offset };
    const { line } = collector.source.position(span);
    if (lines.has(line) || lines.size >= yamlLimits.syntaxErrors) continue;
    lines.add(line);
    if (code === 'TAB_AS_INDENT') {
      collector.error('yaml.tab', span, 'YAML does not allow tabs here.', 'Use spaces, two for each level.');
    } else if (quote !== undefined) {
      const mark = collector.source.text.charAt(quote);
      const text = collector.source.text.slice(quote, collector.source.text.indexOf('\n', quote)).trimEnd();
      const example =
        text.length > longestShown || text.slice(1).includes(mark) || /[\]}]$/.test(text)
          ? mark
          : `${text}${mark}`;
      const hint = example === mark ? `End the text with ${mark}.` : `Close it: ${example}.`;
      collector.error('yaml.syntax', span, 'The quote that opens here is never closed.', hint);
      // It swallowed the closing brackets around it: the other errors follow from this one.
      break;
    } else {
      const slip = syntaxSlip(error, collector.source, tokens);
      const plain = plainWords(error);
      collector.error(
        'yaml.syntax',
        slip?.span ?? span,
        slip?.message ?? plain.message,
        slip?.hint ?? plain.hint,
      );
      if (slip?.isLast === true) break;
    }
  }
  return errors.length > 0;
}
