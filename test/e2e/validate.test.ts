import { describe, expect, it } from 'vitest';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { write } from './pipelines.ts';

const fiveDiagnostics = `name: mistakes
limits: { taskz: 3 }
matrix:
  animal: [fox, owl]
steps:
  grid:
    imagine: "{{ animl }} --v 6.1"
    path: U4..U1
  more:
    from: gird
    click: Vary (Strong)
  last:
    imagine: "{{ animal }}"
    keep: often
`;

describe('promptpress validate', () => {
  it('shows five different errors at once, each on its line, and exits with 2', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'mistakes.yaml': fiveDiagnostics });
    const { code, stderr, stdout } = await cli(['validate', 'mistakes.yaml'], { cwd: folder.path });
    expect(code).toBe(2);
    const places = [...`${stdout}${stderr}`.matchAll(/mistakes\.yaml:(\d+):(\d+)/g)].map(
      ([, line, column]) => `${line}:${column}`,
    );
    expect(places).toEqual(['2:11', '7:18', '8:11', '10:11', '14:11']);
  });

  it('needs no network, no key and no address', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'good.yaml': 'name: good\nsteps:\n  grid:\n    imagine: a fox\n' });
    const { code, stderr } = await cli(['validate', 'good.yaml'], { cwd: folder.path });
    expect(code, stderr).toBe(0);
  });
});
