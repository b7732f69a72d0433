/**
 * Writes the types of a pipeline file from its schema: `npm run generate`. With `--check` it writes nothing and exits 1 when the
 * types that are there differ.
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

const wanted = [
  '// Generated from schemas/pipeline.schema.json by `npm run generate`. Do not edit.',
  '',
  (
    await compile({ ...(typeSchema(pipelineSchema) as Json), $id: 'PipelineFile' }, 'PipelineFile', {
      bannerComment: '',
      style: { singleQuote: true, printWidth: 110 },
    })
  ).trim(),
  '',
].join('\n');
const file = new URL('../src/pipeline/schema/pipeline-file.generated.ts', import.meta.url);
const found = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
  if (cause.code === 'ENOENT') return undefined;
  throw cause;
});
if (found !== wanted) {
  if (process.argv.includes('--check')) {
    process.exitCode = 1;
    console.error('The types of a pipeline file are not what its schema makes: run npm run generate');
  } else {
    await writeFile(file, wanted);
  }
}
