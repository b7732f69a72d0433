import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openState } from '../../../../src/state/state.ts';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { copyDirectory, openPlace, type RunPlace } from '../../../rig/run-place.ts';
import { startFakeS3 } from '../../../rig/s3/fake-s3.ts';

let place: RunPlace;
let home: string;
beforeEach(async () => {
  place = await openPlace(`name: killed
poll: { min: 1ms, max: 1ms }
retry: { attempts: 1 }
matrix: { animal: [fox, owl] }
steps: { grid: { imagine: "a {{ animal }}" } }
`);
  home = join(place.folder, 'home');
});
afterEach(() => place[Symbol.asyncDispose]());

const keyFile = (): string => join(home, 'promptpress/maker.key');

const pp = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> =>
  promptpress(args, {
    cwd: place.folder,
    env: { ...place.env, XDG_STATE_HOME: home, ...env },
    now: Date.now,
  });

const run = (...flags: readonly string[]): Promise<Said> => pp(['run', 'killed.yaml', ...flags]);

/** As on another machine, or in a container that keeps nothing. */
const elsewhere = (): Promise<void> => rm(home, { recursive: true, force: true });

describe('a run directory that was begun elsewhere', () => {
  beforeEach(async () => {
    const begun = await run('--max-submits', '1');
    if (begun.code !== 4) throw new Error(begun.err);
    await elsewhere();
  });

  it('is refused by every command that continues it, before anything is sent or changed', async () => {
    const sent = place.service.requests.length;
    const state = openState(place.directory);
    const [key = ''] = await state.reader.keysWithPrefix('', 1);
    state.close();
    const [image = ''] = (await readdir(join(place.directory, 'images'), { recursive: true })).filter(
      (name) => name.endsWith('.png'),
    );
    await rm(join(place.directory, 'images', image));
    const before = await readFile(join(place.directory, 'state.db'));
    for (const args of [
      ['run', 'killed.yaml'],
      ['run', 'killed.yaml', '--redo', key],
      ['resolve', key, 'killed.yaml', '--drop'],
      ['clean', 'killed.yaml', '--yes'],
      ['verify', 'killed.yaml', '--repair'],
    ]) {
      const { code, err } = await pp(args);
      expect(code, `${args.join(' ')}: ${err}`).toBe(2);
      expect(err).toContain(`The run in ${place.directory} was not begun by you on this machine`);
      expect(err).toContain('--trust-directory once');
    }
    expect(place.service.requests).toHaveLength(sent);
    expect(await readFile(join(place.directory, 'state.db'))).toEqual(before);
    await expect(stat(keyFile())).rejects.toThrow('ENOENT');
  });

  it('can be read as usual', async () => {
    for (const args of [
      ['status', 'killed.yaml'],
      ['manifest', 'runs/killed'],
      ['plan', 'killed.yaml'],
      ['ls'],
      ['verify', 'killed.yaml'],
      ['report', 'killed.yaml'],
      ['export', 'killed.yaml', '--format', 'jsonl', '--to', 'data'],
    ]) {
      const { code, err } = await pp(args);
      expect(code, `${args.join(' ')}: ${err}`).toBe(0);
    }
  });

  it('belongs to the user once he has said so', async () => {
    expect((await run('--trust-directory', '--max-submits', '0')).code).toBe(4);
    const { code, err } = await run();
    expect(code, err).toBe(0);
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  });

  it('is not accepted with a key that others can read, nor with another user’s mark', async () => {
    expect((await run('--trust-directory', '--max-submits', '0')).code).toBe(4);
    await chmod(keyFile(), 0o640);
    expect((await run()).code).toBe(2);
    await chmod(keyFile(), 0o600);
    const state = openState(place.directory);
    const mark = state.fact('state.maker') ?? '';
    state.setFact('state.maker', `x${mark}`);
    state.close();
    expect((await run()).code).toBe(2);
  });
});

describe('a run directory of the user', () => {
  it('is recognised after it was moved or copied', async () => {
    expect((await run('--max-submits', '1')).code).toBe(4);
    await copyDirectory(place.directory, join(place.folder, 'copied'));
    await rename(place.directory, join(place.folder, 'moved'));
    for (const out of ['copied', 'moved']) {
      const { code, err } = await run('--out', out);
      expect(code, err).toBe(0);
    }
  });

  it('is recognised after a crash before it had its mark', async () => {
    await mkdir(place.directory, { recursive: true });
    openState(place.directory).close();
    await writeFile(join(place.directory, 'lock'), '');
    const { code, err } = await run();
    expect(code, err).toBe(0);
  });

  it('is made without a mark, with a warning, if nothing can be kept', async () => {
    await writeFile(join(place.folder, 'file'), '');
    const env = { XDG_STATE_HOME: join(place.folder, 'file') };
    const { code, err } = await pp(['run', 'killed.yaml'], env);
    expect(code, err).toBe(0);
    expect(err).toContain('cannot get your mark');
    expect(err).toContain('--trust-directory');
    expect((await pp(['run', 'killed.yaml'], env)).code).toBe(2);
    const trusted = await pp(['run', 'killed.yaml', '--trust-directory'], env);
    expect([trusted.code, trusted.err]).toEqual([0, expect.not.stringContaining('your mark')]);
  });

  it('has the mark of the user who merges it', async () => {
    expect((await run('--shard', '1/2', '--out', 'one')).code).toBe(0);
    expect((await run('--shard', '2/2', '--out', 'two')).code).toBe(0);
    await elsewhere();
    const merged = await pp(['merge', 'one', 'two', '--out', 'both', '--trust-directory']);
    expect(merged.code, merged.err).toBe(0);
    const { code, err } = await run('--out', 'both');
    expect(code, err).toBe(0);
  });
});

describe('a bucket that a state names', () => {
  it('receives the keys of this machine if the user has named it here, or trusts it', async () => {
    await using fake = await startFakeS3();
    const at = { ...fake.env };
    const begun = await pp(['run', 'killed.yaml', '--out', 's3://pictures/killed', '--max-submits', '1'], at);
    expect(begun.code, begun.err).toBe(4);
    expect((await pp(['manifest', 'killed.yaml'], at)).code).toBe(0);
    await elsewhere();
    const sent = fake.requests.length;
    for (const args of [
      ['run', 'killed.yaml', '--trust-directory'],
      ['manifest', 'killed.yaml'],
      ['verify', 'killed.yaml'],
      ['export', 'killed.yaml', '--format', 'imagefolder', '--to', 'data'],
    ]) {
      const { code, err } = await pp(args, at);
      expect(code, `${args.join(' ')}: ${err}`).toBe(2);
      expect(err).toContain(
        '$AWS_SECRET_ACCESS_KEY was not sent to s3://pictures: that address is written in',
      );
      expect(err).toContain('promptpress trust s3://pictures\n');
    }
    expect(fake.requests).toHaveLength(sent);
    const trusting = { ...at, PROMPTPRESS_TRUSTED_ORIGINS: 's3://pictures' };
    expect((await pp(['manifest', 'killed.yaml'], trusting)).code).toBe(0);
    const named = ['run', 'killed.yaml', '--out', 's3://pictures/killed'];
    const { code, err } = await pp(named, at);
    expect(code, err).toBe(0);
    expect((await pp(['verify', 'killed.yaml'], at)).code).toBe(0);
  });
});
