import { limitsSchema } from './limits/schema.ts';
import { lacksSchema } from './slices/lacks.ts';
import { belowDoubtSchema, liveSchema, slicesSchema, timedOutSchema } from './slices/schema.ts';
import { redosSchema } from './state/redos.ts';
import { stateSchema } from './state/schema.ts';
import { heardTextsSchema } from './state/turn-functions.ts';

/** What leads to version 1, 2, … of an engine's tables. Entries are never changed once they are released, only added. */
export const migrations: readonly string[] = [
  stateSchema + slicesSchema + limitsSchema,
  timedOutSchema,
  liveSchema,
  redosSchema,
  heardTextsSchema,
  belowDoubtSchema,
  lacksSchema,
];
