import { Ajv2020 } from 'ajv/dist/2020.js';
import pipelineSchema from '../../../schemas/pipeline.schema.json' with { type: 'json' };
import { schemaNameOf, type ValidatedPart, validationSchema, validatorOptions } from './validation.ts';

const ajv = new Ajv2020({ ...validatorOptions, messages: false });
ajv.addSchema(validationSchema(pipelineSchema));

/** Whether a part of a file fits the schema. In the build, code written by ajv replaces this file. */
export const accepts = (part: ValidatedPart, json: unknown): boolean =>
  ajv.validate(schemaNameOf(part), json);
