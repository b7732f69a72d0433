import { isStepKind } from './kinds.ts';
import { configurationKeys } from './native-keys.ts';
import { nearest, suggestion } from './near.ts';
import type { StepKind } from './pipeline.ts';
import { keysOfStep } from './schema.ts';

/** What to do about a key that a mapping of the file does not have: many are right, and stand in the wrong place. */
export function hintForKey(instancePath: string, key: string, known: readonly string[]): string {
  const kind = instancePath.slice(1);
  const misplaced = isStepKind(kind) ? misplacedIn(kind, key, known) : undefined;
  return misplaced ?? suggestion(key, known, 'keys here');
}

function misplacedIn(kind: StepKind, key: string, known: readonly string[]): string | undefined {
  if (key !== kind && keysOfStep(kind).includes(key)) return `It is a key of the step, beside ${kind}.`;
  if (kind === 'generate' && configurationKeys.includes(key)) return `Write generationConfig: { ${key}: … }.`;
  if (kind !== 'chat') return undefined;
  if (key === 'responseSchema' || key === 'responseJsonSchema')
    return 'chat says it with response_format: { type: json_schema, json_schema: { name: answer, schema: … } }.';
  // One of OpenAI's many fields, as a rule: what is no slip of the pen is meant.
  return nearest(key, known) === undefined
    ? `What else the service takes stands in extra, beside chat: extra: { ${key}: … }.`
    : undefined;
}
