import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { StepKind } from '../pipeline.ts';
import { pipelineSchema } from './schema.generated.ts';

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

interface Validators {
  /** The whole file but for what is in its steps. */
  readonly file: ValidateFunction;
  readonly step: (kind: StepKind) => ValidateFunction;
}

const schemaId = 'urn:promptpress:validation';

/**
 * A step has one of eight schemas; its kind key says which. A validator that tries all eight reports the errors of the
 * seven others too. So the kind is found first, and its own schema is applied.
 */
function compileValidators(): Validators {
  const root = structuredClone(pipelineSchema) as { [name: string]: unknown };
  const properties = root['properties'] as { steps: { additionalProperties: unknown } };
  properties.steps.additionalProperties = { type: 'object', title: 'Step' };
  const { step: _step, ...definitions } = root['$defs'] as Record<string, unknown>;
  const ajv = new Ajv2020({
    allErrors: true,
    discriminator: true,
    verbose: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
  });
  ajv.addSchema({ ...root, $id: schemaId, $defs: definitions });
  const at = (pointer: string): ValidateFunction => {
    const found = ajv.getSchema(`${schemaId}${pointer}`);
    if (found === undefined) throw new Error(`Internal error: no schema ${pointer}`);
    return found;
  };
  return { file: at(''), step: (kind) => at(`#/$defs/${kind}Step`) };
}

let validators: Validators | undefined;

/** What is wrong with a file, its steps' contents left out. */
export function errorsOfFile(json: unknown): readonly SchemaError[] {
  validators ??= compileValidators();
  return schemaErrors(validators.file, json);
}

/** What is wrong with a step of a known kind. */
export function errorsOfStep(kind: StepKind, json: unknown): readonly SchemaError[] {
  validators ??= compileValidators();
  return schemaErrors(validators.step(kind), json);
}

function schemaErrors(validate: ValidateFunction, json: unknown): readonly SchemaError[] {
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
