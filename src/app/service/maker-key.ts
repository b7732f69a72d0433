import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../state/files/folders.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import type { Environment } from '../output/io.ts';
import { readPrivate, trustFile } from './trust-file.ts';

/** File of the secret key by which promptpress recognises what it has made for this user. Never shown or stored beside the sealed text. */
const keyFile = (env: Environment): string => join(dirname(trustFile(env)), 'maker.key');

const form = /^[0-9a-f]{64}\n$/;

/** Mode bits of other users: nobody else may read the key, or he could seal in this user's name. */
const others = 0o077n;

/** Returns the seal of this user for a text. @throws Error that says why no key can be kept here */
export function sealOf(text: string, env: Environment): string {
  return sealed(text, readKey(env) ?? makeKey(env));
}

/** Whether this user has sealed a text; false without a key, or with one that is not safe. */
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

/** Reads the key; undefined if there is none. @throws Error that says what is wrong with it */
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

/** Makes the key. If two processes make it at the same time, both use the first one. @throws the error of the file system */
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
    // Some file systems have no hard links.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') unlinkSync(part);
    else renameSync(part, file);
  }
  const key = readKey(env);
  if (key === undefined) throw new Error(`${file}: it is gone again`);
  return key;
}
