import {
  copyFileSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Submissions } from '../../src/state/reader.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { openSubmissionCount, readSubmissionCount } from '../../src/state/submission-count.ts';
import { diskCalls, replaceFs, systemError } from '../rig/replace-fs.ts';
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
  it('is one line of fixed length, in the same file for all runs, and can be read by others', async () => {
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

  it('that an older state accepts is the base of the next submissions', async () => {
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

  it('starts again after a power cut that left no number in it', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    state.commit({ records: [], attempts: [], submits: 5 });
    state.close();
    const file = join(directory, 'submissions');
    for (const left of ['', '\0'.repeat(17)]) {
      writeFileSync(file, left);
      expect(await submissions(directory)).toEqual({ known: 5, counted: 5 });
    }
  });

  it('that is gone beside a state with submissions is missed until the user says how to continue', async () => {
    const directory = freshFolder();
    openState(directory).close();
    rmSync(join(directory, 'submissions'));
    expect(await submissions(directory)).toEqual({ known: 0, counted: 0 });
    const state = openState(directory);
    state.commit({ records: [], attempts: [], submits: 5 });
    state.close();
    rmSync(join(directory, 'submissions'));
    expect(await openStateForReading(directory)?.submissions()).toEqual({
      known: 5,
      counted: 0,
      isUncounted: true,
    });
    // The file is made anew, and the next run misses it all the same.
    for (let n = 0; n < 2; n += 1)
      expect(await submissions(directory)).toEqual({ known: 5, counted: 5, isUncounted: true });
    const accepting = openState(directory);
    accepting.acceptMissing();
    accepting.close();
    expect(await submissions(directory)).toEqual({ known: 5, counted: 5 });
  });

  it('is refused if it is something else', () => {
    for (const text of ['86\n', 'no number at all\n', `${'9'.repeat(17)}\n`, '0000000000000086\n\n']) {
      const directory = freshFolder();
      writeFileSync(join(directory, 'submissions'), text);
      expect(codeOf(() => openState(directory))).toBe('state.foreign');
      expect(codeOf(() => readSubmissionCount(directory))).toBe('state.foreign');
      expect(() => openState(directory)).toThrow(
        expect.objectContaining({
          message: `${join(directory, 'submissions')} is damaged: it does not contain the number of submissions.`,
          hint: expect.stringMatching(/remove the damaged file .* restore this file from the same copy/s),
        }),
      );
    }
    const folder = freshFolder();
    mkdirSync(join(folder, 'submissions'));
    expect(codeOf(() => openState(folder))).toBe('directory.kind');
  });

  it('is readable for its owner alone, only increases, and is closed once', () => {
    const directory = freshFolder();
    const file = join(directory, 'submissions');
    const count = openSubmissionCount(directory);
    expect([count.file, count.value, statSync(file).size]).toEqual([file, 0, 0]);
    expect(platform() === 'win32' ? 0o600 : statSync(file).mode & 0o777).toBe(0o600);
    const said = [1, 5, 5, 4, 0, 12, Number.MAX_SAFE_INTEGER].map((value) => {
      count.raise(value);
      return [count.value, readFileSync(file, 'utf8')];
    });
    const line = (value: number): [number, string] => [value, `${String(value).padStart(16, '0')}\n`];
    expect(said).toEqual([1, 5, 5, 5, 5, 12, Number.MAX_SAFE_INTEGER].map(line));
    count.close();
    count.close();
    expect(readSubmissionCount(directory)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('has a durable name once it was made', () => {
    const directory = freshFolder();
    const calls = diskCalls((path) => path.slice(directory.length));
    openSubmissionCount(directory).close();
    expect(calls).toContain('sync ');
    calls.length = 0;
    openSubmissionCount(directory).close();
    expect(calls).not.toContain('sync ');
  });

  it('stays unchanged if it cannot be written, and is written the next time', () => {
    const directory = freshFolder();
    const count = openSubmissionCount(directory);
    count.raise(3);
    const undo = replaceFs({
      writeSync: () => {
        throw systemError('EIO', 'write');
      },
    });
    expect(() => count.raise(4)).toThrow(expect.objectContaining({ code: 'EIO' }));
    undo();
    expect(count.value).toBe(3);
    count.raise(4);
    expect(readSubmissionCount(directory)).toBe(4);
    count.close();
  });

  it.runIf(platform() === 'linux')('is kept open while it is written, and by nobody after that', () => {
    const directory = freshFolder();
    const file = join(directory, 'submissions');
    const handles = (): number =>
      readdirSync('/proc/self/fd').filter((name) => {
        try {
          return readlinkSync(join('/proc/self/fd', name)) === file;
        } catch {
          // The handle of the listing itself.
          return false;
        }
      }).length;
    const count = openSubmissionCount(directory);
    expect(handles()).toBe(1);
    for (let n = 0; n < 3; n += 1) readSubmissionCount(directory);
    expect(handles()).toBe(1);
    count.close();
    expect(handles()).toBe(0);
    writeFileSync(file, 'damaged');
    expect(codeOf(() => openSubmissionCount(directory))).toBe('state.foreign');
    expect(codeOf(() => readSubmissionCount(directory))).toBe('state.foreign');
    expect(handles()).toBe(0);
  });

  it('is 0 if there is no file, and reading makes none', () => {
    const directory = freshFolder();
    expect(readSubmissionCount(directory)).toBe(0);
    expect(readSubmissionCount(join(directory, 'missing'))).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.skipIf(platform() === 'win32')('with a second name is read, but not written', () => {
    const directory = freshFolder();
    const other = join(freshFolder(), 'kept');
    writeFileSync(other, '0000000000000007\n');
    linkSync(other, join(directory, 'submissions'));
    expect(readSubmissionCount(directory)).toBe(7);
    expect(codeOf(() => openSubmissionCount(directory))).toBe('directory.link');
    // A name that comes between the look and the opening is seen by the open file.
    const [plainLstat, plainOpen] = [lstatSync, openSync];
    const late = freshFolder();
    writeFileSync(join(late, 'submissions'), '0000000000000007\n');
    replaceFs({
      lstatSync: (path: string) => plainLstat(path),
      openSync: (path: string, flags: number) => {
        linkSync(path, `${path}.copy`);
        return plainOpen(path, flags);
      },
    });
    expect(codeOf(() => openSubmissionCount(late))).toBe('directory.link');
    expect(readFileSync(join(late, 'submissions'), 'utf8')).toBe('0000000000000007\n');
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
  it('detects every state that was copied before the last submission, and no other', async () => {
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
      { numRuns: 20 },
    );
  });
});
