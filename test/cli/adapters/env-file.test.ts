import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CliError } from '../../../src/app/errors/cli-error.ts';
import { readEnvFile } from '../../../src/cli/adapters/env-file.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

async function read(text: string | Uint8Array): Promise<Record<string, string>> {
  await writeFile(join(cwd, '.env'), text);
  return Object.fromEntries(await readEnvFile('.env', cwd));
}

describe('a file of variables', () => {
  it('is read as Node.js reads it: comments, quotes, export, values over several lines', async () => {
    expect(
      await read(
        '\uFEFF# keys\r\n\r\nPROMPTPRESS_API_KEY=sk-1234 # mine\nexport A = "b c"\nB=\'#d "e"\'\nC="one\ntwo"\nD=\nE=x=y\nA=last\n',
      ),
    ).toEqual({ PROMPTPRESS_API_KEY: 'sk-1234', A: 'last', B: '#d "e"', C: 'one\ntwo', D: '', E: 'x=y' });
  });

  it.each([
    ['A=1\nsk-secret-0815\n', '.env:2 is not NAME=VALUE.'],
    ['A=1\n\n1A=sk-secret-0815\n', '.env:3 is not NAME=VALUE.'],
    ['A=1\nB="sk-secret-0815\nC=2\n', '.env:2: the value of B begins with ", which is never closed.'],
    ["A='sk-secret\n-0815' x\n", ".env:2: something stands behind the closing ' of A."],
    [new Uint8Array([65, 61, 255]), '.env is not a text in UTF-8.'],
    [`A=${'x'.repeat(1_048_576)}`, '--dotenv: .env has more than 1048576 bytes.'],
  ])('%j is refused with its line, and without its text', async (text, message) => {
    const failure = await read(text).catch((error: unknown) => error);
    expect(failure).toMatchObject({ exitCode: 2, message });
    expect(JSON.stringify(failure)).not.toContain('sk-secret');
  });

  it.each([
    'PROMPTPRESS_TRUSTED_ORIGINS',
    'HOME',
    'XDG_STATE_HOME',
    'XDG_CONFIG_HOME',
    'PATH',
    'HTTPS_PROXY',
    'http_proxy',
    'no_proxy',
    'NODE_EXTRA_CA_CERTS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_OPTIONS',
    'NODE_ENV_OF_ITS_OWN',
    'SSL_CERT_FILE',
    'GIT_CONFIG_GLOBAL',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
  ])('cannot set %s', async (name) => {
    await expect(read(`A=1\n  export ${name}=https://evil.example\n`)).rejects.toMatchObject({
      exitCode: 2,
      message: `.env:2: ${name} decides what promptpress trusts or runs, so a file may not set it.`,
    });
  });

  it('may set variables of other programs', async () => {
    expect(await read('NODE_ENV=production\nHOMEPAGE=x\n')).toEqual({
      NODE_ENV: 'production',
      HOMEPAGE: 'x',
    });
  });

  it.each([
    ['gone', '--dotenv: there is no file gone.'],
    ['.', '--dotenv: . is a folder.'],
  ])('%s is refused', async (file, message) => {
    await expect(readEnvFile(file, cwd)).rejects.toMatchObject({ exitCode: 2, message });
  });

  it('that is not there is corrected to the one beside it', async () => {
    await writeFile(join(cwd, '.env'), 'A=1');
    const words = ['run', '--dotenv', 'gone', 'x.yaml'];
    const failure = await readEnvFile('gone', cwd).catch((error: unknown) => error as CliError);
    expect(failure).toMatchObject({ hint: 'There is .env.' });
    expect((failure as CliError).correction?.words(words)).toEqual(['run', '--dotenv', '.env', 'x.yaml']);
    await rm(join(cwd, '.env'));
    const alone = await readEnvFile('gone', cwd).catch((error: unknown) => error as CliError);
    expect((alone as CliError).correction?.words(words)).toEqual(['run', 'x.yaml']);
  });

  it('may be a pipe that another program writes into', async () => {
    await promisify(execFile)('mkfifo', [join(cwd, 'pipe')]);
    const [found] = await Promise.all([readEnvFile('pipe', cwd), writeFile(join(cwd, 'pipe'), 'A=1\n')]);
    expect([...found]).toEqual([['A', '1']]);
  });
});
