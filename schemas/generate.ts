/**
 * Writes the types of a pipeline file, and of what commands print with `--json`, from their schemas, and the page of error codes from their
 * tables: `npm run generate`. With `--check` it writes nothing and exits 1 when what is there differs.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { compile } from 'json-schema-to-typescript';
import { parseSync, Visitor } from 'oxc-parser';
import { errorCodesPage } from './error-codes.ts';
import pipelineSchema from './pipeline.schema.json' with { type: 'json' };

type Json = { [name: string]: unknown };

/** `oneOf: [{ required: [a] }, { required: [b] }]` says nothing that a TypeScript type could hold. */
function isRequiredChoice(keyword: string, value: unknown): boolean {
  return (
    keyword === 'oneOf' &&
    Array.isArray(value) &&
    value.every((branch: Json) => Object.keys(branch).join() === 'required')
  );
}

/**
 * The schema as far as types go. Titles are for editors: as type names they would be many and clash. Keys by a pattern are
 * read by nobody, and would make every other name a member.
 */
function typeSchema(schema: unknown, isNameMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => typeSchema(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) =>
      isNameMap || (name !== 'title' && name !== 'patternProperties' && !isRequiredChoice(name, value)),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      typeSchema(value, !isNameMap && (name === 'properties' || name === '$defs')),
    ]),
  );
}

/** Commands that print one JSON object, and what each prints where it is refused, by the schema that says which. */
const printed = {
  ls: 'ls',
  models: 'models',
  plan: 'plan',
  refused: 'refused',
  registered: 'run-registered',
  run: 'run-summary',
  show: 'show',
  status: 'status',
  validate: 'validate',
};

/**
 * One schema of what all commands print. A definition that several commands have, word for word, is one type; one that others define otherwise
 * has its command's name before its own.
 */
async function printedSchema(): Promise<Json> {
  const schemas = new Map<string, Json>();
  for (const [command, name] of Object.entries(printed))
    schemas.set(command, JSON.parse(await readFile(new URL(`${name}.schema.json`, import.meta.url), 'utf8')));
  const definitionsOf = (command: string): Json => (schemas.get(command)?.['$defs'] ?? {}) as Json;
  const isShared = (name: string, definition: unknown): boolean =>
    [...schemas.keys()].every((command) =>
      isDeepStrictEqual(definitionsOf(command)[name] ?? definition, definition),
    );
  /** The schema with what its references lead to by name; a number or a text stands where it is used. */
  const resolved = (node: unknown, command: string): unknown => {
    if (Array.isArray(node)) return node.map((item) => resolved(item, command));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...rest } = node as { readonly $ref?: string };
    if ($ref === undefined)
      return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, resolved(value, command)]));
    const [, of = command, name = ''] =
      /^(?:urn:promptpress:schema:([\w-]+))?#\/\$defs\/(.+)$/.exec($ref) ?? [];
    const definition = definitionsOf(of)[name] as Json;
    return isType(definition)
      ? { ...rest, tsType: typeName(of, name, definition) }
      : { ...definition, ...rest };
  };
  const typeName = (command: string, name: string, definition: unknown): string =>
    `${isShared(name, definition) ? '' : upper(command)}${upper(name)}`;
  const properties: Json = {};
  const $defs: Json = {};
  for (const [command, schema] of schemas) {
    for (const [name, definition] of Object.entries(definitionsOf(command)))
      if (isType(definition as Json))
        $defs[typeName(command, name, definition)] = resolved(definition, command);
    const { $defs: _, $schema: _of, $id: _named, ...printedType } = schema;
    properties[command] = resolved(printedType, command);
  }
  const description = 'What commands print with `--json`, by command.';
  const required = Object.keys(properties);
  return { type: 'object', description, additionalProperties: false, required, properties, $defs };
}

const isType = ({ type }: Json): boolean => type === undefined || type === 'object' || type === 'array';

const upper = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** Comments of one line on that line, and none of what a type does not bound or of where it comes from. */
const compact = (types: string): string =>
  types
    .replaceAll(/(?:\n \*)?\n \* This interface was referenced by .*\n \* via the .*/g, '')
    .replaceAll(/(?:\n *\*)?\n *\* @maxItems \d+/g, '')
    .replaceAll(/ *\/\*\*\n *\*\/\n/g, '')
    .replaceAll(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */');

/** What is printed is read, and never changed. */
function readonly(types: string): string {
  const starts: number[] = [];
  const note = ({ start }: { readonly start: number }): void => void starts.push(start);
  new Visitor({ TSPropertySignature: note, TSIndexSignature: note, TSArrayType: note }).visit(
    parseSync('types.ts', types).program,
  );
  return starts
    .sort((a, b) => b - a)
    .reduce((text, start) => `${text.slice(0, start)}readonly ${text.slice(start)}`, types);
}

async function typesText(schema: Json, name: string, from: string): Promise<string> {
  const types = await compile({ ...(typeSchema(schema) as Json), $id: name }, name, {
    bannerComment: '',
    ignoreMinAndMaxItems: name !== 'PipelineFile',
    unreachableDefinitions: name !== 'PipelineFile',
    style: { singleQuote: true, printWidth: 110 },
  });
  const text = compact(types.trim());
  const head = `// Generated from ${from} by \`npm run generate\`. Do not edit.`;
  return `${head}\n\n${name === 'PipelineFile' ? text : readonly(text)}\n`;
}

const generated: Readonly<Record<string, string>> = {
  'src/pipeline/schema/pipeline-file.generated.ts': await typesText(
    pipelineSchema,
    'PipelineFile',
    'schemas/pipeline.schema.json',
  ),
  'schemas/errors.md': errorCodesPage,
  'src/report/facts/json-outputs.generated.ts': await typesText(
    await printedSchema(),
    'JsonOutputs',
    'schemas/',
  ),
};
for (const [path, wanted] of Object.entries(generated)) {
  const file = new URL(`../${path}`, import.meta.url);
  const found = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (found === wanted) continue;
  if (process.argv.includes('--check')) {
    process.exitCode = 1;
    console.error(`${path} is not what it is made from: run npm run generate`);
  } else {
    await writeFile(file, wanted);
  }
}
