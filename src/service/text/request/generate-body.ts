import { members } from '../../http/json.ts';
import type { Names } from '../../names.ts';
import type { EarlierTurn, InlineImage, JsonObject, TextCallRequest } from '../../text-service.ts';
import { nativeFields, plainFields, withExtra } from './fields.ts';

const shortForms = [
  'prompt',
  'system',
  'thinking',
  'responseSchema',
  'search',
  'maps',
  'code',
  'functions',
  'contents',
] as const;

/**
 * Builds the body of generateContent (gateway 6.3). Fields with native names are sent unchanged. Short forms are added to them and
 * never replace anything native:
 *
 * - `prompt` is a user's turn, with the images before the text. With native `contents`, images go to the front of the last turn if that
 *   is the user's, else they are a turn of their own.
 * - `system` is one more part of `systemInstruction`, after the native ones.
 * - `thinking` is dropped where `generationConfig.thinkingConfig` has a level or a budget: both at once are refused (gateway 6.3). A
 *   word is a level, an integer a budget.
 * - `responseSchema` is dropped where `generationConfig` has a schema. `responseMimeType` is added unless there is one.
 * - `search`, `maps`, `code` add a tool unless it is there; `functions` join the native declarations, where a native one of the same
 *   name stays.
 *
 * Earlier turns come first, those of this job's own function calls last. `extra` is merged into the result.
 */
export function generateBody(request: TextCallRequest, names: Names): JsonObject {
  const fields = plainFields(request.fields);
  const systemInstruction = systemOf(fields);
  const tools = toolsOf(fields, names);
  const generationConfig = configOf(fields);
  const body = {
    contents: [
      ...request.earlier.flatMap((turn) => [...turnOf(turn), ...turn.after]),
      ...contentsOf(fields, request.images),
      ...request.turns,
    ],
    ...nativeFields(fields, shortForms),
    ...(systemInstruction !== undefined && { systemInstruction }),
    ...(tools !== undefined && { tools }),
    ...(generationConfig !== undefined && { generationConfig }),
  };
  return withExtra(body, request.extra);
}

const turnOf = (turn: EarlierTurn): readonly unknown[] => contentsOf(plainFields(turn.fields), turn.images);

function contentsOf(fields: JsonObject, images: readonly InlineImage[]): readonly unknown[] {
  const imageParts = images.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } }));
  const { contents, prompt } = fields;
  const text = typeof prompt === 'string' ? [{ text: prompt }] : [];
  if (!Array.isArray(contents)) return [{ role: 'user', parts: [...imageParts, ...text] }];
  const asked = [...(contents as unknown[]), ...(text.length > 0 ? [{ role: 'user', parts: text }] : [])];
  if (imageParts.length === 0) return asked;
  const last = members(asked.at(-1));
  const isUsers = last !== undefined && (last['role'] ?? 'user') === 'user' && Array.isArray(last['parts']);
  return isUsers
    ? [...asked.slice(0, -1), { ...last, parts: [...imageParts, ...(last['parts'] as unknown[])] }]
    : [...asked, { role: 'user', parts: imageParts }];
}

function systemOf({ system, systemInstruction }: JsonObject): unknown {
  if (typeof system !== 'string') return systemInstruction;
  const native = members(systemInstruction);
  const parts = native?.['parts'];
  return { ...native, parts: [...(Array.isArray(parts) ? (parts as unknown[]) : []), { text: system }] };
}

function configOf(fields: JsonObject): unknown {
  const declared = fields['generationConfig'];
  const native = members(declared) ?? {};
  const { thinking, responseSchema } = fields;
  const thinkingConfig = thinkingOf(thinking, members(native['thinkingConfig']) ?? {});
  const hasSchema = 'responseSchema' in native || 'responseJsonSchema' in native;
  const schema = responseSchema !== undefined && !hasSchema;
  if (thinkingConfig === undefined && !schema) return declared;
  return {
    ...(schema && { responseMimeType: 'application/json', responseSchema }),
    ...native,
    ...(thinkingConfig !== undefined && { thinkingConfig }),
  };
}

/** Returns the thinking configuration, or undefined if there is nothing to add. */
function thinkingOf(thinking: unknown, native: JsonObject): JsonObject | undefined {
  if ('thinkingLevel' in native || 'thinkingBudget' in native) return undefined;
  if (typeof thinking === 'number') return { ...native, thinkingBudget: thinking };
  if (typeof thinking !== 'string') return undefined;
  const word = thinking.trim();
  // A rendered template is text, even for a budget.
  return /^-?\d{1,15}$/.test(word)
    ? { ...native, thinkingBudget: Number(word) }
    : { ...native, thinkingLevel: word.toUpperCase() };
}

const codeTool = 'codeExecution';
const functionTool = 'functionDeclarations';

/** Returns the native `tools` together with those of the short forms `functions`, `search`, `maps` and `code`. */
export function toolsOf(fields: JsonObject, names: Names): unknown {
  const native = fields['tools'];
  const wanted = [
    ...(fields['search'] === true ? [names.searchTool] : []),
    ...(fields['maps'] === true ? [names.mapsTool] : []),
    ...(fields['code'] === true ? [codeTool] : []),
  ];
  const declarations = declarationsOf(fields['functions']);
  if (wanted.length === 0 && declarations.length === 0) return native;
  const declared: readonly unknown[] = Array.isArray(native)
    ? (native as unknown[])
    : native === undefined
      ? []
      : [native];
  const missing = wanted.filter((name) => !declared.some((tool) => hasTool(tool, name)));
  return [...withFunctions(declared, declarations), ...missing.map((name) => ({ [name]: {} }))];
}

/** Whether a tool has this name; `code_execution` and `codeExecution` are one tool (gateway 6.4). */
const hasTool = (tool: unknown, name: string): boolean =>
  Object.keys(members(tool) ?? {}).some((key) => folded(key) === folded(name));

const folded = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Returns declarations without their `answer`, which is promptpress's own. */
function declarationsOf(functions: unknown): readonly JsonObject[] {
  return Object.entries(members(functions) ?? {}).map(([name, declared]) => {
    const { answer: _answer, ...declaration } = members(declared) ?? {};
    return { name, ...declaration };
  });
}

/** Puts all functions into one entry: some models accept several entries only for search tools. */
function withFunctions(tools: readonly unknown[], declarations: readonly JsonObject[]): readonly unknown[] {
  if (declarations.length === 0) return tools;
  const at = tools.findIndex((tool) => Array.isArray(members(tool)?.[functionTool]));
  const native = at < 0 ? [] : (members(tools[at])?.[functionTool] as unknown[]);
  const named = new Set(native.map((declaration) => members(declaration)?.['name']));
  const all = [...native, ...declarations.filter(({ name }) => !named.has(name))];
  return at < 0
    ? [...tools, { [functionTool]: all }]
    : tools.with(at, { ...members(tools[at]), [functionTool]: all });
}
