import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandFile, startCli, temporaryFolder } from '../rig/cli.ts';
import { repository } from '../rig/documents.ts';
import { serviceEnv, startQuickService } from '../rig/measured.ts';

/** Says of each module that the process loads, CommonJS too, where it lies. */
const watch = `
import { register } from 'node:module';
import Module from 'node:module';
const load = Module.prototype.load;
Module.prototype.load = function (file) { process._rawDebug('LOADED ' + file); return load.call(this, file); };
register('data:text/javascript,' + encodeURIComponent(
  "export const load = (url, context, next) => { process._rawDebug('LOADED ' + url); return next(url, context); };"
));`;

interface Loaded {
  /** All files, of this package and others. */
  readonly files: readonly string[];
  readonly code: number | undefined;
  /** How many are of this package. */
  readonly own: number;
  /** Names of packages. */
  readonly packages: readonly string[];
}

async function loadedBy(
  args: readonly string[],
  given: { readonly pipeline?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Loaded> {
  await using folder = await temporaryFolder();
  if (given.pipeline !== undefined) await writeFile(join(folder.path, 'pipeline.yaml'), given.pipeline);
  const { code, stderr } = await startCli(args, {
    cwd: folder.path,
    ...(given.env && { env: given.env }),
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(watch)}`],
  }).done;
  const files = [...stderr.matchAll(/^LOADED (?:file:\/\/)?(.+)$/gm)].map(([, file = '']) => file);
  const dist = join(commandFile, '../..');
  const packages = files.flatMap((file) =>
    file.startsWith(dist) ? [] : (/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
  );
  return {
    code,
    files,
    own: files.filter((file) => file.startsWith(dist)).length,
    packages: [...new Set(packages)].sort(),
  };
}

it('loads little more than itself for --help and --version', async () => {
  for (const flag of ['--help', '--version']) {
    const { code, own, packages } = await loadedBy([flag]);
    expect(code).toBe(0);
    expect(own).toBeGreaterThan(0);
    expect(own, flag).toBeLessThan(10);
    expect(packages, flag).toEqual([]);
  }
});

it('loads for the check of a valid pipeline what reads it, and nothing that compiles schemas, sends, draws or stores', async () => {
  const { code, files, own, packages } = await loadedBy([
    'validate',
    join(repository, 'pipelines/foxes.yaml'),
  ]);
  expect(code).toBe(0);
  expect(own).toBeLessThan(20);
  expect(files.filter((file) => file.endsWith('/dist/packages/yaml.cjs'))).toHaveLength(1);
  for (const heavy of [
    'ajv',
    'csv-parse',
    'undici',
    'sharp',
    'pino',
    '@photostructure/sqlite',
    'string-width',
    'yaml',
  ])
    expect(packages).not.toContain(heavy);
});

it('loads for short commands no package that they do not use', async () => {
  for (const name of ['init', 'trust', 'sandbox']) {
    const { own, packages } = await loadedBy([name, '--help']);
    expect(own, name).toBeLessThan(20);
    expect(packages, name).toEqual(['fastest-levenshtein']);
  }
});

it('loads for a run of texts of what sends requests only the parts that do, and nothing that draws or reads lists', async () => {
  const service = await startQuickService();
  try {
    const { code, files, packages } = await loadedBy(['run'], {
      pipeline: 'name: texts\nsteps: { say: { generate: { model: text-pro, prompt: hello } } }\n',
      env: serviceEnv(service.url),
    });
    expect(code).toBe(0);
    expect(packages).toContain('undici');
    for (const unused of ['undici/index.js', 'undici/lib/web/', 'undici/lib/mock/', 'undici/lib/api/'])
      expect(files.filter((file) => file.includes(`/node_modules/${unused}`))).toEqual([]);
    for (const heavy of ['ajv', 'sharp', 'aws4fetch', 'string-width']) expect(packages).not.toContain(heavy);
    expect(files.filter((file) => file.includes('/csv-parse/lib/'))).toEqual([]);
  } finally {
    await service.close();
  }
});
