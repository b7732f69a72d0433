import type { Options } from 'ajv/dist/2020.js';
import type { StepKind } from '../pipeline.ts';

/** What is validated in one go: the whole file but for what is in its steps, or one step. */
export type ValidatedPart = 'file' | StepKind;

const schemaId = 'urn:promptpress:validation';

/** The name by which ajv knows the schema of a part. */
export const schemaNameOf = (part: ValidatedPart): string =>
  part === 'file' ? schemaId : `${schemaId}#/$defs/${part}Step`;

/** What holds for every validator of the language, whatever it reports. */
export const validatorOptions = {
  discriminator: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
} as const satisfies Options;

/**
 * The schema of the language as it is validated by. Each kind of step has a schema; a validator that tries them all reports the errors of
 * the others too. So the kind is found first, and its own schema is applied.
 *
 * @param schema schemas/pipeline.schema.json
 */
export function validationSchema(schema: Readonly<Record<string, unknown>>): object {
  const root = structuredClone(schema) as { [name: string]: unknown };
  const properties = root['properties'] as { steps: { additionalProperties: unknown } };
  properties.steps.additionalProperties = { type: 'object', title: 'Step' };
  const { step: _step, ...definitions } = root['$defs'] as Record<string, unknown>;
  return { ...root, $id: schemaId, $defs: definitions };
}
