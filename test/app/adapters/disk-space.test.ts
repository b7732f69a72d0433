import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diskOf, freeBytesIn } from '../../../src/app/adapters/disk-space.ts';
import { stepStart } from '../../cli/terminal/progress/start-rig.ts';
import { promptpress } from '../../cli/test-io.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';

useQuickSandbox();

describe('the free space in a folder', () => {
  it('is the space that users other than root may still fill', () => {
    const facts = { bsize: 4096, blocks: 1000, bfree: 90, bavail: 50 };
    expect(freeBytesIn('/d', () => facts)).toBe(204_800);
    expect(freeBytesIn('/d', () => ({ ...facts, bavail: 0 }))).toBe(0);
  });

  it('is unknown if the system fails or reports no blocks', () => {
    expect(freeBytesIn('/d', () => ({ bsize: 4096, blocks: 0, bavail: 0 }))).toBeUndefined();
    const fails = () => {
      throw new Error('ENOSYS');
    };
    expect(freeBytesIn('/d', fails)).toBeUndefined();
    expect(freeBytesIn('/does/not/exist')).toBeUndefined();
  });

  it('is known for a folder of this machine', async () => {
    await using folder = await temporaryFolder();
    expect(freeBytesIn(folder.path)).toBeGreaterThan(0);
  });
});

describe('the disk of a run directory', () => {
  it('is described by the remaining jobs, and by the files of at most 256 finished ones', async () => {
    const state = memoryStore();
    const artifact = { output: 1, file: 'images/a.png', bytes: 100, sha256: '00', mime: 'image/png' };
    const done = Array.from({ length: 300 }, (_, n) =>
      imagineRecord({ key: `k${n}`, status: 'done', artifacts: [artifact, { ...artifact, output: 2 }] }),
    );
    const failed = imagineRecord({ key: 'x', status: 'failed', artifacts: [artifact] });
    state.commit({ records: [...done, failed], attempts: [] });
    const step = stepStart('grid', { counts: { done: 3, failed: 2, 'in-doubt': 1 } });
    const barred = { ...step, total: 12, counts: { ...step.counts, skipped: 1, blocked: 1 } };
    const asked: string[] = [];
    const disk = await diskOf({ directory: '/d', state }, [barred, { ...step, total: 5 }, step], (folder) => {
      asked.push(folder);
      return 7;
    });
    expect(disk).toMatchObject({ directory: '/d', jobsLeft: 4, made: { jobs: 256, bytes: 51_200 } });
    expect([disk.freeBytes(), asked]).toEqual([7, ['/d']]);
    expect((await diskOf({ directory: '/d', state }, [step], () => 7)).jobsLeft).toBeUndefined();
  });
});

describe('promptpress run', () => {
  it('warns once of little space, on standard error and in the log', async () => {
    await using folder = await temporaryFolder();
    const cwd = join(folder.path, 'set');
    await mkdir(cwd);
    const steps = "steps: { grid: { imagine: 'fox {{ n }}' } }";
    let runs = 0;
    // One more cell each time: a run that has nothing to do writes no images, and asks for no space.
    const run = async (freeBytes: (folder: string) => number | undefined) => {
      runs += 1;
      await writeFile(
        join(cwd, 'f.yaml'),
        `name: foxes\nmatrix: { n: { from: 1, to: ${runs} } }\n${steps}\n`,
      );
      return promptpress(['run', 'f.yaml', '--sandbox', '--pace', '0'], {
        cwd,
        env: { HOME: cwd },
        freeBytes,
      });
    };
    const directory = join(cwd, 'runs/foxes.sandbox');
    const notices = async (): Promise<readonly unknown[]> =>
      (await readFile(join(directory, 'run.log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly msg: string })
        .filter(({ msg }) => msg === 'run:notice');

    const wide = await run(() => 1e12);
    expect([wide.code, wide.err.includes('Little space'), await notices()]).toEqual([0, false, []]);
    const asked = new Set<string>();
    const low = await run((where) => {
      asked.add(where);
      return 123_456_789;
    });
    expect(low.code).toBe(0);
    expect(low.err.split('Little space')).toHaveLength(2);
    expect(low.err).toContain(`123 MB are free for ${directory}`);
    expect([...asked]).toEqual([directory]);
    expect(await notices()).toMatchObject([{ level: 'warn', code: 'disk.low' }]);
    expect((await run(() => undefined)).err).not.toContain('Little space');
  });
});
