import type { AskTurn, Members, Part } from '../../ask.ts';
import { bytesOf } from '../native/proto.ts';

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a body, as a sentence that names the field. */
export class ChatError extends Error {}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/**
 * Reads one message into the system text or the turns; `calls` are the names of the tool calls so far, by id.
 * @throws ChatProblem
 */
export function readMessage(
  message: unknown,
  where: string,
  system: string[],
  turns: AskTurn[],
  calls: Map<string, string>,
): void {
  if (!isMembers(message)) throw new ChatError(`Invalid type for '${where}': expected an object`);
  const role = message['role'];
  if (typeof role !== 'string') throw new ChatError(`Missing required parameter: '${where}.role'`);
  if (!roles.includes(role)) {
    throw new ChatError(
      `Invalid value: '${role.slice(0, 40)}' at '${where}.role'. Supported values are: ${roles.map((one) => `'${one}'`).join(', ')}`,
    );
  }
  if (role === 'system' || role === 'developer') {
    const parts = contentParts(message['content'], where);
    system.push(parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''));
    return;
  }
  if (role === 'tool' || role === 'function') {
    const id = message[role === 'tool' ? 'tool_call_id' : 'name'];
    if (typeof id !== 'string')
      throw new ChatError(
        `Missing required parameter: '${where}.${role === 'tool' ? 'tool_call_id' : 'name'}'`,
      );
    const name = role === 'tool' ? calls.get(id) : id;
    if (name === undefined) {
      throw new ChatError(
        `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls': ${id.slice(0, 60)}`,
      );
    }
    const parts = contentParts(message['content'], where);
    const response = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    turns.push({ role: 'user', parts: [{ kind: 'response', name, response }] });
    return;
  }
  const toolCalls = role === 'assistant' ? callsOf(message, where, calls) : [];
  const empty = message['content'] === undefined || message['content'] === null;
  if (empty && toolCalls.length === 0 && role === 'user') {
    throw new ChatError(`Missing required parameter: '${where}.content'`);
  }
  const parts = empty ? [] : contentParts(message['content'], where);
  turns.push({ role: role === 'assistant' ? 'model' : 'user', parts: [...parts, ...toolCalls] });
}

function callsOf(message: Members, where: string, calls: Map<string, string>): readonly Part[] {
  const called = message['function_call'];
  const older =
    called === undefined || called === null ? [] : [functionCallOf(called, `${where}.function_call`)];
  return [...toolCallsOf(message['tool_calls'], where, calls), ...older];
}

function toolCallsOf(value: unknown, where: string, calls: Map<string, string>): readonly Part[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ChatError(`Invalid type for '${where}.tool_calls': expected an array`);
  return value.map((call: unknown, index) => {
    const at = `${where}.tool_calls[${index}]`;
    const { id, function: called } = isMembers(call) ? call : {};
    if (typeof id !== 'string' || !isMembers(called) || typeof called['name'] !== 'string') {
      throw new ChatError(`Invalid '${at}': expected an object with id and function`);
    }
    calls.set(id, called['name']);
    return functionCallOf(called, `${at}.function`);
  });
}

function functionCallOf(called: unknown, at: string): Part {
  if (!isMembers(called) || typeof called['name'] !== 'string')
    throw new ChatError(`Missing required parameter: '${at}.name'`);
  let args: unknown;
  try {
    args = JSON.parse(typeof called['arguments'] === 'string' ? called['arguments'] : '{}');
  } catch {
    throw new ChatError(`Invalid '${at}.arguments': expected a JSON object`);
  }
  return { kind: 'call', name: called['name'], args: isMembers(args) ? args : {} };
}

function contentParts(content: unknown, where: string): readonly Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) {
    throw new ChatError(`Invalid type for '${where}.content': expected a string or an array of objects`);
  }
  return content.map((part: unknown, index): Part => {
    const at = `${where}.content[${index}]`;
    if (!isMembers(part)) throw new ChatError(`Invalid type for '${at}': expected an object`);
    switch (part['type']) {
      case 'text':
      case 'refusal': {
        const text = part['text'] ?? part['refusal'];
        if (typeof text !== 'string') throw new ChatError(`Missing required parameter: '${at}.text'`);
        return { kind: 'text', text };
      }
      case 'image_url': {
        const given = part['image_url'];
        const url = isMembers(given) ? given['url'] : given;
        if (typeof url !== 'string') throw new ChatError(`Missing required parameter: '${at}.image_url.url'`);
        return imageOf(url, at);
      }
      default:
        throw new ChatError(
          `Invalid value: '${String(part['type']).slice(0, 40)}' at '${at}.type'. Supported values are: 'text', 'image_url'`,
        );
    }
  });
}

/** A data URI is read; an address is named and never fetched. */
function imageOf(url: string, at: string): Part {
  if (/^https?:\/\//i.test(url)) return { kind: 'file', name: url, mime: 'image/*', bytes: 0 };
  const data = /^data:image\/[\w.+-]+;base64,/i.exec(url)?.[0];
  const bytes = data === undefined ? undefined : bytesOf(url.slice(data.length));
  if (bytes === undefined) {
    throw new ChatError(
      `Invalid '${at}.image_url.url': expected an http(s) address or a base64 data URI of an image`,
    );
  }
  return { kind: 'image', bytes, where: at };
}
