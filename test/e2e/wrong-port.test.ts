import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { quick, write } from './pipelines.ts';

const pipelineOf = (name: string): string => `name: ${name}
${quick}
matrix: { seed: { from: 1, to: 20 } }
steps:
  grid: { imagine: "a fox --seed {{ seed }}" }
  story: { generate: { model: text-pro, prompt: "A fox, {{ seed }}" } }
`;

async function sandboxWith(fault: string): Promise<string> {
  const parsed = parseFault(fault);
  if (!parsed.ok) throw new Error(parsed.error);
  const settings = { pace: 0, pixels: 64, textLatency: 0, faults: [parsed.value] };
  const sandbox = await startSandbox({ apiKey: 'none', settings });
  onTestFinished(() => sandbox.close());
  return sandbox.url;
}

it.each([
  ['http', 'any:no-http=tls', /this port speaks TLS: write https:\/\//],
  ['http', 'any:no-http=http2', /this port speaks only HTTP\/2/],
  ['https', 'submit:429:at 1000', /this port does not speak TLS: try http:\/\//],
])(
  'a base address of %s at a port with %s ends the run, and nothing is in doubt',
  async (scheme, fault, words) => {
    await using folder = await temporaryFolder();
    const url = await sandboxWith(fault);
    await write(folder.path, { 'pr.yaml': pipelineOf('pr-none') });
    const env = { PROMPTPRESS_BASE_URL: url.replace('http:', `${scheme}:`), PROMPTPRESS_API_KEY: 'none' };
    const result = await cli(['run', 'pr.yaml'], { cwd: folder.path, env });
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toMatch(words);
    expect(result.stderr).not.toContain('in flight');
    // A key that is too short to be a secret is no part of a name.
    expect(result.stderr + result.stdout).toContain('pr-none');
    expect(result.stderr + result.stdout).not.toContain('[secret]');
    const rows = await readManifest(join(folder.path, 'runs/pr-none/manifest.csv'));
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['pending']));
  },
);

it('a port that breaks off whatever it is asked ends the run after three free requests', async () => {
  await using folder = await temporaryFolder();
  const url = await sandboxWith('any:reset-before');
  await write(folder.path, { 'pr.yaml': pipelineOf('broken') });
  const env = { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: 'none' };
  const result = await cli(['run', 'pr.yaml'], { cwd: folder.path, env });
  expect(result.code, result.stderr).toBe(3);
  expect(result.stderr).toMatch(/has never answered in HTTP: check the host and the port/);
  const rows = await readManifest(join(folder.path, 'runs/broken/manifest.csv'));
  const states = rows.map(({ status }) => status);
  expect(states.filter((state) => state === 'in-doubt').length).toBeLessThanOrEqual(1);
  expect(new Set(states.filter((state) => state !== 'in-doubt'))).toEqual(new Set(['pending']));
});
