import { Ajv2020 } from 'ajv/dist/2020.js';
import pipelineSchema from '../../../schemas/pipeline.schema.json' with { type: 'json' };
import { schemaNameOf, type ValidatedPart, validationSchema, validatorOptions } from './validation.ts';

const ajv = new Ajv2020({ ...validatorOptions, messages: false });
ajv.addSchema(validationSchema(pipelineSchema));

/** True where a part of a file keeps to the schema. In the build, code that ajv has written stands for this file. */
export const accepts = (part: ValidatedPart, json: unknown): boolean =>
  ajv.validate(schemaNameOf(part), json);
