import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityText, type RunIdentity } from '../../../src/app/fingerprint/fingerprint.ts';

const text = `name: notes
matrix: { tone: [dry, warm] }
steps: { note: { generate: { model: text-pro, prompt: "{{ tone }}" } } }
`;

const identity: RunIdentity = {
  path: '/p/notes.yaml',
  text,
  set: [{ axis: 'tone', values: ['dry'], quoted: [false] }] as unknown as NonNullable<RunIdentity['set']>,
  service: { id: 'https://images.test', origin: 'https://images.test' },
  filesRoot: '/p',
  selection: {
    limit: 3,
    filters: [{ axis: 'tone', value: 'dry' }],
    shard: { index: 1, of: 2 },
    only: ['note'],
  },
};

/** The paths of everything in it that is no object. */
const places = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, part]) => places(part, [...path, name]))
    : [path];

function changed(
  value: unknown,
  [name, ...path]: readonly string[],
  to: (before: unknown) => unknown,
): unknown {
  if (name === undefined) return to(value);
  const part = (value as Record<string, unknown>)[name];
  const next = changed(part, path, to);
  return Array.isArray(value)
    ? value.map((each, at) => (String(at) === name ? next : each))
    : { ...(value as object), [name]: next };
}

const other = (before: unknown): unknown =>
  typeof before === 'number' ? before + 1 : typeof before === 'boolean' ? !before : `${String(before)}x`;

describe('the identity of a run', () => {
  it('changes with every single part of it', () => {
    const whole = identityText(identity);
    expect(places(identity).length).toBeGreaterThan(10);
    for (const path of places(identity))
      expect(identityText(changed(identity, path, other) as RunIdentity), path.join('.')).not.toBe(whole);
    for (const part of ['set', 'selection'] as const)
      expect(identityText({ ...identity, [part]: part === 'set' ? [] : {} })).not.toBe(whole);
  });

  it('changes with every change of the text', () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 3 }), (at, more) => {
        const edited = `${text.slice(0, at)}${more}${text.slice(at)}`;
        expect(identityText({ ...identity, text: edited })).not.toBe(identityText(identity));
      }),
    );
  });
});
