import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkFile,
  checkFolder,
  kindAt,
  kindOfEntry,
  ownFile,
  readOwnText,
  refuseOther,
  refuseSecondName,
} from '../../../src/state/files/plain-path.ts';
import { StateError } from '../../../src/state/store.ts';
import { makePipe } from '../../rig/pipe.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { freshFolder } from '../places.ts';

/** A folder with a file, a folder and links. */
function entries(): string {
  const folder = freshFolder();
  writeFileSync(join(folder, 'file'), 'a text');
  mkdirSync(join(folder, 'folder'));
  symlinkSync('file', join(folder, 'link'));
  symlinkSync('gone', join(folder, 'dangling'));
  symlinkSync('folder', join(folder, 'link-to-folder'));
  return folder;
}

/** The same with a pipe. */
function oneOfEach(): string {
  const folder = entries();
  makePipe(join(folder, 'pipe'));
  return folder;
}

/** The code that work is refused with, or what it gives. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return error.hint === undefined ? 'no hint' : error.code;
  }
}

describe.skipIf(platform() === 'win32')('what lies at a path', () => {
  it('is known without following links, by the path and by the listing of its folder', () => {
    const folder = oneOfEach();
    const expected = {
      dangling: 'link',
      file: 'file',
      folder: 'folder',
      link: 'link',
      'link-to-folder': 'link',
      pipe: 'other',
    };
    const names = Object.keys(expected);
    expect(Object.fromEntries(names.map((name) => [name, kindAt(join(folder, name))]))).toEqual(expected);
    const listed = readdirSync(folder, { withFileTypes: true });
    expect(Object.fromEntries(listed.map((entry) => [entry.name, kindOfEntry(entry)]))).toEqual(expected);
  });

  it('is nothing for a missing path, also below a file', () => {
    const folder = entries();
    for (const name of ['missing', 'missing/a', 'file/a', 'file/a/b'])
      expect(kindAt(join(folder, name))).toBe('nothing');
  });

  it('is unknown if the file system fails', () => {
    const failure = systemError('EACCES', 'lstat');
    replaceFs({
      lstatSync: () => {
        throw failure;
      },
    });
    expect(() => kindAt('/a')).toThrow(failure);
    expect(() => checkFile('/a')).toThrow(failure);
  });
});

describe.skipIf(platform() === 'win32')('a file or folder of the run directory', () => {
  it.each([
    ['file', true, 'directory.kind'],
    ['folder', 'directory.kind', true],
    ['link', 'directory.link', 'directory.link'],
    ['dangling', 'directory.link', 'directory.link'],
    ['link-to-folder', 'directory.link', 'directory.link'],
    ['pipe', 'directory.kind', 'directory.kind'],
    ['missing', false, false],
    ['file/a', false, false],
  ])('is neither a link nor of another kind: %s', (name, asFile, asFolder) => {
    const path = join(oneOfEach(), name);
    expect(outcomeOf(() => checkFile(path))).toBe(asFile);
    expect(outcomeOf(() => checkFile(path, { inPlace: true }))).toBe(asFile);
    expect(outcomeOf(() => checkFolder(path))).toBe(asFolder);
  });

  it('may have a second name, unless its bytes are changed in place', () => {
    const folder = entries();
    const file = join(folder, 'file');
    linkSync(file, join(folder, 'other'));
    expect(outcomeOf(() => checkFile(file))).toBe(true);
    expect(outcomeOf(() => checkFile(file, { inPlace: false }))).toBe(true);
    expect(outcomeOf(() => checkFile(file, { inPlace: true }))).toBe('directory.link');
    expect(() => checkFile(file, { inPlace: true })).toThrow(`${file} has 2 names`);
    // A folder has a name in each of its folders: that is no second one.
    expect(outcomeOf(() => checkFolder(folder))).toBe(true);
  });

  it('is refused by its path', () => {
    const folder = oneOfEach();
    for (const [name, words] of [
      ['link', ' is a link'],
      ['folder', ' is a folder'],
      ['pipe', ' is neither a file nor a folder'],
    ] as const)
      expect(() => checkFile(join(folder, name))).toThrow(join(folder, name) + words);
    expect(() => checkFolder(join(folder, 'file'))).toThrow(`${join(folder, 'file')} is a file`);
  });

  it.each([
    ['file', 'file', undefined],
    ['folder', 'folder', undefined],
    ['nothing', 'file', undefined],
    ['nothing', 'folder', undefined],
    ['folder', 'file', 'directory.kind'],
    ['file', 'folder', 'directory.kind'],
    ['other', 'file', 'directory.kind'],
    ['link', 'file', 'directory.link'],
    ['link', 'folder', 'directory.link'],
  ] as const)('of the kind %s is met as a %s by %s', (kind, expected, code) => {
    expect(outcomeOf(() => refuseOther('/runs/a', kind, expected))).toBe(code);
  });

  it('is refused once it is open, if it has a second name', () => {
    const folder = entries();
    const file = join(folder, 'file');
    const descriptor = openSync(file, 'r');
    try {
      expect(outcomeOf(() => refuseSecondName(file, descriptor))).toBeUndefined();
      linkSync(file, join(folder, 'other'));
      expect(outcomeOf(() => refuseSecondName(file, descriptor))).toBe('directory.link');
    } finally {
      closeSync(descriptor);
    }
  });
});

describe.skipIf(platform() === 'win32')('opening what has the name of an own file', () => {
  it('never follows a link that was made meanwhile, and never waits for the other end of a pipe', () => {
    const folder = oneOfEach();
    expect(() => openSync(join(folder, 'link'), constants.O_RDONLY | ownFile)).toThrow(
      expect.objectContaining({ code: 'ELOOP' }),
    );
    const pipe = openSync(join(folder, 'pipe'), constants.O_RDONLY | ownFile);
    expect(readSync(pipe, Buffer.alloc(1))).toBe(0);
    closeSync(pipe);
  });
});

describe.skipIf(platform() === 'win32')('an own text', () => {
  it('is absent if there is no file, and refused if there is something else', () => {
    const folder = oneOfEach();
    expect(readOwnText(join(folder, 'missing'), 10)).toBeUndefined();
    for (const [name, code] of [
      ['link', 'directory.link'],
      ['folder', 'directory.kind'],
      ['pipe', 'directory.kind'],
    ] as const)
      expect(outcomeOf(() => readOwnText(join(folder, name), 10))).toBe(code);
  });

  it.each([
    [0, ''],
    [1, 'a'],
    [5, 'a tex'],
    [6, 'a text'],
    [7, 'a text'],
    [1_000_000, 'a text'],
  ])('of six bytes, read up to %i of them, is %j', (most, text) => {
    expect(readOwnText(join(entries(), 'file'), most)).toBe(text);
  });

  it('is UTF-8', () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, 'foxes und Füchse: 🦊');
    expect(readOwnText(file, 100)).toBe('foxes und Füchse: 🦊');
  });

  it('is read to its end if the system returns parts of it', () => {
    const file = join(entries(), 'file');
    const offsets: number[] = [];
    const plainRead = readSync;
    replaceFs({
      readSync: (descriptor: number, bytes: Buffer, at: number, length: number, position: number) => {
        offsets.push(position);
        return plainRead(descriptor, bytes, at, Math.min(length, 4), position);
      },
    });
    expect(readOwnText(file, 100)).toBe('a text');
    expect(offsets).toEqual([0, 4]);
  });

  it('ends where the file was cut off meanwhile, without bytes that were appended meanwhile', () => {
    const file = join(entries(), 'file');
    let given = 3;
    const plainRead = readSync;
    replaceFs({
      readSync: (descriptor: number, bytes: Buffer, at: number, length: number, position: number) => {
        appendFileSync(file, ' and more');
        const read = plainRead(descriptor, bytes, at, Math.min(length, given), position);
        given = 0;
        return read;
      },
    });
    expect(readOwnText(file, 100)).toBe('a t');
    given = 100;
    const before = statSync(file).size;
    expect(readOwnText(file, 1_000)).toHaveLength(before);
  });

  it.runIf(platform() === 'linux')('leaves no file open, whether or not it can be read', () => {
    const folder = entries();
    const file = join(folder, 'file');
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let n = 0; n < 5; n += 1) readOwnText(file, 10);
    replaceFs({
      readSync: () => {
        throw systemError('EIO', 'read');
      },
    });
    for (let n = 0; n < 5; n += 1)
      expect(() => readOwnText(file, 10)).toThrow(expect.objectContaining({ code: 'EIO' }));
    expect(open()).toBe(before);
  });
});
