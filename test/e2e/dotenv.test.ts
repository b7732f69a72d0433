import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { oneStep, write } from './pipelines.ts';

describe('--dotenv of the built command line', () => {
  const program = 'require("node:fs").writeFileSync("ran", "");\n';

  it('runs nothing that the file names for Node.js', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, {
      'pipeline.yaml': oneStep(1),
      'program.cjs': program,
      'options.env': `NODE_OPTIONS=--require=${join(folder.path, 'program.cjs')}\n`,
    });
    const args = ['validate', 'pipeline.yaml', '--dotenv', 'options.env'];
    const { code, stderr } = await startCli(args, { cwd: folder.path }).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining('options.env:1: NODE_OPTIONS decides')]);
    await expect(access(join(folder.path, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('names a file that is not there itself', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'pipeline.yaml': oneStep(1) });
    const { code, stderr } = await startCli(['validate', 'pipeline.yaml', '--dotenv', 'no.env'], {
      cwd: folder.path,
    }).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining('--dotenv: there is no file no.env.')]);
  });
});
