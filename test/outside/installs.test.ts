import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDocuments, repository } from '../rig/documents.ts';

/** Package managers and compilers of others: they are none of ours. */
const tools = join(repository, 'node_modules/.cache/installers/node_modules');
const run = promisify(execFile);
const node = process.execPath;
const managers = {
  npm: ['npm'],
  pnpm: [node, join(tools, 'pnpm/bin/pnpm.cjs')],
  yarn: [node, join(tools, 'yarn/bin/yarn.js')],
  bun: [join(tools, `@oven/bun-${process.platform}-${process.arch}/bin/bun`)],
} as const;

const program =
  readDocuments()
    .find(({ path }) => path === 'README.md')
    ?.blocks.find(({ text }) => text.includes('runPipeline'))?.text ?? '';
const printed = `import type { JsonOutputs } from 'promptpress';\nconst { jobs }: JsonOutputs['status'] = JSON.parse('{}');\nconsole.log(jobs.done);\n`;

let folder: string;
let tarball: string;
/** By npm. */
let installed: Promise<string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-installs-'));
  const { stdout } = await run(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
    {
      cwd: repository,
    },
  );
  tarball = join(folder, stdout.trim());
  installed = installedBy('npm');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder in which a package manager has installed the package, and no script of any package has run. */
async function installedBy(name: keyof typeof managers): Promise<string> {
  const [command, ...words] = managers[name];
  const place = await mkdtemp(join(folder, `${name}-`));
  const dependencies = { promptpress: `file:${tarball}`, '@types/node': '^22.0.0' };
  await writeFile(
    join(place, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  );
  await run(command, [...words, 'install', '--ignore-scripts'], { cwd: place });
  await writeFile(join(place, 'program.ts'), program);
  await writeFile(join(place, 'program.mjs'), program);
  await writeFile(join(place, 'printed.ts'), printed);
  await writeFile(join(place, 'wrong.ts'), printed.replace('jobs.done', 'jobs.nobody'));
  return place;
}

it('has the same bytes whatever folder it is built in', async () => {
  const place = await mkdtemp(join(folder, 'build-'));
  for (const name of ['src', 'schemas', 'build.ts', 'declarations.ts', 'package.json', 'tsconfig.json'])
    await cp(join(repository, name), join(place, name), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(place, 'node_modules'));
  await run(node, ['node_modules/.bin/tsx', 'build.ts'], { cwd: place });
  const bytesIn = async (root: string): Promise<Readonly<Record<string, string>>> => {
    const entries = await readdir(join(root, 'dist'), { recursive: true, withFileTypes: true });
    // Copies of packages name their files, which lie behind a link here. The note of the sources goes by the lock file too.
    const files = entries
      .filter(
        (entry) => entry.isFile() && !entry.parentPath.endsWith('packages') && entry.name !== '.sources',
      )
      .map(({ parentPath, name }) => join(parentPath, name));
    const hashed = files.map(
      async (file): Promise<[string, string]> => [
        relative(root, file),
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      ],
    );
    return Object.fromEntries(await Promise.all(hashed));
  };
  expect(await bytesIn(place)).toEqual(await bytesIn(repository));
});

describe('the package as it is installed', () => {
  it.each(Object.keys(managers) as (keyof typeof managers)[])(
    'runs the program of README after %s has installed it without scripts',
    async (name) => {
      const place = await (name === 'npm' ? installed : installedBy(name));
      const { stdout } = await run(node, ['program.mjs'], { cwd: place });
      expect(stdout).toBe("{ animal: 'fox' } done\n{ animal: 'owl' } done\ncomplete\n");
    },
  );

  it.each(['5.4', '5.9', '7.0'])(
    'has declarations that strict TypeScript %s accepts with all libraries checked',
    async (release) => {
      const place = await installed;
      const tsc = join(tools, `typescript-${release}/bin/tsc`);
      expect((await run(node, [tsc, '--version'])).stdout).toContain(`Version ${release}.`);
      const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'];
      const target = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
      const files = ['program.ts', 'printed.ts', 'wrong.ts'];
      const said = await run(node, [tsc, ...flags, ...target, ...files], { cwd: place }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { readonly stdout: string }) => stdout,
      );
      expect(said).toMatch(/^wrong\.ts\(3,\d+\): error TS2339: Property 'nobody' does not exist .*\n$/);
    },
  );
});
