import { expect, it } from 'vitest';
import { systemRefusal } from '../../../src/cli/adapters/system.ts';
import { cli, temporaryFolder } from '../../rig/cli.ts';

it.each(['linux', 'darwin', 'freebsd'] as const)('runs on %s', (platform) => {
  expect(systemRefusal(platform)).toBeUndefined();
});

it('refuses every command on Windows before anything is written, and suggests WSL', async () => {
  await using folder = await temporaryFolder();
  const onWindows = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})';
  for (const args of [['run', 'foxes.yaml', '--sandbox'], ['init'], ['--help'], []]) {
    const { code, stdout, stderr } = await cli(args, {
      cwd: folder.path,
      nodeFlags: ['--import', onWindows],
    });
    expect([args, code, stdout]).toEqual([args, 2, '']);
    expect(stderr).toBe(
      'promptpress: Windows is not supported: promptpress runs on Linux and macOS.\n' +
        '  Run it in WSL 2 (wsl --install), with Node.js and your files inside: in ~, not below /mnt/c.\n',
    );
  }
});
