import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord, JobStatus } from '../../../src/plan/job.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import { type DiskPort, DiskSpace, minFreeBytes } from '../../../src/run/resources/disk-space.ts';
import { imagineRecord } from '../../rig/jobs.ts';

const GB = 1e9;

const record = (status: JobStatus, ...sizes: readonly number[]): JobRecord => ({
  ...imagineRecord(),
  status,
  artifacts: sizes.map((bytes, index) => ({
    output: index + 1,
    file: `images/${index}.png`,
    bytes,
    sha256: '00',
    mime: 'image/png',
  })),
});

/** A disk whose free space a test sets, and what was said of it. */
function rig(port: Partial<Omit<DiskPort, 'freeBytes'>> = {}) {
  const said: RunEvent[] = [];
  const disk: { free: number | undefined; looks: number } = { free: 100 * GB, looks: 0 };
  const space = new DiskSpace(
    {
      directory: '/work/runs/foxes',
      jobsLeft: undefined,
      made: { jobs: 0, bytes: 0 },
      ...port,
      freeBytes: () => {
        disk.looks += 1;
        return disk.free;
      },
    },
    (event) => said.push(event),
  );
  const at = (free: number | undefined): number => {
    disk.free = free;
    space.look();
    return said.length;
  };
  return { space, said, disk, at };
}

describe('the free space on a disk', () => {
  it('is reported low once, with the free bytes and the directory, and is not checked afterwards', () => {
    const { said, disk, at } = rig();
    expect([at(minFreeBytes), at(minFreeBytes - 1), at(0), at(GB), at(1)]).toEqual([0, 1, 1, 1, 1]);
    expect(disk.looks).toBe(2);
    expect(said).toMatchObject([{ type: 'run:notice', code: 'disk.low' }]);
    expect(said).toMatchObject([
      { message: expect.stringMatching(/: 499 MB are free for \/work\/runs\/foxes\. .*exit 74/) },
    ]);
  });

  it('is not reported where the system does not report it', () => {
    const { at } = rig({ jobsLeft: 1000, made: { jobs: 10, bytes: 100 * GB } });
    expect([at(undefined), at(undefined)]).toEqual([0, 0]);
    expect(at(1)).toBe(1);
  });

  it('is low where less is free than the jobs left need, at the mean size of the finished ones', () => {
    const made = { jobs: 10, bytes: 20_000_000 };
    const needs = 2_000_000 * 1000;
    expect(rig({ jobsLeft: 1000, made }).at(needs)).toBe(0);
    const { said, at } = rig({ jobsLeft: 1000, made });
    expect(at(needs - 1)).toBe(1);
    expect(said).toMatchObject([{ message: expect.stringContaining('1.9 GB are free') }]);
    expect(said).toMatchObject([{ message: expect.stringContaining('need about 2.0 GB') }]);
  });

  it('is not judged by the files of fewer than ten jobs, nor where the number of jobs left is unknown', () => {
    expect(rig({ jobsLeft: 1e6, made: { jobs: 9, bytes: 9 * GB } }).at(GB)).toBe(0);
    expect(rig({ made: { jobs: 1000, bytes: 1000 * GB } }).at(GB)).toBe(0);
  });

  it('is judged by the files of the run itself, and by its jobs left', () => {
    const { space, at } = rig({ jobsLeft: 40 });
    space.note(Array.from({ length: 9 }, () => record('done', GB / 20, GB / 20)));
    expect(at(GB)).toBe(0);
    // What is not settled counts neither way; what failed is not to be made any more.
    space.note([record('saving', GB), record('running'), record('failed'), record('in-doubt')]);
    expect(at(GB)).toBe(0);
    space.note([record('done', GB / 10)]);
    // 28 are left, 0.1 GB each.
    expect(at(2.8 * GB)).toBe(0);
    expect(at(2.8 * GB - 1)).toBe(1);
  });

  it('is reported at most once, and never while both limits are kept', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(2e9), fc.nat({ max: 3 * GB })), { maxLength: 60 }),
        fc.nat(100),
        (turns, jobsLeft) => {
          const { space, at } = rig({ jobsLeft });
          let [warned, bytes] = [0, 0];
          turns.forEach(([size, free], index) => {
            space.note([record('done', size)]);
            bytes += size;
            const jobs = index + 1;
            const needed = jobs < 10 ? 0 : Math.ceil((bytes / jobs) * Math.max(0, jobsLeft - jobs));
            if (free < Math.max(minFreeBytes, needed)) warned = 1;
            expect(at(free)).toBe(warned);
          });
        },
      ),
      { seed: 20261122, numRuns: 200 },
    );
  });
});
