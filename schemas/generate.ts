/**
 * Writes the code that is made from the schemas: `npm run generate`. With `--check` it writes nothing and exits 1
 * when what it would write differs from what is there.
 *
 * The rooms that validate are pure, so a schema reaches them as a constant, not as a file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

interface Target {
  /** File name in `schemas/`. */
  readonly schema: string;
  /** Name of the type of a valid file. */
  readonly type: string;
  /** Name of the constant that holds the schema. */
  readonly constant: string;
  /** The generated module, from `schemas/`. */
  readonly module: string;
}

/** One entry per schema that the program itself validates by. */
const targets: readonly Target[] = [
  {
    schema: 'pipeline.schema.json',
    type: 'PipelineFile',
    constant: 'pipelineSchema',
    module: '../src/pipeline/schema/schema.generated.ts',
  },
];

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

async function moduleText(target: Target): Promise<string> {
  const text = await readFile(new URL(target.schema, import.meta.url), 'utf8');
  const schema = JSON.parse(text) as Json;
  const types = await compile({ ...(typeSchema(schema) as Json), $id: target.type }, target.type, {
    bannerComment: '',
    style: { singleQuote: true, printWidth: 110 },
  });
  return [
    `// Generated from schemas/${target.schema} by \`npm run generate\`. Do not edit.`,
    '',
    types.trim(),
    '',
    `/** The JSON Schema of {@link ${target.type}}: schemas/${target.schema}. */`,
    `export const ${target.constant}: Readonly<Record<string, unknown>> = ${JSON.stringify(schema, null, 2)};`,
    '',
  ].join('\n');
}

const check = process.argv.includes('--check');
let outdated = 0;
for (const target of targets) {
  const file = fileURLToPath(new URL(target.module, import.meta.url));
  const wanted = await moduleText(target);
  const found = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (found === wanted) continue;
  if (check) {
    outdated += 1;
    console.error(`${target.module.slice(3)} is not what ${target.schema} makes: run npm run generate`);
  } else {
    await writeFile(file, wanted);
  }
}
process.exitCode = outdated > 0 ? 1 : 0;
