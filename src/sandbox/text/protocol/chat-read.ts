import { digestOfValue } from '../../seeded.ts';
import {
  type Ask,
  type AskTurn,
  type CallingMode,
  type FunctionDeclaration,
  isMembers,
  type JsonWish,
  type Members,
  type Part,
  refuse,
  type Understood,
} from '../ask.ts';
import type { NativeThinkingLevel, TextModel } from '../models.ts';
import { bytesOf } from './proto.ts';

/** A chat request, and the form of its reply. */
interface ChatAsk {
  readonly ask: Ask;
  readonly stream: boolean;
  /** Whether a last event has the usage (`stream_options.include_usage`). */
  readonly streamUsage: boolean;
  /** Whether the request has `functions` instead of `tools`, so that the reply has one `function_call`. */
  readonly isFunctionCall: boolean;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Members that do not change the content of a reply. */
const beside = new Set(['stream', 'stream_options', 'user', 'store', 'metadata', 'safety_identifier']);

/** Reads the body of the chat endpoint (gateway 7.1) and ignores unknown members, as real gateways do. */
export function readChat(body: Members, model: TextModel): Understood<ChatAsk> {
  try {
    return { ok: true, value: chatAsk(body, model) };
  } catch (failure) {
    if (failure instanceof ChatError) return refuse(failure.message);
    throw failure;
  }
}

function chatAsk(body: Members, model: TextModel): ChatAsk {
  const messages = body['messages'];
  if (!isGiven(messages)) throw new ChatError('messages is required');
  if (!Array.isArray(messages))
    throw new ChatError("Invalid type for 'messages': expected an array of objects");
  if (messages.length === 0)
    throw new ChatError("Invalid 'messages': empty array. Expected at least 1 message");
  const system: string[] = [];
  const turns: AskTurn[] = [];
  const calls = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    readMessage(message, `messages[${index}]`, system, turns, calls);
  }
  const maxTokens =
    number(body, 'max_completion_tokens', 1, Number.MAX_SAFE_INTEGER, true) ??
    number(body, 'max_tokens', 1, Number.MAX_SAFE_INTEGER, true);
  const seed = number(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true);
  number(body, 'top_p', 0, 1);
  number(body, 'presence_penalty', -2, 2);
  number(body, 'frequency_penalty', -2, 2);
  const stream = flag(body['stream'], 'stream');
  const options = body['stream_options'] ?? {};
  if (!isMembers(options)) throw new ChatError("Invalid type for 'stream_options': expected an object");
  if (isGiven(body['stream_options']) && !stream)
    throw new ChatError("The 'stream_options' parameter is only allowed when 'stream' is enabled");
  const isFunctionCall = hasFunctions(body);
  const functions = isFunctionCall ? olderDeclarations(body['functions']) : declarations(body['tools']);
  const choice = isFunctionCall
    ? callingOf(olderChoice(body['function_call']), functions, 'function_call', 'functions')
    : callingOf(body['tool_choice'], functions);
  const level = effort(body['reasoning_effort'], model);
  const determining = Object.fromEntries(Object.entries(body).filter(([name]) => !beside.has(name)));
  return {
    stream,
    isFunctionCall,
    streamUsage: flag(options['include_usage'], 'stream_options.include_usage'),
    ask: {
      model,
      digest: digestOfValue({ chat: determining, seed }),
      system: system.join('\n'),
      turns: turns.length === 0 ? [{ role: 'user', parts: [] }] : turns,
      count: number(body, 'n', 1, 8, true) ?? 1,
      temperature: number(body, 'temperature', 0, 2) ?? 1,
      ...(maxTokens === undefined ? {} : { longest: maxTokens }),
      stops: stopsOf(body['stop']),
      thinking: { ...level, shown: false },
      json: jsonWish(body['response_format'], messages),
      functions,
      ...choice,
      ...(isFunctionCall ? { maxCalls: 1 } : {}),
      search: false,
      maps: undefined,
      code: false,
      image: undefined,
      wantsText: true,
      unguarded: false,
    },
  };
}

function number(body: Members, name: string, low: number, high: number, whole = false): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || (whole && !Number.isInteger(value))) {
    throw new ChatError(
      `Invalid type for '${name}': expected ${whole ? 'an integer' : 'a number'}, got ${JSON.stringify(value)?.slice(0, 60)}`,
    );
  }
  if (value < low)
    throw new ChatError(`Invalid '${name}': below minimum value. Expected a value >= ${low}, got ${value}`);
  if (value > high)
    throw new ChatError(`Invalid '${name}': above maximum value. Expected a value <= ${high}, got ${value}`);
  return value;
}

function flag(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw new ChatError(`Invalid type for '${name}': expected a boolean`);
  return value;
}

function stopsOf(value: unknown): readonly string[] {
  if (!isGiven(value)) return [];
  const stops: unknown[] = Array.isArray(value) ? value : [value];
  if (!stops.every((stop) => typeof stop === 'string') || stops.length > 4)
    throw new ChatError("Invalid 'stop': expected a string or an array of at most 4 strings");
  return stops;
}

/** Whether a request has the older members of the protocol, `functions` and `function_call`, which exclude the newer ones. */
function hasFunctions(body: Members): boolean {
  const isOlder = isGiven(body['functions']) || isGiven(body['function_call']);
  if (isOlder && (isGiven(body['tools']) || isGiven(body['tool_choice'])))
    throw new ChatError("'functions' and 'function_call' are not allowed beside 'tools' and 'tool_choice'");
  return isOlder;
}

function olderDeclarations(value: unknown): readonly FunctionDeclaration[] {
  if (!isGiven(value)) return [];
  if (!Array.isArray(value) || value.length === 0)
    throw new ChatError("Invalid type for 'functions': expected an array of objects that is not empty");
  return value.map((own: unknown, index) => declaration(own, `functions[${index}]`));
}

/** Translates `function_call` of the older protocol, which names a function as `{ name }`, into `tool_choice`. */
const olderChoice = (value: unknown): unknown =>
  isMembers(value) ? { function: value } : value === 'required' ? { function: {} } : value;

function declarations(value: unknown): readonly FunctionDeclaration[] {
  if (!isGiven(value)) return [];
  if (!Array.isArray(value)) throw new ChatError("Invalid type for 'tools': expected an array of objects");
  return value.map((tool: unknown, index) =>
    declaration(
      isMembers(tool) && tool['type'] === 'function' ? tool['function'] : undefined,
      `tools[${index}]`,
    ),
  );
}

function declaration(own: unknown, where: string): FunctionDeclaration {
  if (!isMembers(own) || typeof own['name'] !== 'string' || !/^[\w-]{1,64}$/.test(own['name']))
    throw new ChatError(`Invalid '${where}': expected a function with a name of letters, digits, _ and -`);
  const { name, description, parameters } = own;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    schema: parameters ?? { type: 'object' },
  };
}

function callingOf(
  value: unknown,
  functions: readonly FunctionDeclaration[],
  choice = 'tool_choice',
  list = 'tools',
): { readonly calling: CallingMode; readonly callable: readonly string[] } {
  if (value === undefined || value === null || value === 'auto') return { calling: 'AUTO', callable: [] };
  if (functions.length === 0) throw new ChatError(`'${choice}' is only allowed when '${list}' are specified`);
  if (value === 'none') return { calling: 'NONE', callable: [] };
  if (value === 'required') return { calling: 'ANY', callable: [] };
  const own = isMembers(value) ? value['function'] : undefined;
  const name = isMembers(own) ? own['name'] : undefined;
  if (typeof name !== 'string' || !functions.some((one) => one.name === name)) {
    const words = choice === 'tool_choice' ? 'none, auto, required' : 'none, auto';
    throw new ChatError(`Invalid '${choice}': expected ${words} or one of the functions in '${list}'`);
  }
  return { calling: 'ANY', callable: [name] };
}

const efforts: Readonly<Record<string, NativeThinkingLevel>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
};

/** Translates `reasoning_effort` as gateways do: into a level, or into a budget for earlier models. */
function effort(
  value: unknown,
  { thinking }: TextModel,
): { readonly level?: NativeThinkingLevel; readonly budget?: number } {
  if (!isGiven(value)) return {};
  const level = typeof value === 'string' ? efforts[value] : undefined;
  if (level === undefined) {
    const known = Object.keys(efforts).map((one) => `'${one}'`);
    throw new ChatError(`Invalid value at 'reasoning_effort'. Supported values are: ${known.join(', ')}`);
  }
  if (thinking.kind !== 'budget') return { level };
  return {
    budget: { MINIMAL: thinking.canBeOff ? 0 : thinking.least, LOW: 1024, MEDIUM: 8192, HIGH: 24_576 }[level],
  };
}

function jsonWish(format: unknown, messages: readonly unknown[]): JsonWish | undefined {
  if (format === undefined || format === null) return undefined;
  const type = isMembers(format) ? format['type'] : undefined;
  if (type === 'text') return undefined;
  if (type === 'json_object') {
    if (!/json/i.test(JSON.stringify(messages))) {
      throw new ChatError(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'",
      );
    }
    return {};
  }
  const own = isMembers(format) && type === 'json_schema' ? format['json_schema'] : undefined;
  if (!isMembers(own)) {
    throw new ChatError(
      "Invalid 'response_format': expected text, json_object or json_schema with its schema",
    );
  }
  if (typeof own['name'] !== 'string' || !/^[\w-]{1,64}$/.test(own['name']))
    throw new ChatError("Missing required parameter: 'response_format.json_schema.name'");
  return own['schema'] === undefined ? {} : { schema: own['schema'] };
}

/** The error of an invalid body, as a sentence that names the field. */
class ChatError extends Error {}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Reads a message into the system text or the turns. `calls`: the names of the tool calls so far, by id. @throws ChatError */
function readMessage(
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
  const empty = !isGiven(message['content']);
  if (empty && toolCalls.length === 0 && role === 'user')
    throw new ChatError(`Missing required parameter: '${where}.content'`);
  const parts = empty ? [] : contentParts(message['content'], where);
  turns.push({ role: role === 'assistant' ? 'model' : 'user', parts: [...parts, ...toolCalls] });
}

function callsOf(message: Members, where: string, calls: Map<string, string>): readonly Part[] {
  const called = message['function_call'];
  const older = isGiven(called) ? [functionCallOf(called, `${where}.function_call`)] : [];
  return [...toolCallsOf(message['tool_calls'], where, calls), ...older];
}

function toolCallsOf(value: unknown, where: string, calls: Map<string, string>): readonly Part[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ChatError(`Invalid type for '${where}.tool_calls': expected an array`);
  return value.map((call: unknown, index) => {
    const at = `${where}.tool_calls[${index}]`;
    const { id, function: called } = isMembers(call) ? call : {};
    if (typeof id !== 'string' || !isMembers(called) || typeof called['name'] !== 'string')
      throw new ChatError(`Invalid '${at}': expected an object with id and function`);
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
  if (!Array.isArray(content))
    throw new ChatError(`Invalid type for '${where}.content': expected a string or an array of objects`);
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

/** Reads an image from a data URI. An address is never fetched. */
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
