import { purseSchema } from './limits/purse.ts';
import { sharesSchema } from './limits/shares-schema.ts';
import type { EngineSchema } from './postgres/make-tables.ts';
import { lacksSchema } from './slices/lacks.ts';
import { redosSchema } from './state/redos.ts';
import { stateSchema } from './state/schema.ts';

/** The tables and functions of an engine. Versions 1 to 7 were used before 0.1.0. */
export const engineSchema: EngineSchema = {
  version: 8,
  sql: stateSchema + purseSchema + sharesSchema + redosSchema + lacksSchema,
};
