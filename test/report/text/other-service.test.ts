import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';

const pipeline = (block = 'speed: relax'): string => `name: set
service: { ${block} }
retry: { attempts: 1, base: 5ms, cap: 5ms, patience: 1s }
poll: { min: 5ms, max: 5ms }
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}" }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: FakeService;
let other: FakeService;
beforeEach(async () => {
  folder = await temporaryFolder();
  service = await startFakeService({ apiKey: 'sk-a-key-of-16-characters' });
  other = await startFakeService({ apiKey: 'sk-a-key-of-16-characters' });
  await write();
});
afterEach(async () => {
  await service.close();
  await other.close();
  await folder[Symbol.asyncDispose]();
});

const write = (block?: string): Promise<void> => writeFile(join(folder.path, 'set.yaml'), pipeline(block));

const pp = (address: string, ...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd: folder.path,
    env: { PROMPTPRESS_BASE_URL: address, PROMPTPRESS_API_KEY: 'sk-a-key-of-16-characters' },
  });
const run = (address: string, ...flags: readonly string[]): Promise<Said> =>
  pp(address, 'run', 'set.yaml', ...flags);
const named = (): string => service.url.replace('127.0.0.1', 'localhost');

describe('a run whose directory holds jobs of another service', () => {
  it.each([
    ['another name of the host', () => named()],
    ['another scheme', () => service.url.replace('http:', 'https:')],
    ['another port', () => other.url],
  ])('is refused for %s before anything is sent, with both origins and next steps', async (_, address) => {
    expect((await run(service.url)).code).toBe(0);
    const { code, out, err } = await run(address());
    expect([code, out], err).toEqual([2, '']);
    expect(err).toContain(
      `runs/set holds 2 jobs of another service, ${service.url}; this run would talk to ${address()}`,
    );
    expect(err).toContain(`service: { id: ${service.url} }\n`);
    expect(err).toContain('--new-service\n');
    expect(service.submits.all).toHaveLength(2);
    expect(other.requests).toHaveLength(0);
    expect((await run(service.url)).code).toBe(0);
    expect(service.submits.all).toHaveLength(2);
  });

  it('continues with the suggested service.id, and pays nothing again', async () => {
    await run(service.url);
    const { err } = await run(named());
    const [, block = ''] = /service: \{ (.*) \}/.exec(err) ?? [];
    await write(block);
    expect((await run(named())).code).toBe(0);
    expect((await run(service.url)).code).toBe(0);
    expect(service.submits.all).toHaveLength(2);
  });

  it('starts over with --new-service, which a return to the old service needs too', async () => {
    await run(service.url);
    const freshStart = await run(other.url, '--new-service');
    expect(freshStart.code, freshStart.err).toBe(0);
    expect(other.submits.all).toHaveLength(2);
    expect((await run(other.url)).code).toBe(0);
    const back = await run(service.url);
    expect(back.code).toBe(2);
    expect(back.err).toContain(`2 jobs of another service, ${other.url}`);
    expect((await run(service.url, '--new-service')).code).toBe(0);
    expect([service.submits.all.length, other.submits.all.length]).toEqual([2, 2]);
  });

  it('is refused after an edit of service.id', async () => {
    await write('id: mine');
    await run(service.url);
    for (const [block, shown] of [
      ['id: "yours, or theirs"', `yours, or theirs at ${service.url}`],
      ['speed: fast', service.url],
    ] as const) {
      await write(block);
      const { code, err } = await run(service.url);
      expect(code).toBe(2);
      expect(err).toContain(`another service, mine at ${service.url}; this run would talk to ${shown},`);
      expect(err).toContain('service: { id: mine }');
    }
    expect(service.submits.all).toHaveLength(2);
  });

  it('is refused between a rehearsal and a real run, whatever the identity', async () => {
    await run(service.url, '--out', 'here');
    const { code, err } = await promptpress(['run', 'set.yaml', '--sandbox', '--out', 'here'], {
      cwd: folder.path,
    });
    expect(code).toBe(2);
    expect(err).toContain('would talk to the sandbox');
    expect(err).not.toContain('service: {');
    expect(err).toContain('--out DIR');
  });

  it('is reported by plan, which changes nothing, unless --new-service is given', async () => {
    await run(service.url);
    const { code, out, err } = await pp(other.url, 'plan', 'set.yaml');
    expect(code).toBe(0);
    expect(out).toContain('2 submissions');
    expect(err).toContain(`2 jobs of another service, ${service.url}`);
    expect(err).toContain('--new-service');
    expect((await pp(other.url, 'plan', 'set.yaml', '--new-service')).err).toBe('');
    expect((await pp(service.url, 'plan', 'set.yaml')).err).toBe('');
    expect((await pp('', 'plan', 'set.yaml')).err).not.toContain('another service');
  });

  it('is not refused before the first submission: the first address was wrong', async () => {
    other.fault('any', { status: 401, body: {} });
    expect((await run(other.url)).code).toBe(3);
    const { code, err } = await run(service.url);
    expect(code, err).toBe(0);
  });
});

describe('doubts of another service', () => {
  /** One job is done, and of the other nobody knows. */
  async function leaveInDoubt(): Promise<void> {
    service.fault('imagine', { reset: 'after' }, { times: 1 });
    const { code, err } = await run(service.url);
    expect(code, err).toBe(5);
  }

  it('are counted in the error and in status, and not changed by runs against this service', async () => {
    await leaveInDoubt();
    const refused = await run(other.url);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('holds 2 jobs');
    expect(refused.err).toContain('1 of them in doubt');
    expect(refused.err).toContain('promptpress status runs/set\n');

    for (const word of ['find', 'retry']) {
      const { code, err } = await run(other.url, '--new-service', '--in-doubt', word);
      expect(code, err).toBe(0);
      expect(err).not.toMatch(/in doubt/i);
    }
    expect([service.submits.all.length, other.submits.all.length]).toEqual([2, 2]);
    const { out } = await pp(other.url, 'status', 'set.yaml');
    expect(out).toContain(`  ${service.url}: 2 jobs, 1 in doubt\n`);
    const json = (await pp(other.url, 'status', 'set.yaml', '--json')).out;
    const schema = await readFile(join(import.meta.dirname, '../../../schemas/status.schema.json'), 'utf8');
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(schema) as object,
    );
    expect(check(JSON.parse(json)), JSON.stringify(check.errors)).toBe(true);
    expect(JSON.parse(json)).toMatchObject({
      service: other.url,
      origin: other.url,
      doubts: 1,
      otherServices: [{ service: service.url, origin: service.url, jobs: 2, doubts: 1 }],
    });

    const back = await run(service.url, '--new-service', '--in-doubt', 'retry');
    expect(back.code, back.err).toBe(0);
    expect(service.submits.all).toHaveLength(3);
  });
});
