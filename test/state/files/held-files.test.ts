import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkHeld, heldFile } from '../../../src/state/files/held-files.ts';
import { acquireLock, type Lock } from '../../../src/state/lock/lock.ts';
import { openState } from '../../../src/state/state.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { drivers, freshFolder } from '../places.ts';
import { jobRecord } from '../records.ts';
import { codeOf } from '../refusals.ts';

const ways = {
  removed: (file: string) => rmSync(file),
  'replaced by a copy': (file: string) => {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  },
  'removed and made again': (file: string) => {
    rmSync(file);
    writeFileSync(file, '');
  },
} as const;

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'files in use, with %s',
  (_, driver) => {
    const open = (): { directory: string; lock: Lock; state: StateStore } => {
      const directory = freshFolder();
      const lock = acquireLock(directory, { pid: process.pid, host: 'h', startedAt: '' }, { driver });
      return { directory, lock, state: openState(directory, { driver, lock }) };
    };
    const writes = (state: StateStore): readonly (() => void)[] => [
      () => state.commit({ records: [jobRecord('a', 'submitting')], attempts: [] }),
      () => state.setFact('a', 'b'),
      () => state.rememberInputFile({ path: 'a.csv', sha256: '', bytes: 1, mtimeMs: 1 }),
    ];

    it.each(
      ['lock', 'state.db', 'state.db-wal', 'submissions'].flatMap((name) =>
        (Object.keys(ways) as (keyof typeof ways)[]).map((way) => [name, way] as const),
      ),
    )('%s %s: nothing more is written', (name, way) => {
      const { directory, lock, state } = open();
      expect(writes(state).map(codeOf)).toEqual(['done', 'done', 'done']);
      ways[way](join(directory, name));
      expect(writes(state).map(codeOf)).toEqual(Array(3).fill('state.replaced'));
      expect(codeOf(() => lock.check())).toBe(name === 'lock' ? 'state.replaced' : 'done');
      state.close();
      lock.release();
    });

    it('stay in use while they grow, are folded and are read by others', () => {
      const { directory, lock, state } = open();
      for (let n = 0; n < 3; n++) {
        expect(writes(state).map(codeOf)).toEqual(['done', 'done', 'done']);
        const reader = openState(directory, { driver });
        reader.close();
      }
      state.close();
      lock.release();
    });

    it('keep the name of another owner', () => {
      const { directory, lock, state } = open();
      state.close();
      const file = join(directory, 'lock.json');
      const other = { pid: 7, host: 'h', startedAt: '', bootId: 'b', processStart: '1' };
      writeFileSync(file, JSON.stringify(other));
      lock.release();
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(other);
    });
  },
);

describe('a held file', () => {
  const made = (...names: readonly string[]): string[] => {
    const folder = freshFolder();
    return names.map((name) => {
      const file = join(folder, name);
      writeFileSync(file, name);
      return file;
    });
  };

  it('is identified by its device and its inode, as exactly as the system gives them', () => {
    const [file = ''] = made('a');
    const { dev, ino } = statSync(file, { bigint: true });
    expect(heldFile(file)).toEqual({ path: file, device: dev, inode: ino });
  });

  it('stays the same after changes of its content and of other files', () => {
    const files = made('a', 'b');
    const held = files.map(heldFile);
    for (const file of files) appendFileSync(file, 'more');
    made('c');
    expect(codeOf(() => checkHeld(held))).toBe('done');
    expect(codeOf(() => checkHeld([]))).toBe('done');
  });

  it.each([0, 1, 2])('differs after it was replaced, whichever of several it is: %i', (at) => {
    const files = made('a', 'b', 'c');
    const held = files.map(heldFile);
    const file = files[at] ?? '';
    renameSync(made('d')[0] ?? '', file);
    expect(() => checkHeld(held)).toThrow(
      expect.objectContaining({
        code: 'state.replaced',
        message: expect.stringContaining(
          `${basename(file)} in ${dirname(file)} was removed or replaced`,
        ) as string,
        hint: expect.stringContaining('the same command again') as string,
      }),
    );
  });

  it('differs with the same inode on another device, and with another inode on the same device', () => {
    const [file = ''] = made('a');
    const held = heldFile(file);
    expect(codeOf(() => checkHeld([held]))).toBe('done');
    expect(codeOf(() => checkHeld([{ ...held, device: held.device + 1n }]))).toBe('state.replaced');
    expect(codeOf(() => checkHeld([{ ...held, inode: held.inode + 1n }]))).toBe('state.replaced');
  });

  it('is gone if its name leads nowhere, and a missing file cannot be held', () => {
    const [file = ''] = made('a');
    const held = heldFile(file);
    rmSync(file);
    expect(codeOf(() => checkHeld([held]))).toBe('state.replaced');
    expect(codeOf(() => heldFile(file))).toBe('state.replaced');
  });

  it('is unknown if the file system fails', () => {
    const [file = ''] = made('a');
    const held = heldFile(file);
    replaceFs({
      statSync: () => {
        throw systemError('EIO', 'stat');
      },
    });
    expect(() => checkHeld([held])).toThrow(expect.objectContaining({ code: 'EIO' }));
  });
});
