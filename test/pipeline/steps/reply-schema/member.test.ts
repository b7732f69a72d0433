import { describe, expect, it } from 'vitest';
import { schemaMember } from '../../../../src/pipeline/steps/reply-schema/member.ts';
import type { Value } from '../../../../src/pipeline/values/value.ts';

const schema: Value = {
  type: 'OBJECT',
  properties: {
    best: { type: 'INTEGER' },
    who: { type: ['string', 'null'] },
    frames: { type: 'ARRAY', items: { $ref: '#/$defs/frame' } },
    open: { type: 'object', properties: { a: {} }, additionalProperties: true },
    bare: { type: 'object' },
    either: { anyOf: [{ $ref: '#/$defs/frame' }, { type: 'object', properties: { b: { type: 'string' } } }] },
    made: '{{ other }}',
    loop: { $ref: '#/properties/loop' },
    all: { allOf: [{ properties: { a: {} } }] },
    size: { type: 'object', properties: { w: { type: 'number' } } },
  },
  $defs: { frame: { type: 'object', properties: { score: { type: 'number' } }, nullable: true } },
};

describe('a member of a reply', () => {
  it.each([
    ['', 'object'],
    ['best', 'scalar'],
    ['who', 'scalar'],
    ['frames', 'array'],
    ['frames.size', 'scalar'],
    ['frames.0', 'object'],
    ['frames.first.score', 'scalar'],
    ['either', 'object'],
    ['either.b', 'scalar'],
    ['size.w', 'scalar'],
  ])('is found: %s', (path, shape) => {
    expect(schemaMember(schema, path.split('.').filter(Boolean))).toEqual({ kind: 'found', shape });
  });

  it.each([
    ['bets', 0],
    ['best.x', 1],
    ['frames.score', 1],
    ['frames.0.scor', 2],
    ['either.c', 1],
    ['size.h', 1],
  ])('is missing: %s', (path, depth) => {
    expect(schemaMember(schema, path.split('.'))).toMatchObject({ kind: 'missing', depth });
  });

  it.each(['who.size', 'open.b', 'bare.b', 'made', 'made.x', 'loop', 'loop.x', 'all.b', 'open.size'])(
    'is left open: %s',
    (path) => {
      expect(schemaMember(schema, path.split('.')).kind).toBe('unknown');
    },
  );
});
