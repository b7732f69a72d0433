import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { nearest } from '../diagnostics/did-you-mean.ts';
import { entriesOf, nodeAt, type SourceMapping } from '../yaml/node.ts';

/** Members of `generationConfig` (gateway 6.2). */
export const configurationKeys: readonly string[] = (
  'temperature topP topK maxOutputTokens candidateCount stopSequences seed presencePenalty ' +
  'frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema ' +
  'responseFormat responseModalities mediaResolution speechConfig imageConfig thinkingConfig ' +
  'enableEnhancedCivicAnswers'
).split(' ');

/** Members of native objects, by their path in the request (gateway 6.2). */
const natives: readonly (readonly [way: readonly string[], known: readonly string[]])[] = [
  [['generationConfig'], configurationKeys],
  [
    ['generationConfig', 'thinkingConfig'],
    ['includeThoughts', 'thinkingBudget', 'thinkingLevel'],
  ],
  [
    ['generationConfig', 'imageConfig'],
    ['aspectRatio', 'imageSize'],
  ],
  [['toolConfig'], ['functionCallingConfig', 'retrievalConfig', 'includeServerSideToolInvocations']],
  [
    ['toolConfig', 'functionCallingConfig'],
    ['mode', 'allowedFunctionNames'],
  ],
  [
    ['toolConfig', 'retrievalConfig'],
    ['latLng', 'languageCode'],
  ],
];

/**
 * Warns of members of native objects that are probably mistyped. Services add members, so a name that is far from every known name
 * passes, as does another spelling of a known name (`max_output_tokens`).
 */
export function checkNativeKeys(operation: SourceMapping, collector: DiagnosticCollector): void {
  for (const [way, known] of natives) {
    for (const { key, keySpan } of entriesOf(nodeAt(operation, way))) {
      if (known.includes(key) || known.some((name) => snakeCase(name) === key)) continue;
      const near = nearest(key, known);
      if (near === undefined) continue;
      const message = `"${key}" is not a known member of ${way.join('.')}; it is sent unchanged.`;
      collector.warning('native.unknown-key', keySpan, message, `Did you mean "${near}"?`);
    }
  }
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
