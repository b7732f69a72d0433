import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applicationId, formerApplicationId, stateVersion } from '../../src/state/sqlite/schema.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { promptpress } from '../cli/test-io.ts';
import { openPlace } from '../rig/run-place.ts';
import { twoCells } from './pipelines.ts';

/** Path → hash, of every file of a folder. */
async function hashes(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found[path] = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }
  return found;
}

describe('a run directory of another release', () => {
  it.each([
    {
      what: 'newer',
      marks: [applicationId, stateVersion + 1],
      exit: 2,
      says: `newer release of promptpress (state version ${stateVersion + 1}; this release knows ${stateVersion})`,
    },
    {
      what: 'older than the first release',
      marks: [formerApplicationId, 8],
      exit: 74,
      says: 'Continue it with the commit 73d08d41 of promptpress',
    },
    { what: 'of no version', marks: [applicationId, 0], exit: 2, says: 'not a state file of promptpress' },
  ])('is refused when it is $what: exit $exit, no request, not a byte changed', async (other) => {
    const [application, version] = other.marks;
    await using place = await openPlace(twoCells);
    const { directory, service, folder, env } = place;
    expect((await place.run('--limit', '1')).code).toBe(0);
    const database = openDatabase(join(directory, 'state.db'));
    database.exec(
      `PRAGMA application_id = ${application}; PRAGMA user_version = ${version}; PRAGMA wal_checkpoint(TRUNCATE)`,
    );
    database.close();
    for (const name of ['state.db-wal', 'state.db-shm']) await rm(join(directory, name), { force: true });
    // What a killed run leaves is not ours to tidy up either.
    await writeFile(join(directory, 'manifest.csv.0123abcd.part'), 'half of it');
    const before = await hashes(directory);
    const asked = service.count('imagine') + service.count('fetch');

    const job = (await place.rows())[0]?.['job'] ?? '';
    const commands = [
      ['run', 'killed.yaml'],
      ['status', directory],
      ['manifest', directory],
      ['show', job, directory],
      ['resolve', job, directory, '--drop'],
    ];
    for (const command of commands) {
      const { code, err } = await promptpress(command, { cwd: folder, env });
      expect([command[0], code], err).toEqual([command[0], other.exit]);
      expect(err).toContain(other.says);
    }
    expect(service.count('imagine') + service.count('fetch')).toBe(asked);
    const after = await hashes(directory);
    for (const name of ['state.db-wal', 'state.db-shm']) delete after[join(directory, name)];
    expect(after).toEqual(before);
  });
});
