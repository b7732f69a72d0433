import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import schemaFile from '../../../schemas/pipeline.schema.json' with { type: 'json' };
import type { StepKind } from '../pipeline.ts';
import { accepts } from './accepts.ts';
import { schemaNameOf, type ValidatedPart, validationSchema, validatorOptions } from './validation.ts';

/** A schema as plain JSON; only the members that the messages are made of. */
export interface SchemaNode {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly $ref?: string;
  readonly [keyword: string]: unknown;
}

/** One violation, with the schema that was violated. */
export type SchemaError = ErrorObject<string, Record<string, unknown>> & {
  readonly parentSchema?: SchemaNode;
};

const pipelineSchema: SchemaNode = schemaFile;

type Validators = (part: ValidatedPart) => ValidateFunction;

let validators: Promise<Validators> | undefined;

/** Ajv takes longer to load and to compile than most files take to be checked: only errors need it. */
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

/** What is wrong with a file, its steps' contents left out, or with a step of a known kind. */
export async function schemaErrorsOf(part: ValidatedPart, json: unknown): Promise<readonly SchemaError[]> {
  if (accepts(part, json)) return [];
  validators ??= compileValidators();
  const validate = (await validators)(part);
  return validate(json) ? [] : ((validate.errors ?? []) as readonly SchemaError[]);
}

/** The keys that a kind of step can have. */
export function keysOfStep(kind: StepKind): readonly string[] {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  return Object.keys(definitions[`${kind}Step`]?.properties ?? {});
}

/** A schema with what it refers to in its place. */
export function resolved(schema: SchemaNode): SchemaNode {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : { ...definitions[name], ...schema };
}

/** The keys at the top of a file. */
export const keysOfPipeline = (): readonly string[] => Object.keys(pipelineSchema['properties'] as object);

/** The keys that a block at the top of a file can have, those with names of the user's own left out. */
export function keysOfBlock(block: string): readonly string[] {
  const properties = pipelineSchema['properties'] as Record<string, SchemaNode>;
  return Object.keys(resolved(properties[block] ?? {}).properties ?? {});
}

/** The keys that the operation of a step can have, where it is a mapping. */
export function keysOfOperation(kind: StepKind): readonly string[] {
  const definitions = pipelineSchema['$defs'] as Record<string, SchemaNode>;
  return Object.keys(resolved(definitions[`${kind}Step`]?.properties?.[kind] ?? {}).properties ?? {});
}
