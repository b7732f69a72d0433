import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { temporaryFolder } from '../../../rig/cli.ts';
import { startFakeService } from '../../../rig/fake-service.ts';
import { readManifest } from '../../../rig/manifest.ts';

const pipeline = `name: foxes
retry: { attempts: 2, base: 5ms, cap: 10ms }
poll: { min: 5ms, max: 10ms }
matrix: { shelf: ["0012", "=SUM(A1:A9)", 3] }
steps:
  grid: { imagine: "a fox on shelf {{ shelf }}" }
`;

describe('manifest --spreadsheet FILE', () => {
  it('writes a copy for spreadsheets beside the exact manifest, repeatedly, and overwrites no other file', async () => {
    const service = await startFakeService();
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
    const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, env });
    await writeFile(join(cwd, 'foxes.yaml'), pipeline);
    const run = await pp('run', 'foxes.yaml');
    await service.close();
    expect(run.code, run.err).toBe(0);
    const exact = await readFile(join(cwd, 'runs/foxes/manifest.csv'));

    for (const time of ['first', 'second']) {
      const { code, out, err } = await pp('manifest', 'runs/foxes', '--spreadsheet', 'sheet.csv');
      expect([time, code, err, out]).toEqual([
        time,
        0,
        '',
        'runs/foxes/manifest.csv: 3 rows, 3 with a file\nsheet.csv: 3 rows, 3 with a file\n',
      ]);
    }
    expect(await readFile(join(cwd, 'runs/foxes/manifest.csv'))).toEqual(exact);
    const [rows, copied] = await Promise.all([
      readManifest(join(cwd, 'runs/foxes/manifest.csv')),
      readManifest(join(cwd, 'sheet.csv')),
    ]);
    expect(copied.map((row) => row['var.shelf'])).toEqual(["'0012", "'=SUM(A1:A9)", '3']);
    expect(rows.map((row) => row['task_id'])).toEqual(copied.map((row) => row['task_id']?.replace(/^'/, '')));
    for (const id of copied.map((row) => row['task_id'])) expect(id).toMatch(/^'\d+$|[a-z]/);
    expect(copied.map((row) => row['bytes'])).toEqual(rows.map((row) => row['bytes']));

    await mkdir(join(cwd, 'sheets.csv'));
    await writeFile(join(cwd, 'scenes.csv'), 'scene\nat dusk\n');
    // What a copy begins with is not a copy yet.
    await writeFile(join(cwd, 'empty.csv'), '');
    await writeFile(join(cwd, 'start.csv'), '\ufefffile_name,cell');
    await symlink('sheet.csv', join(cwd, 'link.csv'));
    execFileSync('mkfifo', [join(cwd, 'pipe.csv')]);
    const before = await readdir(cwd);
    for (const [file, message] of [
      ['runs/foxes/manifest.csv', 'is the manifest itself'],
      ['sheets.csv', 'is a folder.'],
      ['runs', 'is a folder.\n  Name a file in it, for example --spreadsheet runs/sheet.csv.'],
      ['foxes.yaml', 'does not end in .csv'],
      ['foxes.xlsx', 'does not end in .csv'],
      ['none/sheet.csv', `there is no folder ${join(cwd, 'none')}.`],
      ['scenes.csv', 'exists already, and is not a copy'],
      ['empty.csv', 'exists already, and is not a copy'],
      ['start.csv', 'exists already, and is not a copy'],
      ['link.csv', 'exists already, and is not a copy'],
      ['pipe.csv', 'exists already, and is not a copy'],
      ['', '--spreadsheet needs a value'],
    ] as const) {
      const { code, out, err } = await pp('manifest', 'runs/foxes', '--spreadsheet', file);
      expect([file, code, out]).toEqual([file, 2, '']);
      expect(err).toContain(message);
    }
    expect(await readdir(cwd)).toEqual(before);
    expect(await readFile(join(cwd, 'scenes.csv'), 'utf8')).toBe('scene\nat dusk\n');
  });

  it('appears in the help of the command', async () => {
    const { out } = await promptpress(['help', 'manifest'], { cwd: '.' });
    expect(out).toMatch(/--spreadsheet FILE {2,}also write a copy for spreadsheets/);
  });
});
