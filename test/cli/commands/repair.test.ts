import { unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { promptpress } from '../test-io.ts';
import { eachWithRun } from './run-rig.ts';

const { at, runIt, imagesOf } = eachWithRun();

beforeEach(async () => {
  await writeFile(
    at('foxes.yaml'),
    'name: foxes\nmatrix: { animal: [fox, owl] }\nsteps:\n  grid: { imagine: "{{ animal }}", grid: split }\n',
  );
  await runIt();
});

describe('verify --repair', () => {
  it('tells nobody of the run that downloads, and shows none of its words', async () => {
    let asked = 0;
    const hook = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => {
      hook.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void hook.close());
    const [missing = ''] = await imagesOf();
    await unlink(at('run', missing));
    const env = { PROMPTPRESS_NOTIFY: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook` };
    const { code, out, err } = await promptpress(['verify', 'run', '--repair'], { cwd: at(), env });
    expect([code, asked, err]).toEqual([0, 0, '']);
    expect(out).toMatch(/^1 fault mended\.\nrun: 10 files .* all as the state says\.\n$/);
  });
});
