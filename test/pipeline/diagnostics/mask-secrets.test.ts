import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../../src/pipeline/diagnostics/format.ts';
import { maskSecrets } from '../../../src/pipeline/diagnostics/mask-secrets.ts';
import { parse } from '../diagnose.ts';

const key = 'q9Zk-3Xw_veryPrivate';
const steps = 'steps: { grid: { imagine: a fox } }\n';

describe('a literal key', () => {
  it.each([
    ['plain', `service: { apiKey: ${key}, sped: x }`],
    ['on a line of its own', `service:\n  apiKey: ${key} # mine\n  sped: x`],
    ['quoted', `service: { apiKey: "${key}", sped: x }`],
    ['as a default', `service: { apiKey: "\${KEY:-${key}}", sped: x }`],
    ['folded over lines', `service:\n  apiKey: >-\n    ${key}\n    ${key}\n  sped: x`],
    ['behind an alias', `description: &k ${key}\nservice: { apiKey: *k, sped: x }`],
    ['under a mistyped key', `service: { apikey: ${key} }`],
    ['under a key written otherwise', `service: { api_key: "${key}", sped: x }`],
    ['in broken YAML', `service: { apiKey: ${key}, sped: x`],
    ['in broken YAML, as JSON', `service: { "apiKey": "${key}", sped: [ }`],
    ['twice', `service: { apiKey: ${key}, apiKey: ${key} }`],
    ['as a number', 'service: { apiKey: 99887766554433221100 }'],
    ['in the address', `service: { baseUrl: "https://user:${key}@a.example" }`],
    ['in a header', `steps: { a: { imagine: x, kep: 1, extra: { Authorization: Bearer ${key} } } }`],
    ['in a value that a hint repeats', `matrix: { a: sk-${key} }`],
    ['in a name that a hint repeats', `matrix: { grid_sk-${key}: 1, grid_sk-${key}: 2 }`],
    [
      'in a name that another is like',
      `steps: { grid_sk-${key}: { imagine: x }, b: { from: grid_sk-${key}x, imagine: y } }`,
    ],
    ['of the usual shape', `steps: { a: { imagine: x, kep: sk-${key} } }`],
  ])('is never shown: %s', async (_how, text) => {
    const source = text.includes('steps:') ? `name: t\n${text}\n` : `name: t\n${text}\n${steps}`;
    const { diagnostics } = await parse(source);
    expect(diagnostics.length).toBeGreaterThan(0);
    const shown = JSON.stringify(diagnostics) + diagnostics.map((one) => formatDiagnostic(one)).join('\n');
    expect(shown).not.toContain(key);
    expect(shown).not.toContain('99887766554433221100');
  });

  it('is reported at its position, replaced by stars', async () => {
    const { diagnostics } = await parse(`name: t\nservice: { apiKey: ${key}, speed: fast }\n${steps}`);
    expect(diagnostics).toHaveLength(1);
    const [found] = diagnostics;
    expect(found).toMatchObject({ code: 'service.literal-key', line: 2, column: 20, length: key.length });
    expect(found?.sourceLine).toBe(`service: { apiKey: ${'*'.repeat(key.length)}, speed: fast }`);
  });

  it('is not seen in a word that ends as it begins', () => {
    for (const text of ['desk-with-a-lamp-on-it', 'task-of-the-first-night', '1sk-2345678901234'])
      expect(maskSecrets(text)).toBe(text);
    for (const before of ['', '-', '"', 'ä', ' '])
      expect(maskSecrets(`${before}sk-${key}`)).toBe(before + '*'.repeat(key.length + 3));
    expect(maskSecrets(`grid_sk-${key}`)).toBe(`grid${'*'.repeat(key.length + 4)}`);
  });

  it('is not reported for a variable', async () => {
    const { diagnostics } = await parse(`name: t\nservice: { apiKey: "\${MY_KEY}", sped: fast }\n${steps}`);
    expect(diagnostics.map(({ sourceLine }) => sourceLine)).toEqual([
      'service: { apiKey: "${MY_KEY}", sped: fast }',
    ]);
  });
});
