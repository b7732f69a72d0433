import { members } from '../../http/json.ts';
import type { InlineImage, JsonObject, TextCallRequest } from '../../text-service.ts';
import { nativeFields, plainFields, withExtra } from './fields.ts';

/**
 * Builds the body of chat completions (gateway 7.1). `messages` and all other declared fields are sent unchanged; `prompt` is a user's
 * message after them, `system` a first message before them. Images stand before the text of the last message if that is the user's,
 * else in a message of their own. `extra` is merged into the result.
 *
 * A stream requests its token count, which it would not send otherwise.
 */
export function chatBody(request: TextCallRequest): JsonObject {
  if (request.earlier.length > 0 || request.turns.length > 0) {
    throw new Error('Internal error: chat has no earlier turns: they are its messages.');
  }
  const fields = plainFields(request.fields);
  const { model, messages, prompt, system } = fields;
  const declared: readonly unknown[] = Array.isArray(messages) ? (messages as unknown[]) : [];
  const asked = typeof prompt === 'string' ? [...declared, { role: 'user', content: prompt }] : declared;
  const body = {
    model,
    messages: [
      ...(typeof system === 'string' ? [{ role: 'system', content: system }] : []),
      ...withImages(asked, request.images),
    ],
    ...nativeFields(fields, ['messages', 'prompt', 'system']),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
  };
  return withExtra(body, request.extra);
}

function withImages(messages: readonly unknown[], images: readonly InlineImage[]): readonly unknown[] {
  if (images.length === 0) return messages;
  const parts = images.map(({ mimeType, data }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  const last = members(messages.at(-1));
  if (last === undefined || last['role'] !== 'user') return [...messages, { role: 'user', content: parts }];
  const content: unknown = last['content'];
  const own: readonly unknown[] = Array.isArray(content)
    ? (content as unknown[])
    : [{ type: 'text', text: content }];
  return [...messages.slice(0, -1), { ...last, content: [...parts, ...own] }];
}
