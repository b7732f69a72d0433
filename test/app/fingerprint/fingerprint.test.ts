import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState } from '../../../src/state/state.ts';
import { fingerprintFact } from '../../../src/state/store.ts';
import { promptpress, type Said, testIo } from '../../cli/test-io.ts';
import { readManifest } from '../../rig/manifest.ts';
import { makePng } from '../../rig/png.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { jobRecord } from '../../state/records.ts';

useQuickSandbox();

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'promptpress-'));
  restore();
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const pipeline = `name: notes
matrix: { rows: words.csv, tone: [dry, warm] }
steps:
  note: { generate: { model: text-pro, prompt: "{{ word }}, {{ tone }}", images: [pic.png] } }
`;

const file = (name: string): string => join(cwd, name);
const state = (): string => file('runs/notes.sandbox');
const manifest = (): string => join(state(), 'manifest.csv');

/** The pipeline and its files as they were. */
function restore(): void {
  writeFileSync(file('notes.yaml'), pipeline);
  writeFileSync(file('words.csv'), 'word\nfox\nowl\n');
  writeFileSync(file('pic.png'), makePng(1));
}

let clock = Date.UTC(2026, 0, 1);
const run = async (...flags: readonly string[]): Promise<Said> =>
  await promptpress(['run', 'notes.yaml', '--sandbox', '--json', ...flags], {
    cwd,
    now: () => (clock += 1000),
  });

/** A run that goes through its plan writes its manifest anew, under the name of the one before. */
async function isRecognised(...flags: readonly string[]): Promise<boolean> {
  const before = inode();
  const { code, err } = await run(...flags);
  expect([0, 1], err).toContain(code);
  return before !== undefined && inode() === before;
}

function inode(): bigint | undefined {
  return statSync(manifest(), { bigint: true, throwIfNoEntry: false })?.ino;
}

const withState = (change: (store: ReturnType<typeof openState>) => void): void => {
  const store = openState(state());
  change(store);
  store.close();
};

/** Bytes of the same length in place, with the times as they were. */
function alter(path: string, from: string, to: string): void {
  const { atime, mtime } = statSync(path);
  const text = readFileSync(path, 'latin1');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to), 'latin1');
  utimesSync(path, atime, mtime);
}

interface Change {
  readonly apply: () => void;
  readonly flags?: readonly string[];
}

/** Each is one of the things that decide whether there is something to do. */
const changes: Readonly<Record<string, Change>> = {
  'the text of the pipeline': { apply: () => appendFileSync(file('notes.yaml'), '# edited\n') },
  'a prompt': { apply: () => writeFileSync(file('notes.yaml'), pipeline.replace('dry', 'wry')) },
  'a row, its length and times as before': { apply: () => alter(file('words.csv'), 'owl', 'elk') },
  'a row more': { apply: () => appendFileSync(file('words.csv'), 'cat\n') },
  'a table that another file takes the place of': {
    apply: () => {
      writeFileSync(file('new.csv'), 'word\nfox\nowl\n');
      renameSync(file('new.csv'), file('words.csv'));
    },
  },
  'an image, its length and times as before': {
    apply: () => {
      const { atime, mtime } = statSync(file('pic.png'));
      writeFileSync(file('pic.png'), makePng(2));
      utimesSync(file('pic.png'), atime, mtime);
    },
  },
  'an image behind a link': {
    apply: () => {
      writeFileSync(file('other.png'), makePng(1));
      rmSync(file('pic.png'));
      symlinkSync('other.png', file('pic.png'));
    },
  },
  'the kept copy of a table': {
    apply: () => {
      const [name = ''] = [...readFileSync(join(state(), 'run.json'), 'utf8').matchAll(/[0-9a-f]{64}/g)]
        .map(([hash]) => hash)
        .filter((hash) => statSync(join(state(), 'inputs', hash), { throwIfNoEntry: false }) !== undefined);
      rmSync(join(state(), 'inputs', name));
    },
  },
  '--limit': { apply: () => {}, flags: ['--limit', '3'] },
  '--filter': { apply: () => {}, flags: ['--filter', 'tone=dry'] },
  '--shard': { apply: () => {}, flags: ['--shard', '1/2'] },
  '--only': { apply: () => {}, flags: ['--only', 'note'] },
  '--retry-failed': { apply: () => {}, flags: ['--retry-failed'] },
  '--in-doubt hold': { apply: () => {}, flags: ['--in-doubt', 'hold'] },
  '--escape-formulas': { apply: () => {}, flags: ['--escape-formulas'] },
  '--relearn': { apply: () => {}, flags: ['--relearn'] },
  'a job of the state': {
    apply: () =>
      withState((store) => store.commit({ records: [jobRecord('0'.repeat(32), 'done')], attempts: [] })),
  },
  'what the state knows of a file': {
    apply: () =>
      withState((store) => store.rememberInputFile({ path: 'x.png', sha256: 'x', bytes: 1, mtimeMs: 1 })),
  },
  'a job, by a program that knows no fingerprint': {
    apply: () => {
      const database = openDatabase(join(state(), 'state.db'));
      database.exec(`UPDATE totals SET attempts = attempts + 1`);
      database.close();
    },
  },
  'the fingerprint, cut off': {
    apply: () =>
      withState((store) => store.setFact(fingerprintFact, (store.fact(fingerprintFact) ?? '').slice(0, 200))),
  },
  'the fingerprint of another release': {
    apply: () =>
      withState((store) =>
        store.setFact(
          fingerprintFact,
          (store.fact(fingerprintFact) ?? '').replace(/\\"version\\":\\"[^\\]+/, '\\"version\\":\\"0.0.9'),
        ),
      ),
  },
  'a field of the manifest, its length and times as before': {
    apply: () => alter(manifest(), 'fox', 'cat'),
  },
  'the manifest is gone': { apply: () => rmSync(manifest()) },
  'a link in place of the manifest': {
    apply: () => {
      renameSync(manifest(), file('kept.csv'));
      symlinkSync(file('kept.csv'), manifest());
    },
  },
};

describe('a run with nothing to do', () => {
  it('is recognised every time, and reports the same as a run that reads its plan', async () => {
    const works = await run();
    expect([works.code, works.err]).toEqual([0, expect.stringContaining('4 done')]);
    rmSync(manifest());
    const whole = await run();
    const bytes = readFileSync(manifest());
    expect(await isRecognised()).toBe(true);
    expect(await isRecognised()).toBe(true);
    const quick = await run();
    const plain = ({ code, out, err }: Said): readonly unknown[] => [
      code,
      out.replace(/"(startedAt|finishedAt|origin)":"[^"]+"/g, ''),
      err.replace(/127\.0\.0\.1:\d+|after [^.]+\./g, ''),
    ];
    expect(plain(quick)).toEqual(plain(whole));
    expect(readFileSync(manifest())).toEqual(bytes);
    const record = JSON.parse(readFileSync(join(state(), 'run.json'), 'utf8')) as Record<string, unknown>;
    expect(record).toMatchObject({ cells: 4, rows: 4, imageCount: 1, exitCode: 0 });
  });

  it.each(Object.entries(changes))('reads its plan after a change: %s', async (_name, change) => {
    await run();
    expect(await isRecognised()).toBe(true);
    change.apply();
    const before = inode();
    const { code } = await run(...(change.flags ?? []));
    // A link in a run directory is refused: nothing is written there.
    expect(code === 2 || inode() !== before).toBe(true);
  });

  it('is never recognised after a change, in any order of changes', async () => {
    await run();
    const names = fc.constantFrom(...Object.keys(changes).filter((name) => !name.includes('link')));
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 2 }), async (chosen) => {
        restore();
        await run();
        expect(await isRecognised()).toBe(true);
        for (const name of chosen) {
          restore();
          await run();
          changes[name]?.apply();
          expect(await isRecognised(...(changes[name]?.flags ?? [])), name).toBe(false);
        }
      }),
      { numRuns: 3 },
    );
  });

  it('is not recognised by the fingerprint of an older copy of the state', async () => {
    await run();
    cpSync(join(state(), 'state.db'), file('older.db'));
    appendFileSync(file('words.csv'), 'cat\n');
    await run();
    restore();
    cpSync(file('older.db'), join(state(), 'state.db'));
    expect(await isRecognised('--accept-older-state')).toBe(false);
  });

  it('is not recognised after a failed job until a complete run has changed nothing', async () => {
    const { code } = await run('--fault', 'text:400:at 1');
    expect(code).toBe(1);
    expect(await isRecognised()).toBe(false);
    expect(await isRecognised()).toBe(true);
    expect(await isRecognised('--retry-failed')).toBe(false);
  });
});

it('a run with nothing to do ends like any other run when it is interrupted', async () => {
  await run();
  const test = testIo({ cwd });
  test.interrupt('SIGTERM');
  const before = inode();
  expect(await program(['run', 'notes.yaml', '--sandbox', '--json'], test.io)).toBe(143);
  expect(JSON.parse(test.out())).toMatchObject({ exitCode: 143, end: { kind: 'interrupted' } });
  expect(inode()).toBe(before);
});

it('a run is not recognised while an order to remake jobs is open', async () => {
  await run();
  const { job: last = '' } = (await readManifest(manifest())).at(-1) ?? {};
  expect((await run('--limit', '1', '--redo', last)).code).toBe(0);
  expect(await isRecognised('--limit', '1')).toBe(false);
  expect((await run('--limit', '1', '--redo-cancel')).code).toBe(0);
  expect(await isRecognised('--limit', '1')).toBe(true);
});

describe('an up-to-date manifest', () => {
  const write = async (...flags: readonly string[]): Promise<boolean> => {
    const before = inode();
    const { code } = await promptpress(['manifest', state(), ...flags], { cwd });
    expect(code).toBe(0);
    return before !== undefined && inode() === before;
  };

  it('is kept, and its totals are reported', async () => {
    await run();
    const said = await promptpress(['manifest', state()], { cwd });
    expect(said.out).toMatch(/^runs\/notes\.sandbox\/manifest\.csv: 4 rows, \d with a file\n$/);
    expect(await write()).toBe(true);
    expect(await write('--all')).toBe(true);
  });

  it('is written again if its bytes or the wanted form differ', async () => {
    await run();
    expect(await write('--escape-formulas')).toBe(false);
    await run();
    alter(manifest(), 'fox', 'cat');
    expect(await write()).toBe(false);
    await run('--limit', '1');
    expect(await write()).toBe(true);
    expect(await write('--all')).toBe(false);
    await run();
    withState((store) => store.commit({ records: [jobRecord('0'.repeat(32), 'done')], attempts: [] }));
    expect(await write()).toBe(false);
  });
});
