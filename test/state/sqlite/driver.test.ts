import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { chooseDriver, type Driver, hasWalResetBug } from '../../../src/state/sqlite/driver.ts';
import { drivers } from '../places.ts';

const driver = (name: Driver['name'], version: string): Driver => ({
  name,
  version,
  open: () => {
    throw new Error('not opened here');
  },
});

const old = (): Driver => driver('node:sqlite', '3.47.0');
const sound = (): Driver => driver('@photostructure/sqlite', '3.53.0');
const missing = (): Driver => {
  throw new Error('not installed');
};

describe('choosing an SQLite', () => {
  it.each([
    ['3.6.23', true],
    ['3.44.5', true],
    ['3.44.6', false],
    ['3.46.1', true],
    ['3.50.6', true],
    ['3.50.7', false],
    ['3.51.2', true],
    ['3.51.3', false],
    ['3.53.0', false],
    ['4.0.0', false],
  ])('knows whether %s may damage a WAL database: %s', (version, damages) => {
    expect(hasWalResetBug(version)).toBe(damages);
  });

  it('takes the first sound one, and an unsound one only if there is no other', () => {
    expect(chooseDriver([old, sound]).version).toBe('3.53.0');
    expect(chooseDriver([sound, old]).version).toBe('3.53.0');
    expect(chooseDriver([old, missing]).version).toBe('3.47.0');
    expect(chooseDriver([missing, sound]).version).toBe('3.53.0');
  });

  it('says what to do if there is none, and keeps every reason', () => {
    let failure: unknown;
    try {
      chooseDriver([missing, missing]);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({
      message: expect.stringContaining('npm ci'),
      cause: { errors: [{}, {}] },
    });
  });

  it('finds a sound one on this Node.js', () => {
    expect(drivers.some((found) => !hasWalResetBug(found.version))).toBe(true);
  });

  it('prints nothing on standard error, and leaves other warnings alone', () => {
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const file = fileURLToPath(new URL('../children/warning.ts', import.meta.url));
    const { stderr, status } = spawnSync(process.execPath, ['--import', tsx, file], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stderr).toContain('a warning of the program');
    expect(stderr).not.toContain('SQLite');
  });
});
