import { digestOfValue } from '../../../seeded.ts';
import type { Ask, AskTurn, CallingMode, FunctionDeclaration, JsonWish, Members } from '../../ask.ts';
import type { NativeThinkingLevel, TextModel } from '../../models.ts';
import { refuse, type Understood } from '../problem.ts';
import { ChatError, isMembers, readMessage } from './message.ts';

/** A chat request: what is asked, and in which form the reply comes. */
export interface ChatAsk {
  readonly ask: Ask;
  readonly stream: boolean;
  /** A last event carries the usage (`stream_options.include_usage`). */
  readonly streamUsage: boolean;
  /** The request says `functions` in place of `tools`: a call is answered as `function_call`, one at a time. */
  readonly isFunctionCall: boolean;
}

/** Members that say in which form a reply comes, or who asks: they do not change its content. */
const beside = new Set(['stream', 'stream_options', 'user', 'store', 'metadata', 'safety_identifier']);

/** Reads the body of the chat endpoint (gateway 7.1); unknown members are read over, as there. */
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
  if (messages === undefined || messages === null) throw new ChatError('messages is required');
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
  if (body['stream_options'] !== undefined && body['stream_options'] !== null && !stream) {
    throw new ChatError("The 'stream_options' parameter is only allowed when 'stream' is enabled");
  }
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
      ...(isFunctionCall ? { mostCalls: 1 } : {}),
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
  if (value === undefined || value === null) return [];
  const stops: unknown[] = Array.isArray(value) ? value : [value];
  if (!stops.every((stop) => typeof stop === 'string') || stops.length > 4) {
    throw new ChatError("Invalid 'stop': expected a string or an array of at most 4 strings");
  }
  return stops;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The older words of the protocol, `functions` and `function_call`: one kind of words in a request. */
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

/** A function is named as `{ name }` in the older words. */
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
  if (!isMembers(own) || typeof own['name'] !== 'string' || !/^[\w-]{1,64}$/.test(own['name'])) {
    throw new ChatError(`Invalid '${where}': expected a function with a name of letters, digits, _ and -`);
  }
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

/** The chat word for thinking, as gateways translate it: a level, or a budget for earlier models. */
function effort(
  value: unknown,
  { thinking }: TextModel,
): { readonly level?: NativeThinkingLevel; readonly budget?: number } {
  if (value === undefined || value === null) return {};
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
  if (typeof own['name'] !== 'string' || !/^[\w-]{1,64}$/.test(own['name'])) {
    throw new ChatError("Missing required parameter: 'response_format.json_schema.name'");
  }
  return own['schema'] === undefined ? {} : { schema: own['schema'] };
}
