import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { stepKeys } from '../src/pipeline/kinds.ts';
import { schemaNameOf, validationSchema, validatorOptions } from '../src/pipeline/schema/validation.ts';
import pipelineSchema from './pipeline.schema.json' with { type: 'json' };

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

/**
 * The module that stands for src/pipeline/schema/accepts.ts in the build: the same validators, compiled. Most files are valid, and
 * so wait neither for ajv to be loaded nor for a schema to be compiled.
 */
export function acceptsText(): string {
  const ajv = new Ajv2020({ ...validatorOptions, messages: false, code: { source: true, esm: true } });
  ajv.addSchema(bareSchema(validationSchema(pipelineSchema)) as object);
  const parts = ['file', ...stepKeys] as const;
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
    'const charactersIn = (text) => {',
    '  let count = 0;',
    '  for (const _ of text) count += 1;',
    '  return count;',
    '};',
    pure,
    `const parts = { ${parts.map((part) => `${part}: ${part}Part`).join(', ')} };`,
    'export const accepts = (part, json) => parts[part](json);',
    '',
  ].join('\n');
}
