import { members } from '../json.ts';
import type { Names } from '../names.ts';
import type { JsonObject } from '../text.ts';

const codeTool = 'codeExecution';
const functionTool = 'functionDeclarations';

/** The native `tools` with those of the short forms `functions`, `search`, `maps` and `code`. */
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

/** `code_execution` and `codeExecution` are one tool (protocol.md 5.1). */
const hasTool = (tool: unknown, name: string): boolean =>
  Object.keys(members(tool) ?? {}).some((key) => folded(key) === folded(name));

const folded = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Declarations without their `answer`, which is promptpress's own. */
function declarationsOf(functions: unknown): readonly JsonObject[] {
  return Object.entries(members(functions) ?? {}).map(([name, declared]) => {
    const { answer: _answer, ...declaration } = members(declared) ?? {};
    return { name, ...declaration };
  });
}

/** All functions stand in one entry: some models take several only of search tools. */
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
