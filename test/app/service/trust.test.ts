import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOrigin } from '../../../src/app/service/trust.ts';
import { trustFile } from '../../../src/app/service/trust-file.ts';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { cli, temporaryFolder } from '../../rig/cli.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';

useQuickSandbox();

const key = 'sk-a-key-of-the-user-4711';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: FakeService;
let origin: string;
let asked: string[];
beforeEach(async () => {
  folder = await temporaryFolder();
  service = await startFakeService({ apiKey: key });
  origin = `http://127.0.0.1:${service.port}`;
  asked = [];
});
afterEach(async () => {
  await service.close();
  await folder[Symbol.asyncDispose]();
});

const env = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  XDG_STATE_HOME: join(folder.path, 'home/state'),
  PROMPTPRESS_API_KEY: key,
  ...more,
});

/** Somebody is at the terminal who answers so. */
const answering = (answer: string | undefined) => (question: string) => {
  asked.push(question);
  return answer;
};

interface At {
  readonly answer?: (question: string) => string | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

const pp = (args: readonly string[], at: At = {}): Promise<Said> =>
  promptpress(args, {
    cwd: folder.path,
    env: env(at.env),
    ...(at.answer === undefined ? {} : { answer: at.answer }),
  });

const place = (): string => join(folder.path, 'home/state/promptpress/trust.json');

/** A pipeline of a stranger, who names the address. */
const write = (block = `baseUrl: "${origin}/"`, rest = ''): Promise<void> =>
  writeFile(
    join(folder.path, 'set.yaml'),
    `name: set
service: { ${block} }
retry: { attempts: 1, base: 5ms, cap: 5ms, patience: 1s }
poll: { min: 5ms, max: 5ms }
steps:
  grid: { imagine: a fox }
  words: { generate: { model: text-pro, prompt: "Say it.${rest}" } }
`,
  );

const notSent = (): void => expect(service.requests).toHaveLength(0);

describe('an address in the file, without a terminal', () => {
  it.each([[['run', 'set.yaml']], [['models', 'set.yaml']], [['validate', 'set.yaml', '--online']]])(
    'ends %j with exit 2 and both ways to trust it, before anything is sent; each of them is enough',
    async (args) => {
      await write();
      const { code, err } = await pp(args);
      expect(code, err).toBe(2);
      expect(err).toContain(`$PROMPTPRESS_API_KEY was not sent to ${origin} (plain http: unencrypted)`);
      expect(err).toContain(`\n  promptpress trust ${origin}\n  PROMPTPRESS_TRUSTED_ORIGINS=${origin}\n`);
      expect(err).not.toContain(key);
      notSent();

      const trusted = { PROMPTPRESS_TRUSTED_ORIGINS: `https://x.example, ${origin}` };
      const once = await pp(args, { env: trusted });
      expect(once.code, once.err).toBe(0);
      expect(service.requests.length).toBeGreaterThan(0);
      await expect(readFile(place(), 'utf8')).rejects.toThrow(/ENOENT/);
      const [, command = ''] = /promptpress (trust http\S+)/.exec(err) ?? [];
      expect((await pp(command.split(' '))).code).toBe(0);
      expect((await pp(args)).code).toBe(0);
    },
  );

  it('is refused by the built command line if its standard input is not a terminal', async () => {
    await write();
    const { code, stderr } = await cli(['run', 'set.yaml'], { cwd: folder.path, env: env() });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(`promptpress trust ${origin}`);
    notSent();
  });

  it.each([
    ['a default', 'baseUrl: "${PROMPTPRESS_BASE_URL:-ORIGIN}"'],
    ['parts from variables', 'baseUrl: "http://${PROMPTPRESS_VAR_HOST}:PORT/x"'],
    ['an identity beside it', 'baseUrl: ORIGIN, id: https://known.example'],
  ])('may be %s', async (_, block) => {
    await write(block.replace('ORIGIN', origin).replace('PORT', String(service.port)));
    const { code, err } = await pp(['run', 'set.yaml'], { env: { PROMPTPRESS_VAR_HOST: '127.0.0.1' } });
    expect(code, err).toBe(2);
    expect(err).toContain(`promptpress trust ${origin}`);
    notSent();
  });

  it('is irrelevant to validate and plan, which send nothing and never ask', async () => {
    await write();
    for (const args of [
      ['validate', 'set.yaml'],
      ['plan', 'set.yaml'],
      ['run', 'set.yaml', '--dry-run'],
    ]) {
      const { code, err } = await pp(args, { answer: answering('y') });
      expect(code, err).toBe(0);
    }
    expect((await pp(['validate', 'set.yaml', '--online'], { answer: answering('y') })).code).toBe(2);
    expect(asked).toEqual([]);
    notSent();
  });

  it('is not trusted by a text that is not an origin', async () => {
    await write();
    for (const words of ['*', '127.0.0.1', `${origin}?x`, 'https://user:password-1@x.example']) {
      const { code, err } = await pp(['run', 'set.yaml'], { env: { PROMPTPRESS_TRUSTED_ORIGINS: words } });
      expect(code).toBe(2);
      expect(err).toContain('PROMPTPRESS_TRUSTED_ORIGINS');
      expect(err).not.toContain('password-1');
    }
    notSent();
  });
});

describe('an address that the user gave', () => {
  it.each([
    ['--base-url', (): readonly string[] => ['--base-url', origin], (): Record<string, string> => ({})],
    ['PROMPTPRESS_BASE_URL', () => [], () => ({ PROMPTPRESS_BASE_URL: origin })],
    ['--sandbox', () => ['--sandbox', '--max-submits', '0'], () => ({})],
  ])('by %s is trusted without a question, whatever the file names', async (_, flags, more) => {
    await write('baseUrl: "https://stranger.example", apiKey: "${TEAM_KEY}"');
    const { err } = await pp(['run', 'set.yaml', '--only', 'grid', ...flags()], {
      env: { TEAM_KEY: key, ...more() },
      answer: answering('n'),
    });
    expect(err).not.toContain('was not sent');
    expect(asked).toEqual([]);
  });
});

describe('an address in the file, at a terminal', () => {
  it('is asked about once: edits of the file or another value of the key cause no further question', async () => {
    await write();
    const answer = answering(' Yes ');
    expect((await pp(['run', 'set.yaml'], { answer })).code).toBe(0);
    expect(asked).toEqual([`Send $PROMPTPRESS_API_KEY to ${origin} (plain http: unencrypted)? [y/N] `]);
    await write(`baseUrl: "${origin}/"`, ' Again.');
    expect((await pp(['run', 'set.yaml'])).code).toBe(0);
    const other = await pp(['run', 'set.yaml', '--redo', 'none'], {
      env: { PROMPTPRESS_API_KEY: 'sk-another-value-of-the-key' },
    });
    expect(other.err).not.toContain('was not sent');
    expect((await pp(['models', 'set.yaml'])).code).toBe(0);
    expect(asked).toHaveLength(1);

    const text = await readFile(place(), 'utf8');
    expect(JSON.parse(text)).toEqual({ version: 1, trusted: [{ key: 'PROMPTPRESS_API_KEY', origin }] });
    expect((await stat(place())).mode & 0o777).toBe(0o600);
    expect((await stat(join(place(), '..'))).mode & 0o777).toBe(0o700);
  });

  it.each(['n', '', 'yes please', 'https://x', undefined])(
    'is not trusted after the input %j',
    async (said) => {
      await write();
      const { code, err } = await pp(['run', 'set.yaml'], { answer: answering(said) });
      expect(code, err).toBe(2);
      expect(err).toContain(`promptpress trust ${origin}`);
      expect(asked).toHaveLength(1);
      notSent();
      await pp(['run', 'set.yaml'], { answer: answering(said) });
      expect(asked).toHaveLength(2);
    },
  );

  it('is asked about separately for each variable and each origin', async () => {
    const blocks = [
      `baseUrl: "${origin}"`,
      `baseUrl: "${origin}", apiKey: "\${TEAM_KEY}"`,
      `baseUrl: "${origin}", apiKey: "\${AWS_SECRET_ACCESS_KEY}"`,
      `baseUrl: "http://localhost:${service.port}"`,
    ];
    const values = { PROMPTPRESS_API_KEY: '', TEAM_KEY: key, AWS_SECRET_ACCESS_KEY: key };
    for (const block of blocks) {
      await write(block);
      await pp(['models', 'set.yaml'], {
        answer: answering('y'),
        env: block.includes('apiKey') ? values : {},
      });
    }
    const shown = `${origin} (plain http: unencrypted)`;
    expect(asked).toEqual([
      `Send $PROMPTPRESS_API_KEY to ${shown}? [y/N] `,
      `Send $TEAM_KEY to ${shown}? [y/N] `,
      `Send $AWS_SECRET_ACCESS_KEY to ${shown}? [y/N] `,
      `Send $PROMPTPRESS_API_KEY to ${shown.replace('127.0.0.1', 'localhost')}? [y/N] `,
    ]);
    await write(`baseUrl: "${origin}", apiKey: "\${OTHER_KEY}"`);
    const { err } = await pp(['models', 'set.yaml'], { env: { PROMPTPRESS_API_KEY: '', OTHER_KEY: key } });
    expect(err).toContain(`promptpress trust ${origin} --key OTHER_KEY\n`);
  });

  it('is used even if the decision cannot be saved, with a warning', async () => {
    await write();
    await mkdir(join(folder.path, 'home'), { recursive: true });
    await writeFile(join(folder.path, 'home/state'), 'no folder');
    const { code, err } = await pp(['models', 'set.yaml'], { answer: answering('y') });
    expect(code, err).toBe(0);
    expect(err).toMatch(/could not be remembered|cannot be read/);
  });
});

describe('the file of trusted services', () => {
  const store = async (text: string): Promise<void> => {
    await mkdir(join(place(), '..'), { recursive: true });
    await writeFile(place(), text, { mode: 0o600 });
  };
  const right = () => JSON.stringify({ version: 1, trusted: [{ key: 'PROMPTPRESS_API_KEY', origin }] });

  it.each([
    ['cut off', () => right().slice(0, -2)],
    ['empty', () => ''],
    ['a list', () => '[]'],
    ['null', () => 'null'],
    ['of a newer release', () => right().replace('1', '2')],
    ['with an origin that is not written as one', () => right().replace(origin, `${origin}/`)],
    ['with a wildcard', () => right().replace(origin, '*')],
    ['too large', () => right() + ' '.repeat(1_100_000)],
  ])('that is %s makes nothing trusted and is left as it is', async (_, text) => {
    await write();
    await store(text());
    const { code, err } = await pp(['run', 'set.yaml']);
    expect([code, err]).toEqual([2, expect.stringContaining(place())]);
    notSent();
    expect((await pp(['trust', origin])).code).toBe(2);
    expect((await pp(['models', 'set.yaml'], { answer: answering('y') })).code).toBe(0);
    expect(await readFile(place(), 'utf8')).toBe(text());
  });

  it('that others may write, or that is not a regular file, makes nothing trusted', async () => {
    await write();
    await store(right());
    expect((await pp(['models', 'set.yaml'])).code).toBe(0);
    await chmod(place(), 0o620);
    const { code, err } = await pp(['models', 'set.yaml']);
    expect([code, err]).toEqual([2, expect.stringContaining('others may write it')]);
    const elsewhere = { XDG_STATE_HOME: join(folder.path, 'other') };
    await mkdir(join(folder.path, 'other/promptpress/trust.json'), { recursive: true });
    expect((await pp(['models', 'set.yaml'], { env: elsewhere })).err).toContain('is not a file');
  });

  it('is in the state folder of the user, which must be an absolute path', () => {
    expect(trustFile({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/promptpress/trust.json');
    for (const name of ['', 'runs', './x'])
      expect(trustFile({ XDG_STATE_HOME: name, HOME: '/h' })).toBe('/h/.local/state/promptpress/trust.json');
  });
});

describe('promptpress trust', () => {
  it('adds, lists and removes pairs of a variable and an origin', async () => {
    expect((await pp(['trust'])).out).toBe('');
    expect((await pp(['trust', 'https://X.example:443/v1/'])).out).toBe(
      '$PROMPTPRESS_API_KEY may be sent to https://x.example\n',
    );
    await pp(['trust', 'https://x.example', '--key', 'TEAM_KEY']);
    await pp(['trust', 'https://x.example', '--key', '${TEAM_KEY}']);
    await pp(['trust', 'http://a.example']);
    expect((await pp(['trust'])).out).toBe(
      'http://a.example  $PROMPTPRESS_API_KEY\nhttps://x.example  $PROMPTPRESS_API_KEY\nhttps://x.example  $TEAM_KEY\n',
    );
    await pp(['trust', 'https://x.example', '--key', 'TEAM_KEY', '--forget']);
    await pp(['trust', 'http://a.example', '--forget']);
    expect((await pp(['trust'])).out).toBe('https://x.example  $PROMPTPRESS_API_KEY\n');
    expect((await pp(['trust', 'http://a.example', '--forget'])).code).toBe(2);
  });

  it.each([
    [['trust', 'x.example']],
    [['trust', 'ftp://x.example']],
    [['trust', 'https://gateway.example@evil.example']],
    [['trust', 'https://x.example', '--key', 'a-b']],
    [['trust', 'https://x.example', '--key', 'looks_like_a_name']],
    [['trust', '--forget']],
  ])('refuses %j and writes nothing', async (args) => {
    const { code, err } = await pp(args, { env: { TEAM_KEY: 'looks_like_a_name' } });
    expect(code, err).toBe(2);
    await expect(readFile(place(), 'utf8')).rejects.toThrow(/ENOENT/);
  });

  it('shows an origin in its ASCII form, and warns of letters that look alike and of plain http', async () => {
    expect((await pp(['trust', 'https://gаteway.example'])).out).toBe(
      '$PROMPTPRESS_API_KEY may be sent to https://xn--gteway-3nf.example (xn-- stands for letters that may look like others)\n',
    );
    expect((await pp(['trust', 'http://x.example'])).out).toContain('(plain http: unencrypted)');
  });

  it('neither reads nor writes through a link', async () => {
    await mkdir(join(place(), '..'), { recursive: true });
    const text = JSON.stringify({ version: 1, trusted: [{ key: 'PROMPTPRESS_API_KEY', origin }] });
    await writeFile(join(folder.path, 'mine'), text, { mode: 0o600 });
    await symlink(join(folder.path, 'mine'), place());
    const { code, err } = await pp(['trust', 'https://x.example']);
    expect([code, err]).toEqual([2, expect.stringContaining('it is a link')]);
    expect(await readFile(join(folder.path, 'mine'), 'utf8')).toBe(text);
    await write();
    expect((await pp(['models', 'set.yaml'])).code).toBe(2);
    notSent();
  });
});

it('two addresses have the same origin exactly if requests to them have the same scheme, host and port', () => {
  const part = <T>(...values: readonly T[]) => fc.constantFrom(...values);
  const address = fc.tuple(
    part('https://', 'http://', 'HTTPS://'),
    part(
      'x.example',
      'X.Example',
      'y.example',
      'x.example.',
      '127.0.0.1',
      '127.1',
      '[::1]',
      'gаteway.example',
    ),
    part('', ':443', ':80', ':8443'),
    part('', '/', '/v1', '/a/../b/'),
  );
  fc.assert(
    fc.property(address, address, (one, other) => {
      const target = ([scheme, host, port]: typeof one): string => {
        const url = new URL(`${scheme}${host}${port}`);
        const standard = url.protocol === 'https:' ? '443' : '80';
        return [url.protocol, url.hostname, url.port === '' ? standard : url.port].join(' ');
      };
      const [a, b] = [one, other].map((parts) => readOrigin(parts.join(''), 'a test'));
      expect(a === b).toBe(target(one) === target(other));
      expect(a).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
    }),
  );
});

describe('the target of requests', () => {
  it('is shown by plan, run and models, as text and as JSON', async () => {
    await write(`baseUrl: "${origin}", id: mine`);
    const at = { env: { PROMPTPRESS_TRUSTED_ORIGINS: origin } };
    const fits = async (schema: string, text: string): Promise<unknown> => {
      const file = join(import.meta.dirname, `../../../schemas/${schema}.schema.json`);
      const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
        JSON.parse(await readFile(file, 'utf8')) as object,
      );
      expect(check(JSON.parse(text)), JSON.stringify(check.errors)).toBe(true);
      return JSON.parse(text);
    };
    expect((await pp(['plan', 'set.yaml'])).out).toContain(`Service: mine at ${origin}\n`);
    expect(await fits('plan', (await pp(['plan', 'set.yaml', '--json'])).out)).toMatchObject({
      service: 'mine',
      origin,
    });
    const ran = await pp(['run', 'set.yaml', '--json'], at);
    expect(ran.err.startsWith(`Service: mine at ${origin}\n`), ran.err).toBe(true);
    expect(ran.err).toContain(`  service   mine at ${origin}\n`);
    expect(await fits('run-summary', ran.out)).toMatchObject({ service: 'mine', origin });
    expect((await pp(['models', 'set.yaml'], at)).out).toContain(` at ${origin}\n`);
    expect(await fits('models', (await pp(['models', 'set.yaml', '--json'], at)).out)).toMatchObject({
      service: origin,
    });
  });

  it('is unknown to a plan without an address, and is the sandbox in a rehearsal', async () => {
    await write('speed: fast');
    expect(JSON.parse((await pp(['plan', 'set.yaml', '--json'])).out)).not.toHaveProperty('origin');
    expect((await pp(['plan', 'set.yaml', '--sandbox'])).out).toContain('Service: sandbox\n');
  });
});
