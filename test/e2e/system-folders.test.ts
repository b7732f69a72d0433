import { writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, startCli, temporaryFolder } from '../rig/cli.ts';

/** Runs a command that may never end by itself, nor at a signal which it could catch. */
async function within(
  limitMs: number,
  args: readonly string[],
  options: Parameters<typeof startCli>[1],
): Promise<CliResult> {
  const { child, done } = startCli(args, options);
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    return await done;
  } finally {
    clearTimeout(limit);
  }
}

/** Where nobody can make a folder, and what is said to be in the way. */
const places = [
  ['/proc/x', '/proc belongs to the system (procfs)'],
  ['/proc/self/x/y', '/proc/self belongs to the system (procfs)'],
  ['/sys/x', '/sys belongs to the system (sysfs)'],
  ['/dev/null/x', '/dev/null is not a folder'],
] as const;

describe.runIf(platform() === 'linux')('a folder that the system does not let anybody make', () => {
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    place = await temporaryFolder();
    await writeFile(join(place.path, 'p.yaml'), 'name: p\nsteps:\n  grid: { imagine: a fox }\n');
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const commands: readonly (readonly [string, (folder: string) => readonly string[]])[] = [
    ['run --sandbox --out', (folder) => ['run', 'p.yaml', '--sandbox', '--out', folder]],
    ['sandbox --state', (folder) => ['sandbox', '--state', folder]],
    ['init', (folder) => ['init', folder]],
  ];
  // A run in each place, and each other command in one: test/state/files/folders.test.ts tells all kinds of places apart for all of them.
  const cases = places.flatMap(([folder, says], place) =>
    commands
      .slice(0, place === 0 ? commands.length : 1)
      .map(([name, args]) => ({ name, folder, says, args: args(folder) })),
  );

  it.each(cases)('$name $folder: is refused by name, and nothing hangs', async ({ args, folder, says }) => {
    const { code, stderr } = await within(25_000, args, { cwd: place.path });
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(stderr).toContain(`${folder} cannot be made`);
  });

  it('trust with XDG_STATE_HOME there: is refused by name, and nothing hangs', async () => {
    const { code, stderr } = await within(25_000, ['trust', 'https://gateway.example'], {
      cwd: place.path,
      env: { XDG_STATE_HOME: '/proc/x' },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining('/proc belongs to the system')]);
  });
});
