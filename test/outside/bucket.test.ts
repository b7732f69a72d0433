import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oneStep, write } from '../e2e/pipelines.ts';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { repository } from '../rig/documents.ts';

/** Installed by hand, with more packages than promptpress has: it is none of ours. */
const server = join(repository, 'node_modules/.cache/s3rver/node_modules/s3rver/bin/s3rver.js');

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

test('a run lies in a bucket of s3rver, and is checked and exported from there', async () => {
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  const port = String(await freePort());
  const args = [server, '-d', join(cwd, 'buckets'), '-a', '127.0.0.1', '-p', port];
  const child = spawn(process.execPath, [...args, '--configure-bucket', 'bucket'], { stdio: 'pipe' });
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.once('close', () => reject(new Error(`s3rver does not run: ${server}`)));
    });
    await write(cwd, { 'one.yaml': oneStep(3) });
    const env = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    };
    const place = 's3://bucket/a set/é';
    const ran = await cli(['run', 'one.yaml', '--sandbox', '--pace', '0', '--out', place], { cwd, env });
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(`manifest  ${place}/manifest.csv`)]);
    // s3rver does, and the run says so.
    expect(ran.stderr).toContain('ignores the conditions');
    const run = 'runs/one.sandbox';
    const checked = await cli(['verify', run], { cwd, env });
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('3 files')]);
    const exported = await cli(['export', run, '--format', 'imagefolder', '--to', 'set'], { cwd, env });
    expect([exported.code, exported.stdout]).toEqual([0, expect.stringContaining('3 rows, 3 files')]);
    const again = await cli(['run', 'one.yaml', '--sandbox', '--pace', '0'], { cwd, env });
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('0 submissions in this run')]);
  } finally {
    child.kill();
  }
});
