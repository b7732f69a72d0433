import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../src/app/output/redact.ts';
import { identifyService, settleService } from '../../../src/app/service/settings.ts';
import { keyWarning } from '../../../src/app/service/warnings.ts';
import { pipelineOf } from '../../rig/pipeline-builder.ts';

const env = {
  MY_KEY: 'sk-0123456789',
  PROMPTPRESS_VAR_ID: 'id-value-4711',
  PROMPTPRESS_VAR_TOKEN: 'path-token-4712-a',
  PROMPTPRESS_VAR_HOST: 'gateway.test',
  PROMPTPRESS_VAR_WORD: 'MJX9',
};
const key = 'apiKey: "${MY_KEY}"';

async function settle(service: string, more: Readonly<Record<string, string>> = {}) {
  const redactor = new Redactor();
  const pipeline = await pipelineOf(
    `name: test\nservice: { ${service} }\nsteps:\n  grid:\n    imagine: a fox\n`,
  );
  const settings = settleService(pipeline, { sandbox: false }, { ...env, ...more }, redactor);
  return { settings, redactor, pipeline };
}

describe('values of variables in the service block', () => {
  it('give an identity that does not contain them, the same for run and plan', async () => {
    const block = `baseUrl: "https://x.test", ${key}, id: "eu-\${PROMPTPRESS_VAR_ID}"`;
    const { settings, redactor, pipeline } = await settle(block);
    expect(settings.id).toMatch(/^eu-\$\{PROMPTPRESS_VAR_ID\}#[0-9a-f]{16}$/);
    expect(identifyService(pipeline, { sandbox: false }, env)).toEqual({
      id: settings.id,
      origin: 'https://x.test',
    });
    expect((await settle(block, { PROMPTPRESS_VAR_ID: 'id-value-4712' })).settings.id).not.toBe(settings.id);
    expect(redactor.apply(env.PROMPTPRESS_VAR_ID)).toBe('[secret]');
    expect(settings.secrets).toEqual(expect.arrayContaining([env.MY_KEY, env.PROMPTPRESS_VAR_ID]));
  });

  it('are secrets in the path of an address, but not as its scheme and host', async () => {
    const { redactor } = await settle(
      `baseUrl: "https://\${PROMPTPRESS_VAR_HOST}/\${PROMPTPRESS_VAR_TOKEN}", ${key}`,
    );
    for (const mask of [redactor.apply, redactor.applyToData])
      expect(mask(`${env.PROMPTPRESS_VAR_HOST} ${env.PROMPTPRESS_VAR_TOKEN}`)).toBe(
        `${env.PROMPTPRESS_VAR_HOST} [secret]`,
      );
  });

  it('are not secrets if every response repeats them', async () => {
    const names = 'names: { customId: "${PROMPTPRESS_VAR_WORD}", botType: "${PROMPTPRESS_VAR_ID}" }';
    const { redactor } = await settle(`baseUrl: "https://x.test", ${key}, ${names}`);
    expect(redactor.apply(`${env.PROMPTPRESS_VAR_WORD}::JOB ${env.PROMPTPRESS_VAR_ID}`)).toBe(
      `${env.PROMPTPRESS_VAR_WORD}::JOB [secret]`,
    );
  });
});

describe('data', () => {
  const block = `baseUrl: "https://x.test/v/\${PROMPTPRESS_VAR_SHORT}", ${key}, id: "\${PROMPTPRESS_VAR_ID}", names: { botType: "\${PROMPTPRESS_VAR_BOT}" }`;
  const words = {
    PROMPTPRESS_VAR_ID: 'montmartre',
    PROMPTPRESS_VAR_BOT: 'A-WORD-OF-SIXTEEN-CHARACTERS',
    PROMPTPRESS_VAR_SHORT: 'the-tower',
  };

  it('keeps words that are part of an identity, a name or a short token', async () => {
    const { redactor, settings } = await settle(block, { ...words, MY_KEY: 'sk-0123456789abc' });
    const said = `${Object.values(words).join(' ')} sk-0123456789abc`;
    expect(redactor.applyToData(said)).toBe(`${Object.values(words).join(' ')} [secret]`);
    expect(redactor.apply(said)).toBe('[secret] [secret] [secret] [secret]');
    expect(settings.credentials).toEqual(['the-tower', 'sk-0123456789abc']);
  });

  it('keeps a key that is too short to be masked, with a warning', async () => {
    const { redactor } = await settle(block, { ...words, MY_KEY: 'sk-0123456789ab' });
    expect(redactor.applyToData('sk-0123456789ab')).toBe('sk-0123456789ab');
    expect(redactor.apply('sk-0123456789ab')).toBe('[secret]');
    expect(keyWarning('sk-0123456789ab')).toMatch(/only 15 characters/);
    expect(keyWarning('sk-0123456789abc')).toBeUndefined();
    expect(keyWarning('sandbox')).toBeUndefined();
  });
});

describe('the source of the key', () => {
  it('is the variable of the file, or the one that overrides it', async () => {
    const block = `baseUrl: "https://x.test", ${key}`;
    expect((await settle(block)).settings.keySource).toContain('MY_KEY');
    const beaten = (await settle(block, { PROMPTPRESS_API_KEY: 'sk-another-key' })).settings.keySource;
    expect(beaten).toBe('the variable PROMPTPRESS_API_KEY, which beats service.apiKey of the pipeline');
    const plain = await settle('baseUrl: "https://x.test"', { PROMPTPRESS_API_KEY: 'sk-another-key' });
    expect(plain.settings.keySource).toBe('the variable PROMPTPRESS_API_KEY');
  });
});
