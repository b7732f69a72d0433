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
  readonly steps?: string;
}

/** Runs a pipeline with these values. @returns its totals, and how many cells it has looked at */
async function run({ words, tones, ...more }: Written, ...flags: readonly string[]) {
  const list = (values: readonly string[]): string => values.map((value) => `    - ${value}`).join('\n');
  writeFileSync(
    join(cwd, 'notes.yaml'),
    `name: notes\nprices: { text-pro: { input: 1.23456, output: 9.87654 } }\nmatrix:\n  word:\n${list(words)}\n  tone:\n${list(tones)}\n${more.steps ?? steps}`,
  );
  rmSync(file('run.log'), { force: true });
  const args = ['run', 'notes.yaml', '--sandbox', '--json', '--log-level', 'debug', ...flags];
  const { code, out, err } = await promptpress(args, { cwd });
  expect([0, 1, 4], err).toContain(code);
  const { slots, rows, files, cost, tokens, otherSlots, reasons } = JSON.parse(out) as Record<
    string,
    unknown
  >;
  return {
    totals: { slots, rows, files, cost, tokens: JSON.stringify(tokens), otherSlots, reasons },
    looked: readFileSync(file('run.log'), 'utf8').match(/"cell:open"/g)?.length ?? 0,
    manifest: readFileSync(file('manifest.csv'), 'utf8'),
  };
}

const first: Written = { words: ['fox', 'owl', 'hare', '"a, b"'], tones: ['dry', 'warm', 'odd'] };

/** The same once more, each cell looked at. */
async function inFull(written: Written, ...flags: readonly string[]): ReturnType<typeof run> {
  rmSync(file('manifest.csv'), { force: true });
  rmSync(file('settled.cells'), { force: true });
  return await run(written, ...flags);
}

describe('a run after an edit of the matrix', () => {
  it('looks at the cells with other values alone, and writes what a run would write that looks at all', async () => {
    await run(first);
    const edited = { ...first, words: ['fox', 'elk', 'hare', '"a, b"'] };
    const quick = await run(edited);
    expect(quick.looked).toBe(3);
    expect(quick.manifest).toContain('elk');
    const whole = await inFull(edited);
    expect(whole.looked).toBe(12);
    expect(quick.manifest).toBe(whole.manifest);
    expect(quick.totals).toEqual(whole.totals);
    expect((await run(edited)).looked).toBe(0);
  });

  it('looks at all cells after an edit of a step', async () => {
    await run(first);
    const edited = { ...first, steps: steps.replace('a title', 'the title') };
    expect((await run(edited)).looked).toBe(12);
  });

  it('looks at a cell again in which something was left to do', async () => {
    await run(first, '--max-submits', '0');
    expect((await run(first)).looked).toBe(12);
    const edited = { ...first, words: ['elk', ...first.words.slice(1)] };
    const stopped = await run(edited, '--max-submits', '0');
    expect(stopped.looked).toBeLessThanOrEqual(3);
    const rest = await run(edited);
    expect(rest.looked).toBe(3);
    expect(rest.manifest).toBe((await inFull(edited)).manifest);
  });

  it('looks at what is left alone after a run that was stopped, or in which jobs have failed', async () => {
    const stopped = await run(first, '--max-submits', '15');
    const rest = await run(first, '--fault', 'text:400:at 2');
    expect(stopped.looked).toBe(12);
    expect(rest.looked).toBeLessThan(8);
    expect(rest.totals.slots).toMatchObject({ failed: 1 });
    const same = await run(first);
    expect(same.looked).toBe(1);
    expect(same.manifest).toBe((await inFull(first)).manifest);
    const again = await run(first, '--retry-failed');
    expect(again.looked).toBe(1);
    expect(again.totals.slots).toMatchObject({ failed: 0 });
    const whole = await inFull(first);
    expect(again.manifest).toBe(whole.manifest);
    expect(again.totals).toEqual(whole.totals);
    expect((await run(first)).looked).toBe(0);
  });

  it('shows the account of a job once, where an edited cell asks for what another cell asked for', async () => {
    await run(first);
    const edited = { ...first, words: ['"a, b"', ...first.words.slice(1)] };
    const quick = await run(edited);
    const whole = await inFull(edited);
    expect(quick.manifest).toBe(whole.manifest);
    expect(quick.totals).toEqual(whole.totals);
  });

  it('copies no row of a manifest that somebody has edited', async () => {
    await run(first);
    writeFileSync(file('manifest.csv'), readFileSync(file('manifest.csv'), 'utf8').replace('hare', 'hart'));
    const edited = { ...first, words: ['fox', 'elk', 'hare', '"a, b"'] };
    expect((await run(edited)).manifest).not.toContain('hart');
  });

  it('writes the same whatever is edited, again and again', async () => {
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
          const quick = await run(edit);
          const whole = await inFull(edit);
          expect(quick.manifest).toBe(whole.manifest);
          expect(quick.totals).toEqual(whole.totals);
        }
      }),
      { numRuns: 5 },
    );
  });
});
