import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { stepKeys } from '../../../src/pipeline/kinds.ts';
import { keysOfStep } from '../../../src/pipeline/schema/schema.ts';
import { defaults } from '../../../src/pipeline/settings/read.ts';

interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

const repository = new URL('../../../', import.meta.url);
const schema = JSON.parse(
  readFileSync(new URL('schemas/pipeline.schema.json', repository), 'utf8'),
) as Schema;
const resolve = (part: Schema): Schema =>
  part.$ref === undefined ? part : { ...schema.$defs?.[part.$ref.replace('#/$defs/', '')], ...part };

/** Every property of the schema by its way through it. */
function* properties(part: Schema, way = ''): Generator<[string, Schema]> {
  for (const [name, property] of Object.entries(part.properties ?? {}))
    yield [`${way}/${name}`, resolve(property)];
  for (const [keyword, value] of Object.entries(part)) {
    if (keyword === 'default' || keyword === 'examples' || typeof value !== 'object' || value === null)
      continue;
    yield* properties(value as Schema, `${way}/${keyword}`);
  }
}

describe('the schema', () => {
  it('is a JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('explains every key with a title and a description', () => {
    const all = [...properties(schema)];
    expect(all.length).toBeGreaterThan(120);
    const bare = all.filter(([, { title, description }]) => !title || !description).map(([way]) => way);
    expect(bare).toEqual([]);
  });

  it('has a step for every kind, each with its kind key', () => {
    for (const key of stepKeys) expect(keysOfStep(key)).toContain(key);
    const steps = ((schema.$defs?.['step']?.['oneOf'] ?? []) as Schema[]).map((one) => one.$ref);
    expect(steps).toEqual(stepKeys.map((key) => `#/$defs/${key}Step`));
  });

  it('accepts the example of the design like an editor', () => {
    const text = readFileSync(new URL('../whole-language.yaml', import.meta.url), 'utf8');
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
    validate(parseYaml(text));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('states the actual defaults', () => {
    const at = (way: string): unknown => {
      let part = schema;
      for (const name of way.split('/')) part = resolve(part.properties?.[name] ?? part.$defs?.[name] ?? {});
      return part.default;
    };
    const stated = {
      service: Object.fromEntries(Object.keys(defaults.service).map((name) => [name, at(`service/${name}`)])),
      limits: Object.fromEntries(Object.keys(defaults.limits).map((name) => [name, at(`limits/${name}`)])),
      retry: Object.fromEntries(Object.keys(defaults.retry).map((name) => [name, at(`retry/${name}`)])),
      timeouts: Object.fromEntries(
        Object.keys(defaults.timeouts).map((name) => [name, at(`timeouts/${name}`)]),
      ),
      poll: Object.fromEntries(Object.keys(defaults.poll).map((name) => [name, at(`poll/${name}`)])),
      matrix: { repeat: at('matrix/repeat') },
      sample: { seed: at('matrix/sample/seed') },
      axis: { step: at('axis/step') },
      step: { keep: at('keep'), max: at('max') },
      best: { top: at('bestStep/best/top') },
      generate: { rounds: at('generateStep/generate/rounds') },
      mask: { invert: at('mask/invert') },
      keepReplies: at('keepReplies'),
      failures: { accept: at('failures/accept') },
    };
    expect(stated).toEqual(defaults);
    expect(at('names/preset')).toBe(defaults.service.names);
  });

  it('states no other default', () => {
    const ways = [...properties(schema)]
      .filter(([, part]) => 'default' in part)
      .map(([way]) => way.split('/').at(-1));
    const known = Object.entries(defaults).flatMap(([name, block]) =>
      typeof block === 'string' ? [name] : Object.keys(block),
    );
    // Fields of text steps that are absent unless they are declared: this is what is done without them.
    const ofTheService = ['search', 'maps', 'code', 'stream', 'reply', 'preset'];
    expect(
      ways.filter((name) => !known.includes(name as string) && !ofTheService.includes(name as string)),
    ).toEqual([]);
  });
});
