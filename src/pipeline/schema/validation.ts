import type { Options } from 'ajv/dist/2020.js';
import type { StepKey } from '../kinds.ts';

/** A part that is validated separately: the whole file without the contents of its steps, or one step. */
export type ValidatedPart = 'file' | StepKey;

const schemaId = 'urn:promptpress:validation';

/** Returns ajv's name for the schema of a part. */
export const schemaNameOf = (part: ValidatedPart): string =>
  part === 'file' ? schemaId : `${schemaId}#/$defs/${part}Step`;

/** Ajv options that all validators of the language share. */
export const validatorOptions = {
  discriminator: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
} as const satisfies Options;

/**
 * Returns the language's schema without the contents of steps. Each step is validated by the schema of its kind, because a validator that
 * tries all kinds also reports the errors of the others.
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
