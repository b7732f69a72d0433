import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isAsSeen, matured, type SeenFile, seenFile } from '../../../src/app/fingerprint/seen-file.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** Two changes within so long may bear the same time, ms. */
const grainMs = 2000;

/** A file, and the moment of its last change, Unix ms. */
function fileOf(content: string): { readonly path: string; readonly changedMs: number } {
  const folder = mkdtempSync(join(tmpdir(), 'seen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'words.csv');
  writeFileSync(path, content);
  return { path, changedMs: Math.floor(statSync(path).ctimeMs) };
}

it('only files that changed within the time resolution are read again', () => {
  const { path, changedMs } = fileOf('new');
  const at = (now: number): SeenFile | undefined => seenFile(path, sha256('new'), now, now);
  // The same size and times as when it was read, and other bytes: a second change within the grain.
  const other = (seen: SeenFile | undefined): SeenFile => ({ ...(seen as SeenFile), sha256: sha256('old') });
  for (const [later, young] of [
    [0, true],
    [grainMs - 1, true],
    [grainMs, false],
    [60_000, false],
  ] as const) {
    const seen = at(changedMs + later);
    expect([later, seen?.young]).toEqual([later, young]);
    expect(isAsSeen(seen as SeenFile)).toBe(true);
    expect([later, isAsSeen(other(seen))]).toEqual([later, !young]);
  }
});

it('seenFile returns undefined for a recently changed file whose bytes are not those that were read', () => {
  const { path, changedMs } = fileOf('new');
  const seen = (readSince: number, text: string): unknown =>
    seenFile(path, sha256(text), readSince, changedMs + 60_000)?.sha256;
  for (const readSince of [changedMs - 1000, changedMs, changedMs + grainMs - 1]) {
    expect(seen(readSince, 'old')).toBeUndefined();
    expect(seen(readSince, 'new')).toBe(sha256('new'));
  }
  // Changed long before it was read: what was read is believed.
  expect(seen(changedMs + grainMs, 'new')).toBe(sha256('new'));
});

it('a file is no longer young once it was read again later than the time resolution', () => {
  const { path, changedMs } = fileOf('new');
  const young = seenFile(path, sha256('new'), changedMs, changedMs) as SeenFile;
  expect(young.young).toBe(true);
  expect(matured(young, changedMs + grainMs - 1).young).toBe(true);
  expect(matured(young, changedMs + grainMs).young).toBe(false);
});

it('a file that was just changed is young, whatever time of change it is given', () => {
  const { path, changedMs } = fileOf('new');
  utimesSync(path, 1, 1);
  expect(seenFile(path, sha256('old'), changedMs, changedMs)).toBeUndefined();
  expect(seenFile(path, sha256('new'), changedMs, changedMs)?.young).toBe(true);
});
