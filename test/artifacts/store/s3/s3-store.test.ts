import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { isS3Address, readS3Address, shownS3Address } from '../../../../src/artifacts/store/s3/address.ts';
import { readS3Settings, S3SettingsError, secretsOfS3 } from '../../../../src/artifacts/store/s3/settings.ts';
import type { S3Fault } from '../../../rig/s3/fake-s3.ts';
import { listed, put } from '../stored.ts';
import { codeOf, openRig, putBytes } from './rig.ts';

const name = 'images/ab/abc-1.png';

it('lists page by page, in order, and skips objects that are not artifacts', async () => {
  const { fake, open } = await openRig();
  const names = Array.from({ length: 2300 }, (_, at) => `images/ab/ab${String(at).padStart(4, '0')}-1.png`);
  for (const each of names.toReversed()) fake.store(`a run/é+1/${each}`, 'x');
  for (const each of ['images/ab/with space.png', 'images/ab/a&b.png', 'notes.txt', 'images/a<b>/c.png'])
    fake.store(`a run/é+1/${each}`, 'x');
  fake.store('a run/é+11/images/ab/other-1.png', 'x');
  const store = open();
  expect(await listed(store)).toEqual(names);
  expect(await listed(store, 'images/ab/ab22')).toEqual(names.slice(2200));
  expect(fake.counts).toEqual(new Map([['GET bucket', 4]]));
});

/** The bounds of a list's first page, and what its token leads to. */
const early = (more: string): S3Fault => ({
  status: 200,
  code: '',
  more: `</Error><ListBucketResult>${more}</ListBucketResult><Error>`,
});

it.each<[string, (token: string) => string]>([
  ['an empty page behind its token', () => '<IsTruncated>false</IsTruncated>'],
  ['no token', () => '<IsTruncated>true</IsTruncated>'],
  [
    'the same token again',
    (token) => `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`,
  ],
])('lists all names in a store that returns %s', async (_, more) => {
  const { fake, open } = await openRig();
  const names = Array.from({ length: 1040 }, (__, at) => `images/ab/ab${String(at).padStart(4, '0')}-1.png`);
  for (const each of names) fake.store(`a run/é+1/${each}`, 'x');
  fake.fault = ({ query }) => {
    const token = query.get('continuation-token');
    return token === null ? undefined : early(more(token));
  };
  const store = open();
  expect(await listed(store)).toEqual(names);
  expect(await store.remove([names.at(-1) ?? ''])).toBe(true);
});

it('lists only names below a prefix, in a store that returns others too', async () => {
  const { fake, open } = await openRig();
  const content = ['ab/ab1-1', 'cd/cd1-1']
    .map((one) => `<Contents><Key>a run/é+1/images/${one}.png</Key><Size>1</Size></Contents>`)
    .join('');
  fake.fault = ({ query }) =>
    query.has('list-type') ? early(`<IsTruncated>false</IsTruncated>${content}`) : undefined;
  expect(await listed(open(), 'images/ab/')).toEqual(['images/ab/ab1-1.png']);
});

it.each(['another token each time', 'the same page again', 'the same page of two again'])(
  'refuses an endless list of names: %s',
  async (how) => {
    const { fake, open } = await openRig();
    const page = ['a run/é+1/images/ab/abc-1.png', 'a run/é+1/images/ab/abd-1.png'].map(
      (key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`,
    );
    const repeated = ['another token each time', 'the same page again'].indexOf(how);
    const content = page.slice(0, repeated < 0 ? 2 : repeated).join('');
    fake.fault = ({ query }, count) =>
      query.has('list-type')
        ? early(
            `<IsTruncated>true</IsTruncated><NextContinuationToken>t${count}</NextContinuationToken>${content}`,
          )
        : undefined;
    expect(await codeOf(listed(open()))).toBe('s3.failed, stop');
    expect(fake.requests.length).toBeLessThan(200);
  },
);

it.each([
  ['ends', {}],
  ['is reset', { byReset: true }],
] as const)('reads on where a connection %s in the middle of a file', async (_, how) => {
  const { fake, open } = await openRig();
  const store = open();
  const bytes = randomBytes(300_000);
  await putBytes(store, name, bytes);
  let cuts = 0;
  fake.fault = ({ method }) => (method === 'GET' && ++cuts <= 3 ? { kind: 'cut', ...how } : undefined);
  const whole = await store.get(name, 1_000_000);
  expect(whole.ok && whole.bytes.equals(bytes)).toBe(true);
  cuts = 0;
  const found = await store.open(name);
  const pieces: Buffer[] = [];
  if (found.ok) for await (const piece of found.pieces()) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  const starts = fake.requests.flatMap(({ headers: { range } }) => (range === undefined ? [] : [range]));
  expect(starts).toHaveLength(4);
  expect(starts[0]).toBe('bytes=0-299999');
  expect(new Set(starts).size).toBeGreaterThan(1);
});

it('continues to read as long as bytes come, however often a connection breaks', async () => {
  const { fake, clock, open } = await openRig({}, { patienceMs: 25_000 });
  const store = open();
  const bytes = randomBytes(300_000);
  await putBytes(store, name, bytes);
  const found = await store.open(name);
  let cuts = 0;
  fake.fault = ({ method }) => (method === 'GET' && ++cuts <= 14 ? { kind: 'cut' } : undefined);
  const pieces: Buffer[] = [];
  if (found.ok) for await (const piece of found.pieces()) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  // All the waits are longer than it would have waited without a byte.
  expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(2 * 25_000);
});

it('does not join the pieces of two objects', async () => {
  const { fake, open } = await openRig();
  const store = open();
  await put(store, name, 'first');
  const found = await store.open(name);
  fake.store(`a run/é+1/${name}`, 'other');
  const reading = async (): Promise<void> => {
    if (found.ok) for await (const _ of found.pieces());
  };
  expect(await codeOf(reading())).toBe('s3.failed, stop');
});

it('looks up no name that cannot exist', async () => {
  const { fake, open } = await openRig();
  const store = open();
  for (let at = 0; at < 20; at += 1) {
    const stem = `images/${at + 10}/${at + 10}abcdef-1`;
    await put(store, `${stem}.png`);
    await store.remove([`${stem}.jpg`, `${stem}.webp`, `${stem}.gif`]);
  }
  // One look at what was there before.
  expect(fake.counts).toEqual(
    new Map([
      ['PUT object', 20],
      ['GET bucket', 1],
    ]),
  );
});

it('removes the file of an earlier run with another ending, also in a large store', async () => {
  const { fake, open } = await openRig();
  for (let at = 0; at < 1200; at += 1)
    fake.store(`a run/é+1/images/aa/aa${String(at).padStart(4, '0')}-1.png`, 'x');
  fake.store(`a run/é+1/images/ab/abc-1.jpg`, 'x');
  const store = open();
  await put(store, name);
  expect(await store.remove(['images/ab/abc-1.jpg', 'images/ab/abc-1.gif'])).toBe(true);
  expect(fake.objects.has('a run/é+1/images/ab/abc-1.jpg')).toBe(false);
  expect(fake.counts.get('GET bucket')).toBe(2);
});

it.each([
  [{ status: 404, code: 'NoSuchBucket' }, 's3.no-bucket, stop'],
  [{ status: 403, code: 'AccessDenied' }, 's3.denied, stop'],
  [{ status: 403, code: 'SignatureDoesNotMatch' }, 's3.credentials, stop'],
  [{ status: 400, code: 'ExpiredToken' }, 's3.credentials, stop'],
  [{ status: 301, code: 'PermanentRedirect', headers: { 'x-amz-bucket-region': 'x' } }, 's3.region, stop'],
  [{ status: 507, code: 'XMinioStorageFull' }, 's3.full, stop'],
  [{ status: 400, code: 'EntityTooLarge' }, 's3.failed, stop'],
] as const)('says what %j means', async (refusal, code) => {
  const { open } = await openRig({ fault: () => refusal });
  expect(await codeOf(put(open(), name))).toBe(code);
});

it('reports the difference of the clocks', async () => {
  const { clock, open } = await openRig();
  const store = open();
  // The answer's own date is the machine's.
  const failure = await put(store, name).catch((error: unknown) => error as Error);
  expect(failure).toBeUndefined();
  const skewed = await openRig({ now: () => Date.now() - 3_600_000 });
  expect(await codeOf(put(skewed.open(), name))).toBe('s3.clock, stop');
  expect(clock.waits).toEqual([]);
});

it('does not follow the store to another region, but names it', async () => {
  const { fake, client } = await openRig({ region: 'eu-test-1' });
  fake.fault = () => ({
    status: 400,
    code: 'AuthorizationHeaderMalformed',
    more: '<Region>ap-south-1</Region>',
  });
  await expect(client.ask({ method: 'GET', name, doing: 'read' })).rejects.toThrow('AWS_REGION=ap-south-1');
});

it('uses temporary keys', async () => {
  const { fake, open } = await openRig({ sessionToken: 'token+/=of a session' });
  await put(open(), name);
  expect(fake.objects.size).toBe(1);
});

it('treats a HEAD that is refused without words as an unknown token', async () => {
  const refused = { status: 400, code: 'InvalidToken' };
  const { open } = await openRig({ sessionToken: 'of an hour', fault: () => refused });
  expect(await codeOf(open().open(name))).toBe('s3.credentials, stop');
  const plain = await openRig({ fault: () => refused });
  expect(await codeOf(plain.open().open(name))).toBe('s3.failed, stop');
});

it.each([
  ['s3://pictures', { bucket: 'pictures', prefix: '' }],
  ['s3://pictures/', { bucket: 'pictures', prefix: '' }],
  ['s3://my.pictures/a run/é/', { bucket: 'my.pictures', prefix: 'a run/é' }],
] as const)('reads the address %s', (text, address) => {
  expect(readS3Address(text)).toEqual(address);
});

it.each([
  'S3://pictures',
  's3://',
  's3:///x',
  's3://p',
  's3://ab',
  's3://pictures/../x',
  's3://pictures//x',
  's3://pictures/a?b',
  `s3://pictures/${'é'.repeat(401)}`,
])('refuses the address %s', (text) => {
  expect([isS3Address(text), typeof readS3Address(text)]).toEqual([true, 'string']);
});

it('shows an address as users write it', () => {
  expect(shownS3Address({ bucket: 'pictures', prefix: 'a/b' })).toBe('s3://pictures/a/b');
  expect(shownS3Address({ bucket: 'pictures', prefix: '' })).toBe('s3://pictures');
});

const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

it.each([
  [{}, 'pictures', 'https://pictures.s3.us-east-1.amazonaws.com'],
  [{ AWS_DEFAULT_REGION: 'eu-central-1' }, 'pictures', 'https://pictures.s3.eu-central-1.amazonaws.com'],
  [{ AWS_REGION: 'cn-north-1' }, 'pictures', 'https://pictures.s3.cn-north-1.amazonaws.com.cn'],
  [{ AWS_REGION: 'eu-central-1' }, 'my.pictures', 'https://s3.eu-central-1.amazonaws.com/my.pictures'],
  [{ AWS_ENDPOINT_URL: 'http://127.0.0.1:9000/' }, 'pictures', 'http://127.0.0.1:9000/pictures'],
  [
    { AWS_ENDPOINT_URL: 'http://other', AWS_ENDPOINT_URL_S3: 'https://s3.example.com/v1/s3' },
    'pictures',
    'https://s3.example.com/v1/s3/pictures',
  ],
  [
    { AWS_ENDPOINT_URL: 'https://s3.example.com:444/v1', AWS_S3_ADDRESSING_STYLE: 'virtual' },
    'my.pictures',
    'https://my.pictures.s3.example.com:444/v1',
  ],
  [
    { AWS_REGION: 'eu-1', AWS_S3_ADDRESSING_STYLE: 'path' },
    'pictures',
    'https://s3.eu-1.amazonaws.com/pictures',
  ],
  [
    { AWS_ENDPOINT_URL: 'https://s3.example.com', AWS_S3_ADDRESSING_STYLE: 'path' },
    'pictures',
    'https://s3.example.com/pictures',
  ],
] as const)('finds the place of %j', (env, bucket, base) => {
  expect(readS3Settings({ bucket, prefix: '' }, { ...keys, ...env }).base).toBe(base);
});

it.each([
  [{ AWS_ACCESS_KEY_ID: 'id' }, 'AWS_SECRET_ACCESS_KEY'],
  [{ AWS_SECRET_ACCESS_KEY: 'secret' }, 'AWS_ACCESS_KEY_ID'],
  [{ ...keys, AWS_REGION: 'eu central' }, 'AWS_REGION'],
  [{ ...keys, AWS_ENDPOINT_URL: 'minio:9000' }, 'AWS_ENDPOINT_URL'],
  [{ ...keys, AWS_ENDPOINT_URL: 'https://user:secret@minio' }, 'AWS_ENDPOINT_URL'],
  [{ ...keys, AWS_S3_ADDRESSING_STYLE: 'host' }, 'AWS_S3_ADDRESSING_STYLE'],
  [
    { ...keys, AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_S3_ADDRESSING_STYLE: 'virtual' },
    'AWS_S3_ADDRESSING_STYLE',
  ],
  [{ ...keys, AWS_SESSION_TOKEN: 'sec\nret' }, 'AWS_SESSION_TOKEN'],
  [{ ...keys, AWS_ACCESS_KEY_ID: 'schlüssel' }, 'AWS_ACCESS_KEY_ID'],
] as const)('refuses %j, and shows no value', (env, named) => {
  const failure = ((): unknown => {
    try {
      return readS3Settings({ bucket: 'pictures', prefix: '' }, env);
    } catch (error) {
      return error;
    }
  })() as S3SettingsError;
  expect(failure).toBeInstanceOf(S3SettingsError);
  expect(failure.message).toContain(named);
  for (const secret of secretsOfS3(env)) expect(secret.replace('\n', '')).toBe('secret');
  expect(`${failure.message} ${failure.hint}`).not.toMatch(/secret(?!_)\b/);
});
