import { members, parseBounded, writeJson } from '../../http/json.ts';
import type { JsonObject, ReplyCandidate, TextReply } from '../../text-service.ts';
import { inOrder, noCandidates, objectsIn, readParts, textMember } from './native.ts';
import { chatUsageIn } from './usage.ts';

/**
 * Reads a whole reply of the chat endpoint (gateway 7.1). The parts of its candidates get native names, so that readers of replies know
 * one shape: reasoning is a thought, tool calls are function calls. Never fails.
 */
export function readChatReply(whole: JsonObject): TextReply {
  const usage = chatUsageIn(whole);
  const candidates = inOrder(whole['choices']).map(readChoice);
  const isBlocked = candidates.length === 0 && members(whole['usage'])?.['completion_tokens'] === 0;
  return {
    candidates,
    ...(isBlocked && noCandidates),
    ...(usage !== undefined && { usage }),
    ...textMember('model', whole['model']),
    ...textMember('responseId', whole['id']),
    whole,
  };
}

function readChoice(choice: JsonObject): ReplyCandidate {
  const message = members(choice['message']) ?? {};
  const reasoning = message['reasoning_content'] ?? message['reasoning'];
  const parts = [
    ...(typeof reasoning === 'string' && reasoning !== '' ? [{ text: reasoning, thought: true }] : []),
    ...readContent(message['content']),
    ...objectsIn(message['images']).flatMap(readPart),
    ...callsIn(message),
  ];
  return {
    ...readParts(parts),
    ...textMember('finishReason', choice['finish_reason']),
    ...textMember('refusal', message['refusal']),
  };
}

function readContent(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  const object = members(content);
  if (object === undefined) return objectsIn(content).flatMap(readPart);
  // Some gateways parse the JSON that was asked for, and give the object itself.
  const part = readPart(object);
  return part.length > 0 ? part : [{ text: writeJson(object) }];
}

const dataUri = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

function readPart(part: JsonObject): readonly JsonObject[] {
  if (typeof part['text'] === 'string') return [{ text: part['text'] }];
  const url = members(part['image_url'])?.['url'];
  if (typeof url !== 'string') return [];
  const match = dataUri.exec(url);
  return match === null ? [] : [{ inlineData: { mimeType: match[1], data: url.slice(match[0].length) } }];
}

/** Lists the tool calls of a message. `function_call` is the older name of a single call, in answer to `functions`. */
function callsIn(message: JsonObject): readonly JsonObject[] {
  const calls = objectsIn(message['tool_calls']);
  const called = members(message['function_call']);
  // Some gateways send the same call under both names.
  return (calls.length > 0 || called === undefined ? calls : [{ function: called }]).flatMap(readToolCall);
}

function readToolCall(call: JsonObject): readonly JsonObject[] {
  const called = members(call['function']);
  if (called === undefined) return [];
  return [
    {
      functionCall: {
        ...textMember('id', call['id']),
        ...textMember('name', called['name']),
        args: readArguments(called['arguments']),
      },
    },
  ];
}

/** Reads arguments: JSON in a string, as the model wrote it. If it is cut off there are none; the text is in the whole reply. */
function readArguments(written: unknown): JsonObject {
  if (typeof written !== 'string') return members(written) ?? {};
  try {
    return members(parseBounded(written)) ?? {};
  } catch {
    return {};
  }
}
