import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../state/files/folders.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import type { Environment } from '../output/io.ts';
import { readPrivate, trustFile } from './trust-file.ts';

/** What only this user knows: by it promptpress knows again what it has made for him. Never shown, and never beside what it seals. */
const keyFile = (env: Environment): string => join(dirname(trustFile(env)), 'maker.key');

const form = /^[0-9a-f]{64}\n$/;

/** Nobody else may even read it: he could seal in this user's name. */
const others = 0o077n;

/** The seal of this user on a text. @throws Error that says why no key can be kept here */
export function sealOf(text: string, env: Environment): string {
  return sealed(text, readKey(env) ?? makeKey(env));
}

/** Whether this user has sealed a text. Where there is no key, or one that cannot be believed, he has not. */
export function isSealed(text: string, seal: string, env: Environment): boolean {
  try {
    const key = readKey(env);
    if (key === undefined) return false;
    const [given, own] = [Buffer.from(seal), Buffer.from(sealed(text, key))];
    return given.length === own.length && timingSafeEqual(given, own);
  } catch {
    return false;
  }
}

const sealed = (text: string, key: string): string => createHmac('sha256', key).update(text).digest('hex');

/** Undefined where there is none. @throws Error that says what is wrong with it */
function readKey(env: Environment): string | undefined {
  const file = keyFile(env);
  try {
    const text = readPrivate(file, others);
    if (text === undefined) return undefined;
    if (!form.test(text)) throw new Error('it holds no key');
    return text;
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Of two processes that make one at the same time, both have that of the quicker one. @throws the error of the file system */
function makeKey(env: Environment): string {
  const file = keyFile(env);
  const folder = dirname(file);
  makeFolders(folder, 0o700);
  const part = join(folder, unfinishedName('maker.key'));
  const handle = openSync(part, 'wx', 0o600);
  try {
    writeSync(handle, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(part, file);
    unlinkSync(part);
  } catch (error) {
    // Some file systems have no second names.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') unlinkSync(part);
    else renameSync(part, file);
  }
  const key = readKey(env);
  if (key === undefined) throw new Error(`${file}: it is gone again`);
  return key;
}
