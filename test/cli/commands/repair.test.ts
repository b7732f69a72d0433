import { unlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { openState } from '../../../src/state/state.ts';
import { withoutFiles, withoutFrames } from '../../../src/upkeep/without-files.ts';
import { promptpress } from '../test-io.ts';
import { eachWithRun } from './run-rig.ts';

const { pp, at, runIt, rows, imagesOf } = eachWithRun(
  'name: foxes\nmatrix: { animal: [fox, owl] }\nsteps:\n  grid: { imagine: "{{ animal }}", grid: split }\n',
);

/** Leaves a state as a repair does that is killed once it has taken the files of a job out of it. */
async function killed(without: (record: JobRecord) => JobRecord): Promise<string> {
  const key = (await rows())[0]?.['job'] ?? '';
  const state = openState(at('run'));
  const record = state.get(key);
  if (record !== undefined) state.commit({ records: [without(record)], attempts: [] });
  state.close();
  return key;
}

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

  it('says what one that was killed left without files, and how to have them again; mends it', async () => {
    const before = await rows();
    const job = await killed(withoutFiles);
    const { code, out } = await pp('verify', 'run');
    expect(code).toBe(1);
    expect(out).toContain(`not downloaded yet: the files of job ${job}, which is done`);
    expect(out).toContain('promptpress verify run --repair');
    expect(out).toContain('the next promptpress run does too');
    expect((await pp('verify', 'run', '--json')).out).toContain(
      `{"kind":"unsaved","job":"${job}","isRepairable":true}`,
    );
    const mended = await pp('verify', 'run', '--repair');
    expect([mended.code, mended.out]).toEqual([0, expect.stringContaining('all as the state says')]);
    expect((await rows()).map(({ sha256 }) => sha256)).toEqual(before.map(({ sha256 }) => sha256));
  });

  it('says what one that was killed left without frames; the next run cuts them', async () => {
    const job = await killed(withoutFrames);
    const { code, out } = await pp('verify', 'run');
    expect([code, out]).toEqual([1, expect.stringContaining(`not cut into frames yet: job ${job}`)]);
    expect(await runIt()).toContain('1 grid cut into frames');
    expect((await pp('verify', 'run')).code).toBe(0);
  });
});
