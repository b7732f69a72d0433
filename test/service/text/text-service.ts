import { namePresets } from '../../../src/service/names.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { createTextService, type TextServiceOptions } from '../../../src/service/text-client.ts';
import type {
  JsonObject,
  TextCallRequest,
  TextReply,
  TextService,
} from '../../../src/service/text-service.ts';
import { key, never, type SentRequest, scriptedFetch } from '../scripted-fetch.ts';

export const textServiceWith = (options: Partial<TextServiceOptions>): TextService =>
  createTextService({
    baseUrl: 'https://api.example.com',
    apiKey: key,
    names: namePresets.neutral,
    requestMs: 60_000,
    textMs: 600_000,
    firstByteMs: 180_000,
    idleMs: 60_000,
    now: () => Date.UTC(2026, 10, 1),
    ...options,
  });

export const call = (
  fields: JsonObject,
  others: Partial<Omit<TextCallRequest, 'fields'>> = {},
): TextCallRequest => ({
  kind: 'generate',
  fields: { model: 'text-pro', ...fields },
  images: [],
  earlier: [],
  turns: [],
  stream: false,
  ...others,
});

export const plainReply: JsonObject = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
};

export const chatReply: JsonObject = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

/** What leaves the machine for one call. */
export async function sentFor(
  request: TextCallRequest,
  options: Partial<TextServiceOptions> = {},
): Promise<SentRequest> {
  const answer = request.kind === 'chat' ? chatReply : plainReply;
  const { fetch, sent } = scriptedFetch(() => new Response(JSON.stringify(answer)));
  const result = await textServiceWith({ fetch, ...options }).ask(request, never);
  if (!result.ok) throw new Error(result.error.message);
  const [only] = sent;
  if (only === undefined || sent.length !== 1) throw new Error(`${sent.length} requests`);
  return only;
}

interface Given {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What one call comes to that gets this reply; a body that is no text is sent as JSON. */
export function asked(
  body: unknown,
  request: TextCallRequest = call({ prompt: 'Is it a fox?' }),
  { status = 200, headers = {} }: Given = {},
  options: Partial<TextServiceOptions> = {},
): ReturnType<TextService['ask']> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const { fetch } = scriptedFetch(
    () => new Response(isRaw ? (body as string) : JSON.stringify(body), { status, headers }),
  );
  return textServiceWith({ fetch, ...options }).ask(request, never);
}

export async function replyTo(...given: Parameters<typeof asked>): Promise<TextReply> {
  const result = await asked(...given);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export async function failureOf(...given: Parameters<typeof asked>): Promise<ServiceFailure> {
  const result = await asked(...given);
  if (result.ok) throw new Error('it was answered');
  return result.error;
}
