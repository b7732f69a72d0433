/**
 * Writes the types of a pipeline file, and of what commands print with `--json`, from their schemas: `npm run generate`. With
 * `--check` it writes nothing and exits 1 when the types that are there differ.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';
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
  run: 'run-summary',
  show: 'show',
  status: 'status',
  validate: 'validate',
};

/** One schema of what all commands print. Definitions are told apart by their command. */
async function printedSchema(): Promise<Json> {
  const properties: Json = {};
  const $defs: Json = {};
  for (const [command, name] of Object.entries(printed)) {
    const text = await readFile(new URL(`${name}.schema.json`, import.meta.url), 'utf8');
    // A definition of this schema, or of another one: `urn:promptpress:schema:validate#/$defs/diagnostic`.
    const own = text.replaceAll(
      /"(?:urn:promptpress:schema:([\w-]+))?#\/\$defs\//g,
      (_, other = command) => `"#/$defs/${other} `,
    );
    const schema = JSON.parse(own) as Json;
    for (const [of, definition] of Object.entries(schema['$defs'] ?? {}))
      $defs[`${command} ${of}`] = definition;
    const { $defs: _, $schema: _of, $id: _named, ...printedType } = schema;
    properties[command] = printedType;
  }
  const description = 'What commands print with `--json`, by command.';
  const required = Object.keys(properties);
  return { type: 'object', description, additionalProperties: false, required, properties, $defs };
}

async function typesText(schema: Json, name: string, from: string): Promise<string> {
  const types = await compile({ ...(typeSchema(schema) as Json), $id: name }, name, {
    bannerComment: '',
    ignoreMinAndMaxItems: name !== 'PipelineFile',
    style: { singleQuote: true, printWidth: 110 },
  });
  return `// Generated from ${from} by \`npm run generate\`. Do not edit.\n\n${types.trim()}\n`;
}

const printedType = `
/**
 * What a command prints with \`--json\`, unchangeable.
 */
export type Printed<Command extends keyof JsonOutputs> = Unchangeable<JsonOutputs[Command]>;
type Unchangeable<T> = unknown extends T ? T : { readonly [Member in keyof T]: Unchangeable<T[Member]> };
`;

const generated: Readonly<Record<string, string>> = {
  'pipeline/schema/pipeline-file': await typesText(
    pipelineSchema,
    'PipelineFile',
    'schemas/pipeline.schema.json',
  ),
  'report/facts/json-outputs':
    (await typesText(await printedSchema(), 'JsonOutputs', 'schemas/')) + printedType,
};
for (const [path, wanted] of Object.entries(generated)) {
  const file = new URL(`../src/${path}.generated.ts`, import.meta.url);
  const found = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (found === wanted) continue;
  if (process.argv.includes('--check')) {
    process.exitCode = 1;
    console.error(`${path}.generated.ts is not what the schemas make: run npm run generate`);
  } else {
    await writeFile(file, wanted);
  }
}
