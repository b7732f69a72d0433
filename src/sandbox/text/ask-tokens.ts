import { canonical } from '../seeded.ts';
import type { Candidate } from './answer.ts';
import type { Ask } from './ask.ts';
import type { Sight } from './see/sight.ts';
import { addTokens, countTokens, imageTokens, type ModalTokens } from './tokens.ts';

/** What a request's own content counts. */
export function promptTokens(ask: Ask, seen: ReadonlyMap<Buffer, Sight>): ModalTokens {
  let sum: ModalTokens = { TEXT: countTokens(ask.system) };
  for (const { name, description, schema } of ask.functions) {
    sum = addTokens(sum, { TEXT: countTokens(`${name} ${description} ${canonical(schema)}`) });
  }
  for (const part of ask.turns.flatMap(({ parts }) => parts)) {
    switch (part.kind) {
      case 'text':
        sum = addTokens(sum, { TEXT: countTokens(part.text) });
        break;
      case 'call':
        sum = addTokens(sum, { TEXT: countTokens(`${part.name} ${canonical(part.args)}`) });
        break;
      case 'response':
        sum = addTokens(sum, { TEXT: countTokens(`${part.name} ${canonical(part.response)}`) });
        break;
      case 'image': {
        const { width = 0, height = 0 } = seen.get(part.bytes) ?? {};
        sum = addTokens(sum, { IMAGE: imageTokens(width, height) });
        break;
      }
      case 'file':
        sum = addTokens(sum, fileTokens(part.mime, part.bytes));
        break;
    }
  }
  return sum;
}

/** What the content that a request refers to as cached counts: made up from its name. */
export const cachedTokens = ({ cachedContent }: Ask): ModalTokens =>
  cachedContent === undefined ? {} : { TEXT: 1024 + ((countTokens(cachedContent) * 64) % 4096) };

function fileTokens(mime: string, bytes: number): ModalTokens {
  const count = Math.max(258, Math.ceil(bytes / 1000));
  if (mime.startsWith('audio/')) return { AUDIO: count };
  if (mime.startsWith('video/')) return { VIDEO: count };
  return mime.startsWith('image/') ? { IMAGE: 258 } : { DOCUMENT: count };
}

/** What tools read for the reply: search results, and the output of code that goes back to the model. */
export function toolTokens(ask: Ask, candidates: readonly Candidate[]): ModalTokens {
  let count = 0;
  for (const { grounding, parts } of candidates) {
    count += 48 * (grounding?.groundingChunks.length ?? 0);
    for (const part of parts) if (part.kind === 'output') count += countTokens(part.output) + 12;
  }
  return count === 0 || (!ask.search && ask.maps === undefined && !ask.code) ? {} : { TEXT: count };
}
