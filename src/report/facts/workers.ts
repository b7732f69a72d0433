import type { Printed } from './json-outputs.generated.ts';
/** How the workers of a run on an engine are doing (schemas/status.schema.json). */
export type WorkersStatus = NonNullable<Printed<'status'>['engine']>;
