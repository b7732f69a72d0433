import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allCommands } from '../../../src/cli/program.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { readDocuments } from '../../rig/documents.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../rig/postgres.ts';
import { DocumentBlocks, shell } from '../document-blocks.ts';
import { night, npmOfPackedFile, packedFile } from '../night.ts';

const page = 'pipelines/machines.md';
const documents = readDocuments();
const blocks = new DocumentBlocks(documents.filter(({ path }) => path === page));
const readme = new DocumentBlocks(documents.filter(({ path }) => path === 'README.md'));

/** The server of all tests may be one that is used for other things: no name of the documents is given to it. */
const own = `machines_${randomBytes(4).toString('hex')}`;
const renamed = (text: string): string =>
  text
    .replaceAll(/\bpromptpress(?=[ ;:_@]|$)(?!\.)/gm, own)
    .replaceAll(`SCHEMA ${own}`, 'SCHEMA promptpress');

async function asked(url: string, script: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    for (const statement of script.split(';')) if (statement.trim() !== '') await client.query(statement);
  } finally {
    await client.end();
  }
}

describe.runIf(hasPostgres)('a run on several machines, as the documents say', () => {
  let server: TestDatabase;
  beforeAll(async () => {
    server = await testDatabase();
  });
  afterAll(async () => {
    await asked(
      server.url,
      `DROP DATABASE IF EXISTS ${own} WITH (FORCE); DROP ROLE IF EXISTS ${own}_worker; DROP ROLE IF EXISTS ${own}`,
    );
    await server[Symbol.asyncDispose]();
  });

  it('README: a user, a database, three workers, and one that may change no tables', async () => {
    const at = new URL(server.url).host;
    await asked(server.url, renamed(readme.take('README.md', 'sql', 'CREATE DATABASE')));
    const script = readme.take('README.md', 'sh', 'promptpress worker');
    const address = /^export PROMPTPRESS_ENGINE=(.*)$/m.exec(script)?.[1] ?? '';
    const engine = renamed(address).replace('@127.0.0.1/', `@${at}/`);
    await night(async (folder, env) => {
      const ended = await shell(script.replace(address, engine), folder, env);
      expect(ended.code, ended.stderr).toBe(0);
      expect(byStatus(await readManifest(`${folder}/runs/tonight/manifest.csv`))).toEqual({ done: 3 });

      const [worker, rights] = ['CREATE ROLE promptpress_worker', 'GRANT USAGE ON SCHEMA'].map((part) =>
        renamed(blocks.take(page, 'sql', part)),
      );
      await asked(server.url, worker ?? '');
      await asked(engine, rights ?? '');
      const theirs = new URL(engine);
      theirs.username = `${own}_worker`;
      theirs.password = 'change-me-too';
      const second = `promptpress run tonight.yaml --engine '${engine}#second' --out runs/second`;
      const worked = await shell(
        `${second} --detach; PROMPTPRESS_ENGINE='${theirs.href}' promptpress worker --once; ${second} --no-work`,
        folder,
        env,
      );
      expect(worked.code, worked.stderr).toBe(0);
      expect(worked.stderr).toContain('3 submissions of this worker');
      expect(byStatus(await readManifest(`${folder}/runs/second/manifest.csv`))).toEqual({ done: 3 });
    });
  }, 120_000);
});

describe('the units and manifests', () => {
  const flagsOf = async (name: string): Promise<ReadonlySet<string>> =>
    new Set(Object.keys((await allCommands()).find((one) => one.name === name)?.flags ?? {}));

  it('systemd: the command is one of ours, and is given as long as a task may take', async () => {
    const unit = blocks.take(page, 'ini', 'ExecStart=');
    const [, name = '', flags = ''] =
      /^ExecStart=\/usr\/local\/bin\/promptpress (\w+)(.*)$/m.exec(unit) ?? [];
    const known = await flagsOf(name);
    const named = [...flags.matchAll(/--([\w-]+)/g)].map(([, flag = '']) => flag);
    expect([name, named.filter((flag) => !known.has(flag))]).toEqual(['worker', []]);
    expect(unit).toMatch(/^TimeoutStopSec=25min$/m);
  });

  it('Kubernetes: the image installs the packed file, and starts our command without rights', async () => {
    const image = blocks.take(page, 'dockerfile', 'FROM');
    const lines = [...image.matchAll(/^(\w+) (.+)$/gm)].map(([, word = '', rest = '']) => [word, rest]);
    const { COPY = '', RUN = '', ...others } = Object.fromEntries(lines) as Record<string, string>;
    expect(others).toEqual({ FROM: 'node:24-slim', USER: 'node', ENTRYPOINT: '["promptpress"]' });
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, packedFile), '');
    const built = `cp ${COPY.replace(' /tmp/', ' tmp/')}; ${RUN.replace(' /tmp/', ' ./tmp/')}`;
    const { code, stderr } = await shell(`mkdir tmp; ${built}`, folder.path, {}, npmOfPackedFile);
    expect(code, stderr).toBe(0);
  });

  it('Kubernetes: a deployment of workers and a job of the coordinator, with our commands', async () => {
    interface Manifest {
      readonly kind: string;
      readonly spec: {
        readonly template: {
          readonly spec: {
            readonly terminationGracePeriodSeconds: number;
            readonly containers: readonly { readonly image: string; readonly args: readonly string[] }[];
          };
        };
      };
    }
    const text = blocks.take(page, 'yml', 'kind: Deployment');
    const parsed = parseAllDocuments(text);
    expect(parsed.flatMap(({ errors }) => errors)).toEqual([]);
    const manifests = parsed.map((one) => one.toJS() as Manifest);
    expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'Job']);
    for (const { spec } of manifests) {
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      expect(terminationGracePeriodSeconds).toBe(1500);
      expect(containers.map(({ image }) => image)).toEqual(['registry.example.com/promptpress:0.1.0']);
      const [name = '', ...rest] = containers[0]?.args ?? [];
      const known = await flagsOf(name);
      const named = rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
      expect(named.filter((flag) => !known.has(flag))).toEqual([]);
    }
  });
});

it('every block of the page is taken by a test', () => {
  // Where there is no PostgreSQL for this platform, the statements are read here alone.
  if (!hasPostgres) blocks.takeAll('sql');
  expect(blocks.left()).toEqual([]);
});
