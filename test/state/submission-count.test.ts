import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Submissions } from '../../src/state/reader.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { readSubmissionCount } from '../../src/state/submission-count.ts';
import { freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { codeOf } from './refusals.ts';

async function submissions(directory: string): Promise<Submissions> {
  const state = openState(directory);
  try {
    return await state.reader.submissions();
  } finally {
    state.close();
  }
}

describe('the count of submissions beside the state', () => {
  it('is one line of fixed length, the same file from run to run, read by others too', async () => {
    const directory = freshFolder();
    for (const submits of [3, 80, 3]) {
      const state = openState(directory);
      state.commit({ records: [], attempts: [], submits });
      const seen = await openStateForReading(directory)?.submissions();
      expect(seen?.counted).toBe((await state.reader.submissions()).counted);
      state.countSubmissions();
      state.close();
    }
    expect(readFileSync(join(directory, 'submissions'), 'utf8')).toBe('0000000000000086\n');
    expect(await submissions(directory)).toEqual({ known: 86, counted: 86 });
    expect(await openStateForReading(directory)?.submissions()).toEqual({ known: 86, counted: 86 });
  });

  it('that an older state accepts is what the next submissions are added to', async () => {
    const directory = freshFolder();
    openState(directory).close();
    writeFileSync(join(directory, 'submissions'), '0000000000000005\n');
    const state = openState(directory);
    expect(await state.reader.submissions()).toEqual({ known: 0, counted: 5 });
    state.acceptMissing();
    state.commit({ records: [], attempts: [], submits: 2 });
    state.countSubmissions();
    state.close();
    expect(await submissions(directory)).toEqual({ known: 7, counted: 7 });
  });

  it('catches up with a state whose process was killed before it counted', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    state.commit({ records: [], attempts: [], submits: 5 });
    state.close();
    expect(readSubmissionCount(directory)).toBe(0);
    expect(await submissions(directory)).toEqual({ known: 5, counted: 5 });
  });

  it('begins again where it is missing, or was left without its number by a power cut', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    state.commit({ records: [], attempts: [], submits: 5 });
    state.close();
    const file = join(directory, 'submissions');
    for (const left of ['', '\0'.repeat(17)]) {
      writeFileSync(file, left);
      expect(await submissions(directory)).toEqual({ known: 5, counted: 5 });
    }
    rmSync(file);
    expect(await submissions(directory)).toEqual({ known: 5, counted: 5 });
  });

  it('is refused where it is something else', () => {
    for (const text of ['86\n', 'no number at all\n', `${'9'.repeat(17)}\n`, '0000000000000086\n\n']) {
      const directory = freshFolder();
      writeFileSync(join(directory, 'submissions'), text);
      expect(codeOf(() => openState(directory))).toBe('state.foreign');
      expect(codeOf(() => readSubmissionCount(directory))).toBe('state.foreign');
      expect(() => openState(directory)).toThrow(
        expect.objectContaining({
          message: `${join(directory, 'submissions')} is damaged: the number of submissions is not in it.`,
          hint: expect.stringMatching(/remove the damaged file .* restore this file from the same copy/s),
        }),
      );
    }
    const folder = freshFolder();
    mkdirSync(join(folder, 'submissions'));
    expect(codeOf(() => openState(folder))).toBe('directory.kind');
  });

  it.skipIf(platform() === 'win32')('is not written through a link', () => {
    const directory = freshFolder();
    const elsewhere = join(freshFolder(), 'kept');
    writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, join(directory, 'submissions'));
    expect(codeOf(() => openState(directory))).toBe('directory.link');
    expect(readFileSync(elsewhere, 'utf8')).toBe('');
  });

  /** A state is copied between any two steps of a run, with or without its log, and put in place of the last one. */
  it('reports every state that was copied before the last submission, and no other', async () => {
    const step = fc.constantFrom('commit', 'count', 'copy', 'copy without its log', 'result');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const directory = freshFolder();
        const copies: { readonly folder: string; readonly sent: number }[] = [];
        const state = openState(directory);
        let committed = 0;
        let sent = 0;
        for (const [n, what] of steps.entries()) {
          if (what === 'commit') {
            committed += 1;
            state.commit({ records: [jobRecord(`k${n}`, 'submitting')], attempts: [], submits: 1 });
          } else if (what === 'count') {
            state.countSubmissions();
            sent = committed;
          } else if (what === 'result') {
            state.setFact(`f${n}`, 'x');
          } else {
            const folder = freshFolder();
            const logged = what === 'copy';
            for (const name of ['state.db', ...(logged ? ['state.db-wal'] : [])])
              copyFileSync(join(directory, name), join(folder, name));
            copies.push({ folder, sent: logged ? committed : 0 });
          }
        }
        const count = join(directory, 'submissions');
        for (const { folder, sent: known } of copies) {
          cpSync(count, join(folder, 'submissions'));
          const found = await submissions(folder);
          expect(Math.max(0, found.counted - found.known)).toBe(Math.max(0, sent - known));
        }
        state.close();
        const whole = await submissions(directory);
        expect(whole).toEqual({ known: committed, counted: committed });
      }),
      { numRuns: 40 },
    );
  });
});
