import { statSync } from 'node:fs';
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { openState } from '../../../src/state/state.ts';
import { withoutFiles, withoutFrames } from '../../../src/upkeep/without-files.ts';
import { promptpress } from '../test-io.ts';
import { eachWithRun } from './run-rig.ts';

const { pp, at, runIt, rows, imagesOf, status } = eachWithRun(
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

/** A run that is recognised leaves the file as it was. */
const manifest = (): bigint => statSync(at('run/manifest.csv'), { bigint: true }).ino;

describe('verify --repair', () => {
  it('sends no notification for the run that downloads, and shows none of its messages', async () => {
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
    expect(out).toMatch(/^1 fault repaired\.\nrun: 10 files .* all as the state says\.\n$/);
  });

  it('mends files behind jobs that were never submitted; the last run stays as it was', async () => {
    const [missing = ''] = (await rows()).flatMap(
      ({ prompt, file_name: name }) => (prompt === 'owl' && name) || [],
    );
    const pipeline = (await readFile(at('foxes.yaml'), 'utf8')).replace(
      '[fox, owl]',
      '[crow, owl, elk, fox]',
    );
    await writeFile(at('foxes.yaml'), pipeline);
    const fox = ['--filter', 'animal=fox'];
    await runIt(...fox);
    const seen = async (): Promise<unknown> => {
      const { slots, jobs, submits, end } = await status();
      return [slots, jobs, submits, end, (await rows()).map(({ file_name: file, sha256 }) => [file, sha256])];
    };
    const before = await seen();
    await unlink(at('run', missing));
    const { code, out } = await pp('verify', 'run', '--repair');
    expect([code, out]).toEqual([0, expect.stringMatching(/^1 fault repaired\.\n/)]);
    expect(await seen()).toEqual(before);
    // The repair has written the manifest.
    expect(await runIt(...fox)).toContain('0 submissions');
    const written = manifest();
    expect([await runIt(...fox), manifest()]).toEqual([expect.stringContaining('0 submissions'), written]);
    // The repair has done nothing of the rest, and asks for no money.
    await writeFile(at('foxes.yaml'), `${pipeline}budget: { ask: 0.5 }\nprices: { imagine: 1 }\n`);
    await unlink(at('run', missing));
    expect((await pp('verify', 'run', '--repair')).out).toMatch(/^1 fault repaired\.\n/);
    await writeFile(at('foxes.yaml'), pipeline);
    expect(await runIt()).toContain('2 submissions');
  });

  it('has no run recognised whose failed job the next one looks at', async () => {
    const [gone = ''] = await imagesOf();
    await writeFile(
      at('foxes.yaml'),
      (await readFile(at('foxes.yaml'), 'utf8')).replace('[fox, owl]', '[crow]'),
    );
    const run = ['run', 'foxes.yaml', '--sandbox', '--pace', '0.01', '--out', 'run'];
    expect((await pp(...run, '--fault', 'submit:400:at 1')).code).toBe(1);
    await unlink(at('run', gone));
    expect((await pp('verify', 'run', '--repair')).out).toContain('0 faults repaired.');
    const written = manifest();
    expect([(await pp(...run)).code, manifest() === written]).toEqual([1, false]);
  });

  it('keeps how an unfinished run ended, and what continues it', async () => {
    const pipeline = await readFile(at('foxes.yaml'), 'utf8');
    await writeFile(at('foxes.yaml'), pipeline.replace('[fox, owl]', '[fox, owl, elk, crow]'));
    await expect(runIt('--max-submits', '1')).rejects.toThrow('--max-submits');
    const before = await status();
    expect(before).toMatchObject({ end: { kind: 'budget' } });
    const [missing = ''] = await imagesOf();
    await unlink(at('run', missing));
    expect((await pp('verify', 'run', '--repair')).out).toMatch(/^1 fault repaired\.\n/);
    const { end, exitCode, slots } = await status();
    expect([end, exitCode, slots]).toEqual([before['end'], before['exitCode'], before['slots']]);
  });

  it('reports jobs without files after a killed repair, says how to restore them, and restores them', async () => {
    const before = await rows();
    const job = await killed(withoutFiles);
    const { code, out } = await pp('verify', 'run');
    expect(code).toBe(1);
    expect(out).toContain(`not downloaded yet: the files of job ${job}, which is done`);
    expect(out).toContain('promptpress verify run --repair');
    expect(out).toContain('The next promptpress run also downloads and cuts');
    expect((await pp('verify', 'run', '--json')).out).toContain(
      `{"kind":"unsaved","job":"${job}","isRepairable":true}`,
    );
    const mended = await pp('verify', 'run', '--repair');
    expect([mended.code, mended.out]).toEqual([0, expect.stringContaining('all as the state says')]);
    expect((await rows()).map(({ sha256 }) => sha256)).toEqual(before.map(({ sha256 }) => sha256));
  });

  it('reports jobs without frames after a killed repair; the next run cuts them', async () => {
    const job = await killed(withoutFrames);
    const { code, out } = await pp('verify', 'run');
    expect([code, out]).toEqual([1, expect.stringContaining(`not cut into frames yet: job ${job}`)]);
    expect(await runIt()).toContain('1 grid cut into frames');
    expect((await pp('verify', 'run')).code).toBe(0);
  });
});
