import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress } from '../test-io.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pipeline = `name: foxes
matrix:
  animal: [fox, owl]
  seed: { from: 1, to: 3 }
steps:
  grid:
    imagine: "{{ animal }} --seed {{ seed }}"
    path: U1
`;

describe('promptpress init', () => {
  it.each([
    ['afile', 'init takes a folder, but afile is a file.'],
    ['sets/foxes.yaml', 'init takes a folder, but sets/foxes.yaml is the name of a file.'],
  ])('refuses the file %s, and suggests a folder', async (given, message) => {
    await writeFile(join(cwd, 'afile'), '');
    const { code, err } = await promptpress(['init', given], { cwd });
    expect([code, err.split('\n')[0]]).toEqual([2, `promptpress: ${message}`]);
    expect(err).toContain(`promptpress init ${dirname(given)}\n`);
    expect(await readFile(join(cwd, 'afile'), 'utf8')).toBe('');
    expect(await stat(join(cwd, 'sets')).catch(() => undefined)).toBeUndefined();
  });

  it('writes a pipeline that is valid, the schema its first line names, and an ignore file', async () => {
    const { code, out } = await promptpress(['init', 'sets/new'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain('Next: cd sets/new && promptpress run pipeline.yaml --sandbox');
    const throughNpx = { npm_command: 'exec', npm_lifecycle_event: 'npx' };
    expect((await promptpress(['init', 'sets/new'], { cwd, env: throughNpx })).out).toContain(
      'Next: cd sets/new && npx --no promptpress run pipeline.yaml --sandbox',
    );
    const folder = join(cwd, 'sets/new');
    const text = await readFile(join(folder, 'pipeline.yaml'), 'utf8');
    const [, schema = ''] = /\$schema=(\S+)/.exec(text) ?? [];
    expect(JSON.parse(await readFile(join(folder, schema), 'utf8'))).toHaveProperty('$id');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('runs/\n');
    expect((await promptpress(['validate', 'sets/new/pipeline.yaml'], { cwd })).out).toBe(
      'sets/new/pipeline.yaml: OK\n',
    );
  });

  it('overwrites nothing, and adds to an ignore file only what is missing', async () => {
    await writeFile(join(cwd, 'pipeline.yaml'), 'mine');
    await writeFile(join(cwd, '.gitignore'), 'node_modules');
    await promptpress(['init'], { cwd });
    await promptpress(['init'], { cwd });
    expect(await readFile(join(cwd, 'pipeline.yaml'), 'utf8')).toBe('mine');
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\nruns/\n');
  });
});

describe('promptpress validate', () => {
  it('reads several files, shows all their errors and exits with 2 if one is not valid', async () => {
    await writeFile(join(cwd, 'good.yaml'), pipeline);
    await writeFile(
      join(cwd, 'bad.yaml'),
      pipeline.replace('animal }}', 'animl }}').replace('imagine', 'imagin'),
    );
    const { code, out, err } = await promptpress(['validate', 'good.yaml', 'bad.yaml'], { cwd });
    expect(code).toBe(2);
    expect(out).toBe('good.yaml: OK\n');
    expect(err).toMatch(/^bad\.yaml:\d+:\d+ error /m);
    expect(err).toContain('1 of 2 pipelines');
  });

  it('reads tables to their end', async () => {
    await writeFile(join(cwd, 'rows.csv'), 'animal,scene\nfox,snow\nowl,at dusk,again\n');
    await writeFile(
      join(cwd, 'table.yaml'),
      'name: t\nmatrix: { rows: rows.csv }\nsteps: { g: { imagine: "{{ animal }}, {{ scene }}" } }\n',
    );
    const { code, out, err } = await promptpress(['validate', 'table.yaml'], { cwd });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^rows\.csv:3:1 error table\.columns /);
    expect(err).toContain('table.yaml: 1 error');
  });

  it('counts errors and warnings', async () => {
    const unused = pipeline.replace('seed: {', 'unused: [1, 2]\n  seed: {').replace('path: U1', 'pth: U1');
    await writeFile(join(cwd, 'both.yaml'), unused);
    const { err } = await promptpress(['validate', 'both.yaml'], { cwd });
    const found = (severity: string): number => err.split(` ${severity} `).length - 1;
    expect([found('error'), found('warning')]).toEqual([1, 1]);
    expect(err).toContain('both.yaml: 1 error, 1 warning\n');
  });

  it('refuses a file outside --files-root, and a root that is not a folder', async () => {
    await mkdir(join(cwd, 'set'));
    await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\n');
    await writeFile(
      join(cwd, 'set/table.yaml'),
      'name: t\nmatrix: { rows: ../rows.csv }\nsteps: { g: { imagine: "{{ animal }}" } }\n',
    );
    expect((await promptpress(['validate', 'set/table.yaml'], { cwd })).code).toBe(2);
    expect((await promptpress(['validate', 'set/table.yaml', '--files-root', '.'], { cwd })).code).toBe(0);
    expect((await promptpress(['validate', 'set/table.yaml', '--files-root', 'nowhere'], { cwd })).code).toBe(
      2,
    );
    await mkdir(join(cwd, '.git'));
    expect((await promptpress(['validate', 'set/table.yaml'], { cwd })).code).toBe(0);
  });
});

describe('promptpress plan', () => {
  beforeEach(() => writeFile(join(cwd, 'foxes.yaml'), pipeline));

  it('needs no key and no network, and says that the service is not known', async () => {
    const { code, out, err } = await promptpress(['plan', 'foxes.yaml'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain('foxes: 6 cells, 2 slots each');
    expect(out).toMatch(/12 submissions, all new\./);
    expect(err).toContain('PROMPTPRESS_BASE_URL is not set');
  });

  it('--json fits its schema', async () => {
    const { out } = await promptpress(['plan', 'foxes.yaml', '--sandbox', '--json'], { cwd });
    const schema: object = JSON.parse(
      await readFile(join(import.meta.dirname, '../../../schemas/plan.schema.json'), 'utf8'),
    );
    const check = new Ajv2020({ strict: false }).compile(schema);
    expect(check(JSON.parse(out)), JSON.stringify(check.errors)).toBe(true);
  });

  it('--cells prints each cell once, however many there are', async () => {
    await writeFile(
      join(cwd, 'many.yaml'),
      `name: many\nmatrix: { n: { from: 1, to: 2000 } }\nsteps: { g: { imagine: "{{ n }}" } }\n`,
    );
    const { out } = await promptpress(['plan', 'many.yaml', '--cells'], { cwd });
    const lines = Array.from({ length: 2000 }, (_, at) => `{"cell":${at + 1},"vars":{"n":${at + 1}}}\n`);
    expect(out).toBe(lines.join(''));
  });

  it('--cells prints one object per chosen cell and line', async () => {
    const { out } = await promptpress(
      ['plan', 'foxes.yaml', '--cells', '--filter', 'animal=owl', '--limit', '2'],
      { cwd },
    );
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { cell: 4, vars: { animal: 'owl', seed: 1 } },
      { cell: 5, vars: { animal: 'owl', seed: 2 } },
    ]);
  });

  it('run --dry-run prints the same and leaves nothing behind', async () => {
    const plan = await promptpress(['plan', 'foxes.yaml', '--sandbox', '--limit', '1'], { cwd });
    const dry = await promptpress(['run', 'foxes.yaml', '--sandbox', '--limit', '1', '--dry-run'], { cwd });
    expect(dry).toEqual(plan);
    expect((await promptpress(['status', 'foxes.yaml', '--sandbox'], { cwd })).err).toContain(
      'There is no run in',
    );
  });

  it.each([
    [['--filter', 'animl=fox'], 'Did you mean animal?'],
    [['--filter', 'animal=lynx'], 'no cell has animal "lynx"'],
    [['--cells', '--shard', '9/9'], 'The flags choose no cell.'],
    [['--only', 'gird'], 'grid'],
    [['--code', 'task.failed'], '--retry-failed'],
    [['--redo', 'abcd'], 'nothing has run here'],
    [['--cells', '--json'], '--cells or --json'],
  ])('refuses %j with exit 2', async (flags, message) => {
    const { code, err } = await promptpress(['plan', 'foxes.yaml', ...flags], { cwd });
    expect(code, err).toBe(2);
    expect(err).toContain(message);
  });
});
