import { cutText } from '../../pipeline/diagnostics/terminal-text.ts';
import { isMapping, type Value } from '../../pipeline/values/value.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { TextRequest } from '../../plan/job-request.ts';
import type { ReplyCandidate } from '../../service/text-service.ts';

/** The responses to the function calls of a reply, or the reason why there are none. */
export type CallResponses =
  | { readonly ok: true; readonly turns: readonly Value[] }
  | {
      readonly ok: false;
      readonly code: 'function.unanswered' | 'function.rounds';
      readonly message: string;
    };

/** Value of `rounds` where a step does not set it. */
const defaultRounds = 8;

/** Number of rounds of function calls answered so far. */
export const roundsIn = (turns: readonly Value[] = []): number =>
  turns.filter((turn) => isMapping(turn) && turn['role'] === 'model').length;

/**
 * Answers the function calls of a reply from the step's `functions`. The turns are the unchanged content of the model, because the service
 * refuses a call without its thought signature (gateway 6.4), then one response per call, in order and with its id.
 *
 * @returns undefined where the step answers no functions, so that the calls are its result
 */
export function respondToCalls(
  { request, turns }: Pick<JobRecord, 'request' | 'turns'>,
  { parts, functionCalls }: ReplyCandidate,
): CallResponses | undefined {
  const { functions } = request.fields;
  if (!isMapping(functions)) return undefined;
  const stranger = functionCalls.find(({ name }) => responseOf(functions, name) === undefined);
  if (stranger !== undefined)
    return {
      ok: false,
      code: 'function.unanswered',
      message: `The model called "${cutText(stranger.name)}", which is not one of the step's functions: ${Object.keys(functions).join(', ')}.`,
    };
  const rounds = Number(request.fields['rounds'] ?? defaultRounds);
  if (roundsIn(turns) >= rounds)
    return {
      ok: false,
      code: 'function.rounds',
      message: `The model called functions again after ${rounds} rounds of them (rounds).`,
    };
  const responses = functionCalls.map(({ id, name }) => ({
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name,
      response: asObject(responseOf(functions, name) ?? null),
    },
  }));
  return {
    ok: true,
    turns: [
      { role: 'model', parts: parts as unknown as readonly Value[] },
      { role: 'user', parts: responses },
    ],
  };
}

/**
 * Returns the first call of an undeclared function. Declarations are read from
 * `functions`, native or chat `tools`, chat's older `functions`, the step's own fields and `extra`. Undefined where all are declared, or
 * where the service's cached content may declare functions.
 */
export function undeclaredCall(
  { fields, extra = {} }: Pick<TextRequest, 'fields' | 'extra'>,
  { functionCalls }: Pick<ReplyCandidate, 'functionCalls'>,
): string | undefined {
  const sources = [fields, extra];
  if (
    sources.some((source) => source['cachedContent'] !== undefined || source['cached_content'] !== undefined)
  )
    return undefined;
  const declared = new Set(
    sources.flatMap(({ functions, tools }) => [...namesIn(functions), ...listOf(tools).flatMap(namesInTool)]),
  );
  return functionCalls.find(({ name }) => !declared.has(name))?.name;
}

const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? (value as readonly Value[]) : value === undefined ? [] : [value];

/** `functions` is a mapping by name in a pipeline, and a list of declarations in chat. */
function namesIn(functions: Value | undefined): readonly string[] {
  if (isMapping(functions)) return Object.keys(functions);
  return listOf(functions).flatMap((one) =>
    isMapping(one) && typeof one['name'] === 'string' ? [one['name']] : [],
  );
}

function namesInTool(tool: Value): readonly string[] {
  if (!isMapping(tool)) return [];
  const { functionDeclarations, function_declarations: snake, function: ofChat } = tool;
  return [functionDeclarations, snake, ofChat].flatMap((declared) =>
    listOf(declared).flatMap((one) => namesIn([one])),
  );
}

function responseOf(functions: { readonly [name: string]: Value }, name: string): Value | undefined {
  const declared = Object.hasOwn(functions, name) ? functions[name] : undefined;
  return isMapping(declared) ? declared['answer'] : undefined;
}

const asObject = (answer: Value): Value => (isMapping(answer) ? answer : { result: answer });
