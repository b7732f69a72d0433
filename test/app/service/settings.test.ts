import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/app/errors/cli-error.ts';
import { Redactor } from '../../../src/app/output/redact.ts';
import { identifyService, type ServiceFlags, settleService } from '../../../src/app/service/settings.ts';
import { addressWarning } from '../../../src/app/service/warnings.ts';
import { pipelineOf } from '../../rig/pipeline-builder.ts';

const steps = 'steps:\n  grid:\n    imagine: a fox\n';
const none: ServiceFlags = { sandbox: false };
const key = 'sk-0123456789';

async function settle(
  service: string,
  env: Readonly<Record<string, string>>,
  flags: ServiceFlags = none,
): Promise<ReturnType<typeof settleService> & { readonly redactor: Redactor }> {
  const redactor = new Redactor();
  const pipeline = await pipelineOf(`name: test\n${service}${steps}`);
  return { ...settleService(pipeline, flags, env, redactor), redactor };
}

async function refusal(...args: Parameters<typeof settle>): Promise<CliError> {
  try {
    await settle(...args);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the service of a run', () => {
  it('comes from flags, then the environment, then the file', async () => {
    const file = 'service: { baseUrl: "https://file.test", apiKey: "${MY_KEY}", speed: fast }\n';
    const env = { MY_KEY: 'of-the-file-key' };
    const everything = { ...env, PROMPTPRESS_BASE_URL: 'https://env.test/', PROMPTPRESS_API_KEY: key };
    expect(await settle(file, env)).toMatchObject({
      baseUrl: 'https://file.test',
      apiKey: 'of-the-file-key',
      speed: 'fast',
      id: 'https://file.test',
    });
    expect(await settle(file, everything)).toMatchObject({ baseUrl: 'https://env.test', apiKey: key });
    expect(
      await settle(file, everything, { sandbox: false, 'base-url': 'https://flag.test', speed: 'turbo' }),
    ).toMatchObject({ baseUrl: 'https://flag.test', speed: 'turbo', id: 'https://flag.test' });
  });

  it('is named by service.id, else by the origin, else by the word sandbox', async () => {
    const env = { PROMPTPRESS_API_KEY: key, PROMPTPRESS_BASE_URL: 'https://x.test:8443/gateway' };
    expect((await settle('service: { id: mine }\n', env)).id).toBe('mine');
    expect(await settle('', env)).toMatchObject({
      id: 'https://x.test:8443',
      baseUrl: 'https://x.test:8443/gateway',
    });
    const rehearsal = await settle('service: { id: mine }\n', {}, { sandbox: true });
    expect(rehearsal).toMatchObject({ id: 'sandbox' });
    expect(rehearsal).not.toHaveProperty('baseUrl');
  });

  it('is told apart by the values of variables in its id, which nobody sees', async () => {
    const service = 'service: { baseUrl: "https://x.test", id: "shop-${PROMPTPRESS_VAR_SHOP}" }\n';
    const idOf = async (shop: string): Promise<string> =>
      (await settle(service, { PROMPTPRESS_VAR_SHOP: shop, PROMPTPRESS_API_KEY: key })).id;
    const [one, same, other] = [
      await idOf('first-shop'),
      await idOf('first-shop'),
      await idOf('second-shop'),
    ];
    expect([one === same, one === other, one.includes('first-shop')]).toEqual([true, false, false]);
  });

  it('shows the host that variables give, and no other value of its address', async () => {
    const service = 'service: { baseUrl: "https://${PROMPTPRESS_VAR_HOST}/${PROMPTPRESS_VAR_PATH}" }\n';
    const env = {
      PROMPTPRESS_VAR_HOST: 'gate.test',
      PROMPTPRESS_VAR_PATH: 'token-of-mine',
      PROMPTPRESS_API_KEY: key,
    };
    const { redactor } = await settle(service, env);
    expect(redactor.apply('https://gate.test/token-of-mine')).toBe('https://gate.test/[secret]');
  });

  it('takes a key that is given though it needs none', async () => {
    const service = 'service: { baseUrl: "https://x.test", auth: none, apiKey: "${MY_KEY}" }\n';
    expect(await settle(service, { PROMPTPRESS_API_KEY: key })).toMatchObject({ apiKey: key });
    expect(await settle(service, { MY_KEY: '' })).not.toHaveProperty('apiKey');
  });

  it('is refused without an address, and the message names both ways to give one', async () => {
    const { message, hint, exitCode } = await refusal('', { PROMPTPRESS_API_KEY: key });
    expect(exitCode).toBe(2);
    expect(message).toContain('no base address');
    expect(hint).toContain('PROMPTPRESS_BASE_URL');
    expect(hint).toContain('--sandbox');
  });

  it('lacks a variable: the message names it and the line that needs it', async () => {
    const file = 'service:\n  baseUrl: https://x.test\n  # ${MY_KEY} in a comment\n  apiKey: ${MY_KEY}\n';
    const { message, exitCode } = await refusal(file, { MY_KEY: '' });
    expect(exitCode).toBe(2);
    expect(message).toContain('MY_KEY');
    expect(message).toContain('test.yaml:5');
    expect((await refusal('service: { baseUrl: "https://x.test" }\n', {})).message).toContain(
      'PROMPTPRESS_API_KEY',
    );
  });

  it('uses the default of ${VAR:-default} if the variable is not set or empty', async () => {
    const file = 'service: { baseUrl: "${PROMPTPRESS_VAR_WHERE:-https://default.test}" }\n';
    const env = { PROMPTPRESS_API_KEY: key };
    expect((await settle(file, env)).baseUrl).toBe('https://default.test');
    expect((await settle(file, { ...env, PROMPTPRESS_VAR_WHERE: '' })).baseUrl).toBe('https://default.test');
    expect((await settle(file, { ...env, PROMPTPRESS_VAR_WHERE: 'https://w.test' })).baseUrl).toBe(
      'https://w.test',
    );
  });

  it('uses a default up to its brace, including dollar signs', async () => {
    const env = { PROMPTPRESS_API_KEY: key };
    const file = (text: string): string => `service: { baseUrl: "${text}" }\n`;
    expect((await settle(file('${PROMPTPRESS_VAR_A:-https://x.test/$a$$}'), env)).baseUrl).toBe(
      'https://x.test/$a$$',
    );
  });

  it('has its key masked before anything can go wrong', async () => {
    expect(
      (await settle('', { PROMPTPRESS_API_KEY: key, PROMPTPRESS_BASE_URL: 'https://x.test' })).redactor.apply(
        key,
      ),
    ).toBe('[secret]');
    const { message, hint } = await refusal('', {
      PROMPTPRESS_API_KEY: `${key} ${key}`,
      PROMPTPRESS_BASE_URL: 'https://x.test',
    });
    expect(`${message} ${hint}`).not.toContain(key);
  });

  it.each(['ftp://x.test', 'x.test', 'https://user:pass-word@x.test', 'https://x.test?a=b'])(
    'refuses the address %s, without showing a password',
    async (address) => {
      const { exitCode, message, hint } = await refusal('', {
        PROMPTPRESS_API_KEY: key,
        PROMPTPRESS_BASE_URL: address,
      });
      expect(exitCode).toBe(2);
      expect(`${message} ${hint}`).toContain('PROMPTPRESS_BASE_URL');
      expect(`${message} ${hint}`).not.toContain('pass-word');
    },
  );

  it('causes a warning if its address ends in /v1', () => {
    expect(addressWarning('https://x.test/v1')).toContain('https://x.test');
    expect(addressWarning('https://x.test/gateway')).toBeUndefined();
  });

  it('is refused if two are named', async () => {
    expect((await refusal('', {}, { sandbox: true, 'base-url': 'https://x.test' })).exitCode).toBe(2);
  });
});

describe('the service of a plan', () => {
  it('is known without a key; without an address, the plan says what is missing', async () => {
    const plain = await pipelineOf(`name: test\n${steps}`);
    expect(identifyService(plain, none, {})).toEqual({ missing: 'PROMPTPRESS_BASE_URL' });
    const empty = { PROMPTPRESS_BASE_URL: '' };
    expect(identifyService(plain, none, empty)).toEqual({ missing: 'PROMPTPRESS_BASE_URL' });
    expect(identifyService(plain, none, { PROMPTPRESS_BASE_URL: 'https://x.test/y' })).toEqual({
      id: 'https://x.test',
      origin: 'https://x.test',
    });
    expect(identifyService(plain, { sandbox: true }, {})).toEqual({ id: 'sandbox' });
    const named = await pipelineOf(`name: test\nservice: { id: mine }\n${steps}`);
    expect(identifyService(named, none, {})).toEqual({ id: 'mine' });
  });
});
