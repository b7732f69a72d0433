import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type Functions = {
  -readonly [Name in keyof typeof fs as (typeof fs)[Name] extends (...given: never[]) => unknown
    ? Name
    : never]?: (...given: never[]) => unknown;
};

/**
 * Replaces functions of `node:fs` until the test is over, also for modules that import them by name.
 *
 * @returns undoes it
 */
export function replaceFs(functions: Functions): () => void {
  const before = Object.fromEntries(
    Object.keys(functions).map((name) => [name, Reflect.get(fs, name) as unknown]),
  );
  Object.assign(fs, functions);
  syncBuiltinESMExports();
  const undo = (): void => {
    Object.assign(fs, before);
    syncBuiltinESMExports();
  };
  onTestFinished(undo);
  return undo;
}

/** An error of the file system. */
export const systemError = (code: string, syscall = 'open'): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: it failed, ${syscall}`), { code, syscall });

/**
 * Calls of `node:fs` that change the disk or make a change durable, in their order, until the test is over: `mkdir PATH`,
 * `create PATH`, `write PATH`, `sync PATH`, `rename PATH PATH`, `remove PATH`, `close PATH`.
 *
 * @param nameOf what a path is called in the list
 */
export function diskCalls(nameOf: (path: string) => string): string[] {
  const calls: string[] = [];
  const paths = new Map<number, string>();
  const { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } = fs;
  // Some versions of Node.js write a whole file by way of the other functions.
  let isWithin = false;
  const noted = (...words: readonly string[]): void => {
    if (!isWithin) calls.push(words.join(' '));
  };
  const nameOfOpen = (file: number): string => paths.get(file) ?? `file ${file}`;
  const creates = (flags: fs.OpenMode): boolean =>
    typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : !flags.startsWith('r');
  replaceFs({
    openSync: (path: string, flags: fs.OpenMode = 'r', mode?: fs.Mode) => {
      const file = openSync(path, flags, mode);
      paths.set(file, nameOf(path));
      if (creates(flags)) noted('create', nameOf(path));
      return file;
    },
    closeSync: (file: number) => {
      noted('close', nameOfOpen(file));
      paths.delete(file);
      closeSync(file);
    },
    fsyncSync: (file: number) => {
      fsyncSync(file);
      noted('sync', nameOfOpen(file));
    },
    mkdirSync: (path: string, options: fs.MakeDirectoryOptions) => {
      const made = mkdirSync(path, options);
      noted('mkdir', nameOf(path));
      return made;
    },
    renameSync: (from: string, to: string) => {
      renameSync(from, to);
      noted('rename', nameOf(from), nameOf(to));
    },
    rmSync: (path: string, options: fs.RmOptions) => {
      rmSync(path, options);
      noted('remove', nameOf(path));
    },
    writeFileSync: (path: string, data: string, options: fs.WriteFileOptions) => {
      isWithin = true;
      try {
        writeFileSync(path, data, options);
      } finally {
        isWithin = false;
      }
      noted('write', nameOf(path));
    },
    writeSync: (file: number, text: string, ...rest: []) => {
      const written = writeSync(file, text, ...rest);
      noted('write', nameOfOpen(file));
      return written;
    },
  });
  return calls;
}
