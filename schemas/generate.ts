/**
 * Writes the code that is made from the schemas: `npm run generate`. With `--check` it writes nothing and exits 1
 * when what it would write differs from what is there.
 *
 * The rooms that validate are pure, so a schema reaches them as a constant, not as a file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { compile } from 'json-schema-to-typescript';
import { stepKinds } from '../src/pipeline/schema/step-kinds.ts';
import { schemaNameOf, validationSchema, validatorOptions } from '../src/pipeline/schema/validation.ts';

interface Target {
  /** File name in `schemas/`. */
  readonly schema: string;
  /** The generated module, from `schemas/`. */
  readonly module: string;
  /** The module, below its first line. */
  readonly text: (schema: Json) => Promise<string> | string;
}

/** What is made from the schema that the program itself validates by. */
const targets: readonly Target[] = [
  {
    schema: 'pipeline.schema.json',
    module: '../src/pipeline/schema/schema.generated.ts',
    text: (schema) => typesText(schema, 'PipelineFile', 'pipelineSchema', 'pipeline.schema.json'),
  },
  {
    schema: 'pipeline.schema.json',
    module: '../src/pipeline/schema/accepts.generated.ts',
    text: validatorsText,
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

async function typesText(schema: Json, type: string, constant: string, file: string): Promise<string> {
  const types = await compile({ ...(typeSchema(schema) as Json), $id: type }, type, {
    bannerComment: '',
    style: { singleQuote: true, printWidth: 110 },
  });
  return [
    types.trim(),
    '',
    `/** The JSON Schema of {@link ${type}}: schemas/${file}. */`,
    `export const ${constant}: Readonly<Record<string, unknown>> = ${JSON.stringify(schema, null, 2)};`,
    '',
  ].join('\n');
}

/** Words for people, which no validator reads. */
const words = new Set(['title', 'description', 'examples', 'default', '$comment']);

/** The schema without its words. */
function bareSchema(schema: unknown, isNameMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => bareSchema(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => isNameMap || !words.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (!isNameMap && (name === 'const' || name === 'enum')) return [name, value];
      const holdsNames = ['properties', 'patternProperties', '$defs'].includes(name);
      return [name, bareSchema(value, !isNameMap && holdsNames)];
    }),
  );
}

/** Validators that only say yes or no, ready to be called: most files are valid, and wait for nothing to be compiled. */
function validatorsText(schema: Json): string {
  const ajv = new Ajv2020({ ...validatorOptions, messages: false, code: { source: true, esm: true } });
  ajv.addSchema(bareSchema(validationSchema(schema)) as object);
  const parts = ['file', ...stepKinds] as const;
  const names = Object.fromEntries(parts.map((part) => [`${part}Part`, schemaNameOf(part)]));
  const code = standaloneCode.default(ajv, names);
  const lengthOf = 'require("ajv/dist/runtime/ucs2length").default';
  const pure = code
    .replace('"use strict";', '')
    .replaceAll('export const ', 'const ')
    .replaceAll(lengthOf, 'charactersIn')
    .replaceAll(/;(const |function )/g, ';\n$1')
    .replaceAll('}function ', '}\nfunction ')
    // As literals, so that they are proven linear like all others.
    .replace(/new RegExp\(("(?:[^"\\]|\\.)*"), "u"\)/g, (_, source: string) =>
      String(new RegExp(JSON.parse(source) as string, 'u')),
    );
  if (pure.includes('require(')) throw new Error('A validator needs a module of ajv at run time.');
  return [
    '// @ts-nocheck: written by ajv',
    '',
    "import type { ValidatedPart } from './validation.ts';",
    '',
    'const charactersIn = (text) => {',
    '  let count = 0;',
    '  for (const _ of text) count += 1;',
    '  return count;',
    '};',
    pure,
    '',
    '/** True where a part of a file keeps to the schema. */',
    'export const accepts: Readonly<Record<ValidatedPart, (json: unknown) => boolean>> = {',
    ...parts.map((part) => `  ${part}: ${part}Part,`),
    '};',
    '',
  ].join('\n');
}

async function moduleText({ schema, text }: Target): Promise<string> {
  const json = JSON.parse(await readFile(new URL(schema, import.meta.url), 'utf8')) as Json;
  return [
    `// Generated from schemas/${schema} by \`npm run generate\`. Do not edit.`,
    '',
    await text(json),
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
