import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { acceptsText } from '../../../schemas/accepts-text.ts';
import pipelineSchema from '../../../schemas/pipeline.schema.json' with { type: 'json' };
import { isStepKey } from '../../../src/pipeline/kinds.ts';
import type { accepts as acceptsFromSource } from '../../../src/pipeline/schema/accepts.ts';
import {
  schemaNameOf,
  type ValidatedPart,
  validationSchema,
  validatorOptions,
} from '../../../src/pipeline/schema/validation.ts';

const pipelines = new URL('../../../pipelines/', import.meta.url);
const files = [
  new URL('../whole-language.yaml', import.meta.url),
  ...readdirSync(pipelines)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => new URL(name, pipelines)),
];

interface Part {
  readonly part: ValidatedPart;
  readonly json: unknown;
}

/** A file, and each of its steps. */
const parts: readonly Part[] = files.flatMap((file): Part[] => {
  const json = parseYaml(readFileSync(file, 'utf8'), { merge: true }) as { steps: Record<string, object> };
  const steps = Object.values(json.steps).flatMap((step): Part[] =>
    Object.keys(step)
      .filter(isStepKey)
      .map((part) => ({ part, json: step })),
  );
  return [{ part: 'file', json }, ...steps];
});

/** As the build has it. */
const { accepts } = (await import(`data:text/javascript,${encodeURIComponent(acceptsText())}`)) as {
  accepts: typeof acceptsFromSource;
};

const ajv = new Ajv2020({ ...validatorOptions, allErrors: true });
ajv.addSchema(validationSchema(pipelineSchema));
const isValid = ({ part, json }: Part): boolean => ajv.getSchema(schemaNameOf(part))?.(json) === true;

it('the built validators accept every example and each of its steps', () => {
  expect(parts.length).toBeGreaterThan(40);
  for (const { part, json } of parts) expect(accepts(part, json), JSON.stringify(json)).toBe(true);
});

/** Ways to the values within a value. */
function* waysIn(value: unknown, way: readonly string[] = []): Generator<readonly string[]> {
  yield way;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* waysIn(member, [...way, name]);
}

const other = fc.oneof(
  fc.constantFrom(null, true, '', '-', '{{ x }}', '5/s', '5 s', '20m', 'fast', '😀'.repeat(60), [], {}, [[]]),
  fc.integer({ min: -2, max: 100 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 101, unit: 'grapheme' }),
);

/** A copy with another value in one place, a member too many, or one too few. */
function changed(
  json: unknown,
  way: readonly string[],
  value: unknown,
  kind: 'set' | 'add' | 'remove',
): unknown {
  const copy: unknown = structuredClone(json);
  if (way.length === 0) return value;
  let holder = copy as Record<string, unknown>;
  for (const name of way.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  const last = way.at(-1) ?? '';
  if (kind === 'remove') Reflect.deleteProperty(holder, last);
  else holder[kind === 'add' ? `${last}s` : last] = value;
  return copy;
}

it('the built validators accept exactly what ajv accepts, after any change', () => {
  let accepted = 0;
  let refused = 0;
  const change = fc.constantFrom(...parts).chain((one) =>
    fc.record({
      one: fc.constant(one),
      way: fc.constantFrom(...waysIn(one.json)),
      value: other,
      kind: fc.constantFrom('set' as const, 'add' as const, 'remove' as const),
    }),
  );
  fc.assert(
    fc.property(change, ({ one, way, value, kind }) => {
      const part = { part: one.part, json: changed(one.json, way, value, kind) };
      const valid = isValid(part);
      if (valid) accepted += 1;
      else refused += 1;
      expect(accepts(part.part, part.json)).toBe(valid);
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(100);
});
