import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../rig/documents.ts';

const run = promisify(execFile);

/** Packs the package, installs it as a user would, and has the tests start that command. @returns what removes it again */
export default async function install(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-packed-'));
  try {
    await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: repository });
    const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
      version: string;
    };
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', `./promptpress-${version}.tgz`, ...quiet], { cwd: folder });
    process.env['PROMPTPRESS_TEST_COMMAND'] = await realpath(join(folder, 'node_modules/.bin/promptpress'));
  } catch (failure) {
    await rm(folder, { recursive: true, force: true });
    throw failure;
  }
  return () => rm(folder, { recursive: true, force: true });
}
