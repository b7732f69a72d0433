import { Context, evalToken, Liquid, Tokenizer, toValueSync } from 'liquidjs';
import { describe, expect, test } from 'vitest';
import { continuedOffset } from '../../../src/pipeline/templates/token-override.ts';
import { render } from '../liquid-rig.ts';

describe('offset: continue of a loop', () => {
  const token = new Tokenizer('continue').readValueOrThrow();
  const offset = (before: unknown): unknown =>
    toValueSync(
      evalToken(
        continuedOffset(token),
        new Context({ continue: before }, undefined, {}, { liquid: new Liquid() }),
      ) as never,
    );

  test('continues where the previous loop ended', () => {
    expect(offset(3)).toBe(3);
    expect(
      render(
        '{% for i in (1..5) limit: 2 %}{{ i }}{% endfor %}-{% for i in (1..5) offset: continue %}{{ i }}{% endfor %}',
      ),
    ).toBe('12-345');
  });

  test('skips nothing without a previous loop, however often the loop is rendered', () => {
    const loop = '{% for i in (1..3) offset: continue %}{{ i }}{% endfor %}';
    expect(render(`{% for j in (1..4) %}${loop}{% endfor %}`)).toBe('123123123123');
  });

  test.each([{}, '[object Object]10', '[object Object]101010'])(
    'leaves no text that grows with each rendering: after %j',
    (before) => {
      expect(offset(before)).toEqual({});
    },
  );
});
