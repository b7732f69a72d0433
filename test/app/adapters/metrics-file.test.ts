import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkMetricsFile, metricsFile } from '../../../src/app/adapters/metrics-file.ts';
import { CliError } from '../../../src/app/errors/cli-error.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function timer() {
  const calls = new Set<() => void>();
  return {
    io: {
      every: (_ms: number, call: () => void) => {
        calls.add(call);
        return () => calls.delete(call);
      },
    },
    tick: () => {
      for (const call of calls) call();
    },
    count: () => calls.size,
  };
}

describe('metricsFile', () => {
  it('writes at once, at each interval, and at the end; leaves no temporary file', async () => {
    const file = join(folder, 'a.prom');
    const { io, tick, count } = timer();
    let asked = 0;
    const metrics = metricsFile(
      file,
      () => `${++asked}`,
      io,
      () => {},
    );
    metrics.begin();
    await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toBe('1'));
    // A write that is under way is not joined by another one.
    await vi.waitFor(() => {
      tick();
      tick();
      expect(asked).toBe(2);
    });
    await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toBe('2'));
    await metrics.end();
    expect([await readFile(file, 'utf8'), asked, count()]).toEqual(['3', 3, 0]);
    expect(await readdir(folder)).toEqual(['a.prom']);
  });

  it('reports a failing disk once, and keeps trying', async () => {
    const place = join(folder, 'later');
    const file = join(place, 'a.prom');
    const { io, tick } = timer();
    const warnings: Error[] = [];
    let asked = 0;
    const metrics = metricsFile(
      file,
      () => `${++asked}`,
      io,
      (error) => warnings.push(error),
    );
    metrics.begin();
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    tick();
    await vi.waitFor(() => expect(asked).toBe(2));
    await mkdir(place);
    await metrics.end();
    expect(warnings).toHaveLength(1);
    expect(await readFile(file, 'utf8')).toBe('3');
  });

  it('replaces a link, not its target', async () => {
    const other = join(folder, 'other.txt');
    await writeFile(other, 'kept');
    await symlink(other, join(folder, 'a.prom'));
    const metrics = metricsFile(
      join(folder, 'a.prom'),
      () => 'x',
      timer().io,
      () => {},
    );
    await metrics.end();
    expect([await readFile(other, 'utf8'), await readFile(join(folder, 'a.prom'), 'utf8')]).toEqual([
      'kept',
      'x',
    ]);
  });
});

describe('checkMetricsFile', () => {
  it('refuses another file, and a folder', async () => {
    const file = join(folder, 'manifest.csv');
    await writeFile(file, 'file_name,cell\r\n');
    for (const path of [file, folder])
      await expect(checkMetricsFile(path, '--metrics-file')).rejects.toBeInstanceOf(CliError);
  });

  it('accepts metrics of promptpress, an empty file, and a missing one', async () => {
    const ours = join(folder, 'a.prom');
    const empty = join(folder, 'b.prom');
    await writeFile(ours, '# HELP promptpress_build_info Version.\n');
    await writeFile(empty, '');
    for (const path of [ours, empty, join(folder, 'none'), join(folder, 'no', 'folder')])
      await expect(checkMetricsFile(path, '--metrics-file')).resolves.toBeUndefined();
  });
});
