import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { promptpress } from '../test-io.ts';

const folder = join(import.meta.dirname, '../../../pipelines');
const examples = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));

describe('the example pipelines', () => {
  let cwd: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
    await cp(folder, join(cwd, 'pipelines'), { recursive: true });
    // The whole service, with no time to wait and little to draw.
    sandbox = await startSandbox({ apiKey: 'test-key', settings: { pace: 0, pixels: 64 } });
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(cwd, { recursive: true, force: true });
  });

  it.each(examples)('%s is valid, says how to run it, and every job of it is done', async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    expect(text).toContain(`promptpress run pipelines/${name} --sandbox`);
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../schemas/pipeline.schema.json');
    const env = { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'test-key' };
    const { code, err } = await promptpress(['run', `pipelines/${name}`], { cwd, env });
    expect(code, err).toBe(0);
    const [, run = ''] = /^name: (\S+)$/m.exec(text) ?? [];
    const rows = await readManifest(join(cwd, 'runs', run, 'manifest.csv'));
    expect(Object.keys(byStatus(rows))).toEqual(['done']);
  });

  it('versions.yaml presses the button that each version has', async () => {
    const rows = await readManifest(join(cwd, 'runs/versions/manifest.csv'));
    const pressed = new Map(
      rows
        .filter(({ branch = '' }) => branch.includes('|'))
        .map((row) => [row['var.version'], row['button']]),
    );
    expect(Object.fromEntries(pressed)).toEqual({
      '5.2': 'Upscale (2x)',
      '6': 'Upscale (Subtle)',
      '6.1': 'Upscale (Subtle)',
      '7': 'Upscale (Subtle)',
    });
  });
});
