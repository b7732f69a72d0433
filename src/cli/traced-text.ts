import type { InlineImage, TextCallRequest, TextService } from '../service/text-service.ts';

/** Characters of a request or an answer that stand in a log. */
const longest = 2000;

/** Tells of each text call what was asked and what came; images by their size alone. */
export function tracedText(
  service: TextService,
  trace: (facts: Readonly<Record<string, unknown>>, message: string) => void,
  mask: (text: string) => string,
): TextService {
  // Masked before it is cut: half a secret is no longer found.
  const shown = (value: unknown): string => {
    const text = mask(JSON.stringify(value));
    return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
  };
  return {
    ask: async (request, signal) => {
      trace({ request: shown(withoutData(request)) }, 'text:ask');
      const answer = await service.ask(request, signal);
      if (answer.ok) {
        const { candidates, blockReason, usage, model, requestId } = answer.value;
        const told = candidates.map(({ text, finishReason, functionCalls, images }) => ({
          text,
          finishReason,
          functionCalls,
          images: images.map(sizeOnly),
        }));
        trace({ answer: shown(told), blockReason, usage, model, requestId }, 'text:answer');
      } else {
        const { code, message, status, requestId } = answer.error;
        trace({ code, message, status, requestId }, 'text:refusal');
      }
      return answer;
    },
    models: (signal) => service.models(signal),
    close: () => service.close(),
  };
}

const withoutData = ({ images, earlier, ...request }: TextCallRequest): unknown => ({
  ...request,
  images: images.map(sizeOnly),
  earlier: earlier.map((turn) => ({ ...turn, images: turn.images.map(sizeOnly) })),
});

/** Three bytes lie in four characters. */
const sizeOnly = ({ mimeType, data }: InlineImage): string =>
  `${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes`;
