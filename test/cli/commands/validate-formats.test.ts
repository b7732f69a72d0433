import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { githubCommands, type Validation } from '../../../src/report/text/validation.ts';
import { startFakeService } from '../../rig/fake-service.ts';
import { promptpress, type Said } from '../test-io.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'good.yaml'), 'name: good\nsteps: { g: { imagine: a fox } }\n');
  await writeFile(
    join(cwd, 'bad.yaml'),
    'name: bad\nmatrix: { animal: [fox], unused: [1, 2] }\nsteps:\n  g:\n    imagine: "{{ animl }}"\n    pth: U1\n',
  );
  await writeFile(
    join(cwd, 'table.yaml'),
    'name: t\nmatrix: { rows: rows.csv }\nsteps: { g: { imagine: "{{ animal }}" } }\n',
  );
  await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\nowl,at dusk\n');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });

async function fits(text: string): Promise<Validation> {
  const file = join(import.meta.dirname, '../../../schemas/validate.schema.json');
  const check = new Ajv2020({ strict: false }).compile(JSON.parse(await readFile(file, 'utf8')) as object);
  const value = JSON.parse(text) as Validation;
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  return value;
}

describe('promptpress validate --json', () => {
  it('is one object with every mistake of every file and table, with the same positions as in text', async () => {
    const files = ['good.yaml', 'bad.yaml', 'table.yaml'];
    const { code, out, err } = await pp('validate', ...files, '--json');
    expect([code, err]).toEqual([2, '']);
    const found = await fits(out);
    expect(found.valid).toBe(false);
    expect(found.files.map(({ file, valid }) => [file, valid])).toEqual([
      ['good.yaml', true],
      ['bad.yaml', false],
      ['table.yaml', false],
    ]);
    const text = (await pp('validate', ...files)).err;
    const all = found.files.flatMap(({ diagnostics }) => diagnostics);
    expect(all.length).toBeGreaterThan(2);
    for (const { file, line, column, severity, code: name } of all)
      expect(text).toContain(`${file}:${line}:${column} ${severity} ${name} `);
    expect(found.files[2]?.diagnostics[0]?.file).toBe('rows.csv');
    for (const { errors, warnings, diagnostics } of found.files)
      expect(errors + warnings).toBe(diagnostics.length);
  });

  it('says that all are valid, with exit code 0; --format json is the same', async () => {
    const { code, out } = await pp('validate', 'good.yaml', '--json');
    expect(code).toBe(0);
    expect((await fits(out)).valid).toBe(true);
    expect((await pp('validate', 'good.yaml', '--format', 'json')).out).toBe(out);
  });

  it('--online names the models that the service does not list, with their line', async () => {
    const service = await startFakeService();
    try {
      await writeFile(
        join(cwd, 'words.yaml'),
        'name: w\nsteps:\n  say: { chat: { model: no-such-model, prompt: hello } }\n',
      );
      const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
      const args = ['validate', 'words.yaml', 'good.yaml', '--online'];
      const json = await promptpress([...args, '--json'], { cwd, env });
      expect(json.code, json.err).toBe(0);
      const { files } = await fits(json.out);
      expect(files.map(({ online }) => online)).toEqual([
        expect.objectContaining({
          asked: 1,
          service: service.url,
          unlisted: [{ model: 'no-such-model', step: 'say', line: 3 }],
        }),
        { asked: 0, service: service.url, images: true, unlisted: [] },
      ]);
      const github = await promptpress([...args, '--format', 'github'], { cwd, env });
      expect(github.out).toBe(
        '::warning file=words.yaml,line=3,title=model.unlisted::The service does not list the model "no-such-model" that the step "say" asks.\n',
      );
    } finally {
      await service.close();
    }
  });

  it('models shows when each model was made, from the seconds of the service', async () => {
    const service = await startFakeService();
    const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
    const { out } = await promptpress(['models', '--json'], { cwd, env });
    const answer = await fetch(`${service.url}/v1/models`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const { data } = (await answer.json()) as { data: { id: string; created: number }[] };
    await service.close();
    const { models } = JSON.parse(out) as { models: { id: string; created: string }[] };
    expect(models.length).toBeGreaterThan(1);
    for (const { id, created } of models)
      expect(Date.parse(created) / 1000).toBe(data.find((one) => one.id === id)?.created);
  });

  it('--online checks the key of each pipeline, even at the same address', async () => {
    const service = await startFakeService();
    try {
      const text = (key: string): string =>
        `name: w\nservice: { apiKey: "\${${key}}" }\nsteps:\n  say: { chat: { model: chat-mini, prompt: hello } }\n`;
      await writeFile(join(cwd, 'one.yaml'), text('ONE_KEY'));
      await writeFile(join(cwd, 'two.yaml'), text('TWO_KEY'));
      const env = { PROMPTPRESS_BASE_URL: service.url, ONE_KEY: service.apiKey, TWO_KEY: 'sk-another-key' };
      const codes = ['one.yaml', 'two.yaml', 'one.yaml two.yaml'].map(
        async (files) =>
          (await promptpress(['validate', ...files.split(' '), '--online'], { cwd, env })).code,
      );
      expect(await Promise.all(codes)).toEqual([0, 3, 3]);
    } finally {
      await service.close();
    }
  });

  const family = 'service: { names: midjourney-proxy }\n';
  it.each([
    ['is proved', {}, family, '', 0, 'the image workflow is there and takes the key'],
    [
      'is proved without a key',
      { auth: 'none' },
      'service: { names: midjourney-proxy, auth: none }\n',
      '',
      0,
      'takes the key',
    ],
    ['says which form of the key is taken', { auth: 'raw' }, family, '', 0, 'service.auth: raw'],
    ['says what a segment too many is', {}, family, '/mj', 3, '/mj/mj/task/1000000000000001/fetch'],
    ['knows other names', {}, '', '', 3, 'service.names'],
    [
      'names the forms of a key that is not taken',
      { apiKey: 'another-key' },
      family,
      '',
      3,
      'without Bearer',
    ],
    ['names an empty 403', { apiKey: 'another-key', refusal: 'mute' }, family, '', 3, 'without a word'],
  ] as const)('--online at the image workflow %s', async (_what, options, settings, more, exit, says) => {
    const service = await startFakeService({ names: 'midjourney-proxy', ...options });
    try {
      await writeFile(join(cwd, 'images.yaml'), `name: w\n${settings}steps: { g: { imagine: a fox } }\n`);
      const env = { PROMPTPRESS_BASE_URL: `${service.url}${more}`, PROMPTPRESS_API_KEY: 'test-key' };
      const { code, out, err } = await promptpress(['validate', 'images.yaml', '--online'], { cwd, env });
      expect(code, err).toBe(exit);
      expect(`${out}${err}`).toContain(says);
      expect(service.submits.all).toEqual([]);
    } finally {
      await service.close();
    }
  });

  it('--online checks the sandbox', async () => {
    await writeFile(join(cwd, 'images.yaml'), 'name: w\nsteps: { g: { imagine: a fox } }\n');
    const { code, out } = await pp('validate', 'images.yaml', '--online', '--sandbox');
    expect([code, out]).toEqual([0, expect.stringContaining('takes the key')]);
  });

  it.each([
    [['--json', '--format', 'github'], '--json and --format github cannot be used together.'],
    [['--format', 'xml'], '--format takes one of text, json, github, not "xml".'],
  ])('%j is refused', async (flags, message) => {
    const { code, out, err } = await pp('validate', 'good.yaml', ...flags);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });
});

describe('promptpress validate --format github', () => {
  it('prints a workflow command for each mistake, beside its line in the checkout', async () => {
    await mkdir(join(cwd, 'sets'));
    await writeFile(join(cwd, 'sets/one.yaml'), 'name: one\nsteps:\n  g: { imagin: a fox }\n');
    const { code, out, err } = await promptpress(['validate', 'one.yaml', '--format', 'github'], {
      cwd: join(cwd, 'sets'),
      env: { GITHUB_WORKSPACE: cwd },
    });
    expect(code).toBe(2);
    expect(out).toMatch(/^::error file=sets\/one\.yaml,line=3,col=\d+,endColumn=\d+,title=[a-z.-]+::.+\n$/);
    expect(err).toBe('promptpress: 1 of 1 pipelines are not valid.\n');
    const here = await pp('validate', 'good.yaml', '--format', 'github');
    expect([here.code, here.out, here.err]).toEqual([0, '', 'promptpress: The pipeline is valid.\n']);
  });

  it('escapes characters that would end a value or the command', () => {
    const one = {
      severity: 'error',
      code: 'a.b',
      message: '100% wrong:\r\n::stop-commands::x, y',
      hint: 'Did you mean "a:b"?',
      file: 'x,y:z%.yaml',
      line: 4,
      column: 9,
      length: 2,
    } as const;
    const file = { file: 'x', valid: false, errors: 1, warnings: 0, diagnostics: [one] };
    expect(githubCommands({ valid: false, files: [file] }, { cwd: '/repo' })).toBe(
      '::error file=x%2Cy%3Az%25.yaml,line=4,col=9,endColumn=11,title=a.b::' +
        '100%25 wrong:%0D%0A::stop-commands::x, y%0ADid you mean "a:b"?\n',
    );
  });
});
