import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { makePng } from '../../../rig/png.ts';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { startFakeS3 } from '../../../rig/s3/fake-s3.ts';
import { type EngineRig, startEngine } from '../engine-rig.ts';

const ours = makePng(1);
const theirs = makePng(2);
const sha256 = createHash('sha256').update(ours).digest('hex');
const copy = `inputs/${sha256}.image`;

const pipeline = (name: string, ask = ''): string => `name: ${name}
matrix: { n: [1, 2, 3] }
steps:${ask}
  look: { generate: { model: text-pro, prompt: "${name} {{ n }}", images: ["${ask === '' ? 'pic.png' : '{{ steps.pick.text }}'}"] } }
`;
const pick = `
  pick: { generate: { model: text-pro, prompt: "pick {{ n }}" } }`;

describe.skipIf(!hasPostgres)('the files of a pipeline on several machines', () => {
  let rig: EngineRig;
  let engine: readonly string[];
  /** The images that the service was shown. */
  const shown: Buffer[] = [];
  /** Called while an image is looked at. */
  let onLook: () => void = () => undefined;
  beforeAll(async () => {
    rig = await startEngine(undefined, {
      text: {
        says: ({ text, images }) => {
          shown.push(...images.map(({ bytes }) => bytes));
          if (images.length > 0) onLook();
          return { text: text.startsWith('pick') ? 'pic.png' : 'a picture' };
        },
      },
    });
    engine = ['--engine', rig.database.url, '--queue', 'lease'];
    await mkdir(rig.at('elsewhere'));
    await writeFile(rig.at('pic.png'), ours);
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
  });

  const status = async (name: string) => {
    const file = join(import.meta.dirname, '../../../../schemas/status.schema.json');
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(file, 'utf8')) as object,
    );
    const { out } = await rig.pp('status', `${rig.database.url}#${name}`, '--json');
    const said = JSON.parse(out) as { engine?: { lacks?: readonly unknown[] } };
    expect(check(said), JSON.stringify(check.errors)).toBe(true);
    return said.engine;
  };
  const worker = (name: string, env: Readonly<Record<string, string>> = {}) =>
    rig.start(['worker', '--engine', rig.database.url, '--name', name], {
      folder: rig.at('elsewhere'),
      env,
    });
  const statuses = async (name: string): Promise<readonly (string | undefined)[]> =>
    (await rig.rows(`runs/${name}`)).map((row) => row['status']);

  it.each([
    ['another one', 'other', theirs, ''],
    ['none, and of which only a reply tells', 'told', undefined, pick],
  ])(
    'are copied into the folder of the run for a worker that has %s, until the run ends',
    async (_words, name, own, ask) => {
      shown.length = 0;
      if (own !== undefined) await writeFile(rig.at('elsewhere/pic.png'), own);
      await rig.write(`${name}.yaml`, pipeline(name, ask));
      const lead = rig.start(['run', `${name}.yaml`, '--no-work', ...engine]);
      const lacking = worker(`${name}-worker`);
      const copies: Promise<unknown>[] = [];
      onLook = () => copies.push(readdir(rig.at('runs', name, 'inputs')));
      expect(await lead.done, lead.err()).toBe(0);
      lacking.interrupt();
      await lacking.done;
      await rm(rig.at('elsewhere/pic.png'), { force: true });
      expect(shown).toEqual([ours, ours, ours]);
      expect(await Promise.all(copies)).toEqual(copies.map(() => [`${sha256}.image`]));
      expect(await readdir(rig.at('runs', name, 'inputs'))).toEqual([]);
      expect(lacking.err()).toMatch(/"pic.png" is missing on this machine, or differs from/);
      const done = ask === '' ? ['done', 'done', 'done'] : Array.from({ length: 6 }, () => 'done');
      expect(await statuses(name)).toEqual(done);
    },
  );

  it('are copied into the bucket of the run, where no command treats them as results', async () => {
    await using fake = await startFakeS3();
    const env = { ...fake.env, PROMPTPRESS_TRUSTED_ORIGINS: 's3://pictures' };
    const pp = (...args: readonly string[]): Promise<Said> =>
      promptpress(args, { cwd: rig.at(), env: { ...rig.env, ...env } });
    await rig.write('remote.yaml', pipeline('remote'));
    shown.length = 0;
    const found: Promise<unknown>[] = [];
    const place = `${rig.database.url}#remote`;
    onLook = () => {
      if (found.length > 0) return;
      found.push(Promise.resolve([...fake.objects.keys()].filter((key) => key.includes('inputs/'))));
      found.push(pp('verify', place).then(({ out }) => out.includes('inputs/')));
    };
    const lead = rig.start(['run', 'remote.yaml', '--no-work', '--out', 's3://pictures/remote', ...engine], {
      env,
    });
    const lacking = worker('remote-worker', env);
    expect(await lead.done, lead.err()).toBe(0);
    lacking.interrupt();
    await lacking.done;
    expect(shown).toEqual([ours, ours, ours]);
    expect(await Promise.all(found)).toEqual([[`remote/${copy}`], false]);
    expect([...fake.objects.keys()].filter((key) => key.includes('inputs/'))).toEqual([]);
    const verified = await pp('verify', place);
    expect([verified.code, verified.out.includes('inputs/')]).toEqual([0, false]);
  });

  it('end the run if no worker has them, with file, hash and workers; the next run continues', async () => {
    const name = 'nobody';
    onLook = () => undefined;
    shown.length = 0;
    await rig.write(`${name}.yaml`, `retry: { patience: 4s }\n${pipeline(name)}`);
    const lead = rig.start(['run', `${name}.yaml`, '--no-work', ...engine]);
    await expect
      .poll(() => asked(rig.database.url, `SELECT FROM promptpress.runs WHERE name = '${name}' AND fed`), {
        timeout: 20_000,
      })
      .toHaveLength(1);
    await rm(rig.at('pic.png'));
    const lacking = worker('poor');
    await expect
      .poll(async () => (await status(name))?.lacks, { timeout: 20_000 })
      .toEqual([{ worker: 'poor', path: 'pic.png', sha256, slices: 3 }]);
    expect((await rig.pp('status', `${rig.database.url}#${name}`)).out).toContain(
      `  lacks        poor: "pic.png" (SHA-256 ${sha256.slice(0, 12)}), 3 slices`,
    );
    expect(await lead.done).toBe(3);
    expect(lead.err()).toMatch(
      new RegExp(`No worker has "pic.png" \\(SHA-256 ${sha256}\\).*: poor lacked it for 4 s`),
    );
    expect(lead.err()).toContain('it is not copied for them');
    lacking.interrupt();
    await lacking.done;
    expect(await statuses(name)).toEqual(['pending', 'pending', 'pending']);
    expect(shown).toEqual([]);
    await writeFile(rig.at('pic.png'), ours);
    expect((await rig.pp('run', `${name}.yaml`, ...engine)).code).toBe(0);
    expect(await statuses(name)).toEqual(['done', 'done', 'done']);
  });
});
