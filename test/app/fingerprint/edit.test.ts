import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress } from '../../cli/test-io.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';

useQuickSandbox();

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const file = (name: string): string => join(cwd, 'runs/notes.sandbox', name);

const steps = `steps:
  note: { generate: { model: text-pro, prompt: "{{ word }}, \\"{{ tone }}\\"" } }
  title: { when: 'tone != "dry"', generate: { model: text-pro, prompt: "{{ word }}, {{ tone }}: a title" } }
`;

interface Written {
  readonly words: readonly string[];
  readonly tones: readonly string[];
}

/** Runs a pipeline with these values. @returns its totals, and its manifest */
async function run({ words, tones }: Written, ...flags: readonly string[]) {
  const list = (values: readonly string[]): string => values.map((value) => `    - ${value}`).join('\n');
  writeFileSync(
    join(cwd, 'notes.yaml'),
    `name: notes\nprices: { text-pro: { input: 1.23456, output: 9.87654 } }\nmatrix:\n  word:\n${list(words)}\n  tone:\n${list(tones)}\n${steps}`,
  );
  const args = ['run', 'notes.yaml', '--sandbox', '--json', ...flags];
  const { code, out, err } = await promptpress(args, { cwd });
  expect([0, 1, 4], err).toContain(code);
  const { slots, rows, files, cost, tokens, otherSlots, reasons } = JSON.parse(out) as Record<
    string,
    unknown
  >;
  return {
    totals: { slots, rows, files, cost, tokens: JSON.stringify(tokens), otherSlots, reasons },
    manifest: readFileSync(file('manifest.csv'), 'utf8'),
  };
}

const first: Written = { words: ['fox', 'owl', 'hare', '"a, b"'], tones: ['dry', 'warm', 'odd'] };

/** The manifest, written without what a run knows. */
async function writtenAnew(): Promise<string> {
  rmSync(file('manifest.csv'));
  const { code, err } = await promptpress(['manifest', join(cwd, 'runs/notes.sandbox')], { cwd });
  expect(code, err).toBe(0);
  return readFileSync(file('manifest.csv'), 'utf8');
}

describe('the manifest of a run after an edit of the matrix', () => {
  it('equals the one that the command writes for the same state', async () => {
    await run(first);
    for (const words of [
      ['fox', 'elk', 'hare', '"a, b"'],
      ['"a, b"', 'elk', 'hare'],
    ]) {
      const { manifest } = await run({ ...first, words });
      expect(manifest).toContain('elk');
      expect(manifest).toBe(await writtenAnew());
    }
  });

  it('is the same after a stopped run with failed jobs, and after these were retried', async () => {
    await run(first, '--max-submits', '15');
    const rest = await run(first, '--fault', 'text:400:at 2');
    expect(rest.totals.slots).toMatchObject({ failed: 1 });
    expect(rest.manifest).toBe(await writtenAnew());
    const again = await run(first, '--retry-failed');
    expect(again.totals.slots).toMatchObject({ failed: 0 });
    expect(again.manifest).toBe(await writtenAnew());
  });

  it('contains no row of an old manifest that somebody has edited', async () => {
    await run(first);
    writeFileSync(file('manifest.csv'), readFileSync(file('manifest.csv'), 'utf8').replace('hare', 'hart'));
    expect((await run({ ...first, words: ['fox', 'elk', 'hare'] })).manifest).not.toContain('hart');
  });

  it('equals that of a new directory after any sequence of edits', async () => {
    const word = fc.constantFrom(
      'fox',
      'owl',
      'hare',
      'elk',
      'a cat & a dog',
      '"a, b"',
      '"two\\nlines"',
      '7',
    );
    const written = fc.record({
      words: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
      tones: fc.uniqueArray(fc.constantFrom('dry', 'warm', 'odd'), { minLength: 1, maxLength: 2 }),
      /** It is stopped first, after so many submissions. */
      stop: fc.option(fc.nat(6), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 2, maxLength: 4 }), async (edits) => {
        for (const edit of edits) {
          if (edit.stop !== undefined) await run(edit, '--max-submits', String(edit.stop));
          const { manifest, totals } = await run(edit);
          expect(manifest).toBe(await writtenAnew());
          expect((await run(edit)).totals).toEqual(totals);
        }
      }),
      { numRuns: 5 },
    );
  });
});
