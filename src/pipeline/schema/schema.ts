import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import schemaFile from '../../../schemas/pipeline.schema.json' with { type: 'json' };
import type { StepKey } from '../kinds.ts';
import { accepts } from './accepts.ts';
import { schemaNameOf, type ValidatedPart, validationSchema, validatorOptions } from './validation.ts';

/** A schema as plain JSON, with only the members that messages use. */
export interface SchemaNode {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly $ref?: string;
  readonly [keyword: string]: unknown;
}

/** A schema error, with the schema that was violated. */
export type SchemaError = ErrorObject<string, Record<string, unknown>> & {
  readonly parentSchema?: SchemaNode;
};

const pipelineSchema: SchemaNode = schemaFile;

type Validators = (part: ValidatedPart) => ValidateFunction;

let validators: Promise<Validators> | undefined;

/** Loads and compiles ajv on first use, which takes longer than most files take to be checked: only errors need it. */
async function compileValidators(): Promise<Validators> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ ...validatorOptions, allErrors: true, verbose: true });
  ajv.addSchema(validationSchema(pipelineSchema));
  return (part) => {
    const found = ajv.getSchema(schemaNameOf(part));
    if (found === undefined) throw new Error(`Internal error: no schema ${schemaNameOf(part)}`);
    return found;
  };
}

/** Returns the schema errors of a file (without the contents of its steps) or of a step of a known kind. */
export async function schemaErrorsOf(part: ValidatedPart, json: unknown): Promise<readonly SchemaError[]> {
  if (accepts(part, json)) return [];
  validators ??= compileValidators();
  const validate = (await validators)(part);
  return validate(json) ? [] : ((validate.errors ?? []) as readonly SchemaError[]);
}

/** Returns the keys that a step with this key can have. */
export function keysOfStep(kind: StepKey): readonly string[] {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  return Object.keys(definitions[`${kind}Step`]?.properties ?? {});
}

/** Replaces a schema's reference by the schema that it refers to. */
export function resolved(schema: SchemaNode): SchemaNode {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : { ...definitions[name], ...schema };
}

/** Returns the keys at the top level of a file. */
export const keysOfPipeline = (): readonly string[] => Object.keys(pipelineSchema['properties'] as object);

/** Returns the keys of a top-level block, without names that the user chooses. */
export function keysOfBlock(block: string): readonly string[] {
  const properties = pipelineSchema['properties'] as Record<string, SchemaNode>;
  return Object.keys(resolved(properties[block] ?? {}).properties ?? {});
}

/** Returns the keys that a step's operation can have if it is a mapping. */
export function keysOfOperation(kind: StepKey): readonly string[] {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  return Object.keys(resolved(definitions[`${kind}Step`]?.properties?.[kind] ?? {}).properties ?? {});
}
