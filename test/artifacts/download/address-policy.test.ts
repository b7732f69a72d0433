import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AddressError, addressRule, isPublic } from '../../../src/artifacts/download/address-policy.ts';

const forbidden = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.254',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:168.63.129.16',
  '64:ff9b::168.63.129.16',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '64:ff9b::1:808:808',
  '64:ff9b:0:1::808:808',
  '65:ff9b::808:808',
  '64:ff9a::808:808',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'not an address',
];

const allowed = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '100.63.255.255',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
];

describe('public addresses', () => {
  it.each(forbidden)('exclude %s', (address) => expect(isPublic(address)).toBe(false));
  it.each(allowed)('include %s', (address) => expect(isPublic(address)).toBe(true));
});

/** Resolves every name to these addresses, as dns.lookup does. */
const resolvesTo =
  (...addresses: readonly string[]): LookupFunction =>
  (_hostname, options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const [first] = found;
    if (options.all === true) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };

const ask = (lookup: LookupFunction, host: string, all: boolean): Promise<unknown> =>
  new Promise((resolve) => {
    lookup(host, { all }, (error, found) => resolve(error ?? found));
  });

describe('the rule for links', () => {
  const rule = addressRule('https://gateway.example:8443/base', resolvesTo('8.8.8.8'));

  it.each([
    'https://cdn.example/a.png',
    'http://cdn.example:8080/a.png',
    'https://gateway.example/a.png',
    'http://GATEWAY.example:1/a.png',
    'https://gateway.example./a.png',
    'https://8.8.8.8/a.png',
    'https://[2606:4700::1111]/a.png',
  ])('allows %s', (link) => expect(rule.forbiddenReason(new URL(link))).toBeUndefined());

  it.each([
    'ftp://cdn.example/a.png',
    'file:///etc/passwd',
    'data:image/png;base64,iVBORw0KGgo=',
    'javascript:alert(1)',
    'https://user:word@cdn.example/a.png',
    'https://user@gateway.example/a.png',
    'https://:word@gateway.example/a.png',
    'http://127.0.0.1/a.png',
    'http://127.1/a.png',
    'http://2130706433/a.png',
    'http://0x7f000001/a.png',
    'http://0177.0.0.1/a.png',
    'http://10.0.0.1/a.png',
    'http://[::1]/a.png',
    'http://[::ffff:7f00:1]/a.png',
    'http://[::ffff:127.0.0.1]:9000/a.png',
    'http://[64:ff9b::7f00:1]/a.png',
    'http://169.254.169.254/latest/meta-data/',
  ])('forbids %s', (link) => expect(rule.forbiddenReason(new URL(link))).toBeTypeOf('string'));

  it('allows only the base address on this machine', async () => {
    const local = addressRule('http://127.0.0.1:4000', resolvesTo('127.0.0.1'));
    for (const link of [
      'http://127.0.0.1:4000/a.png',
      'http://127.1:4000/a.png',
      'https://cdn.example/a.png',
    ])
      expect(local.forbiddenReason(new URL(link))).toBeUndefined();
    for (const link of [
      'http://127.0.0.1/a.png',
      'https://127.0.0.1:4000/a.png',
      'http://127.0.0.1:4001/a.png',
      'http://127.0.0.2:4000/a.png',
      'http://localhost:4000/a.png',
      'http://[::1]:4000/a.png',
    ]) {
      expect(local.forbiddenReason(new URL(link))).toContain('is this machine');
      expect(await local.proxiedForbiddenReason(new URL(link))).toContain('is this machine');
    }
    expect(local.forbiddenReason(new URL('http://10.0.0.1:4000/a.png'))).toBeTypeOf('string');
    expect(await ask(local.lookupFor('http://localhost:4000'), 'localhost', true)).toBeInstanceOf(
      AddressError,
    );
    const standard = addressRule('http://127.0.0.1', resolvesTo('127.0.0.1'));
    expect(standard.forbiddenReason(new URL('http://127.0.0.1:80/a.png'))).toBeUndefined();
    expect(standard.forbiddenReason(new URL('https://127.0.0.1/a.png'))).toBeTypeOf('string');
  });

  it('allows the host name of the base address to resolve to this machine there, and on no other port', async () => {
    const named = addressRule('http://gateway.example:4000', resolvesTo('127.0.0.1', '10.0.0.1'));
    const at = (origin: string) => ask(named.lookupFor(origin), 'gateway.example', true);
    expect(await at('http://gateway.example:4000')).toHaveLength(2);
    expect(await at('http://gateway.example:4001')).toEqual([{ address: '10.0.0.1', family: 4 }]);
    const alone = addressRule('http://gateway.example:4000', resolvesTo('::ffff:127.0.0.1'));
    const link = new URL('http://gateway.example:4001/a.png');
    expect(alone.forbiddenReason(link)).toBeUndefined();
    expect(await ask(alone.lookupFor(link), 'gateway.example', true)).toBeInstanceOf(AddressError);
    expect(await alone.proxiedForbiddenReason(link)).toContain('another port');
  });

  it('connects only to the public addresses of a name', async () => {
    const mixed = addressRule('https://gateway.example', resolvesTo('10.0.0.1', '8.8.8.8', '::1'));
    expect(await ask(mixed.lookupFor('https://cdn.example'), 'cdn.example', true)).toEqual([
      { address: '8.8.8.8', family: 4 },
    ]);
    expect(await ask(mixed.lookupFor('https://cdn.example'), 'cdn.example', false)).toBe('8.8.8.8');
    const inner = addressRule('https://gateway.example', resolvesTo('10.0.0.1'));
    expect(await ask(inner.lookupFor('https://cdn.example'), 'cdn.example', true)).toBeInstanceOf(
      AddressError,
    );
    expect(await ask(inner.lookupFor('https://gateway.example'), 'gateway.example', true)).toEqual([
      { address: '10.0.0.1', family: 4 },
    ]);
  });

  it('connects to an address in its own family, and to its own name with a final dot', async () => {
    const both = addressRule('https://gateway.example', resolvesTo('::1', '2606:4700::1111', '8.8.8.8'));
    const found = await new Promise((resolve) => {
      both.lookupFor('https://cdn.example')('cdn.example', { all: false }, (...answer) => resolve(answer));
    });
    expect(found).toEqual([null, '2606:4700::1111', 6]);
    expect(await ask(both.lookupFor('https://gateway.example'), 'GATEWAY.example.', true)).toHaveLength(3);
    const failed = addressRule('https://gateway.example', (_host, _options, callback) => {
      callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '');
    });
    expect(await ask(failed.lookupFor('https://cdn.example'), 'cdn.example', true)).toMatchObject({
      code: 'ENOTFOUND',
    });
  });

  it('judges links without names for a proxy directly', async () => {
    const rule = addressRule('http://localhost:4000', resolvesTo('10.0.0.1'));
    const reason = (link: string) => rule.proxiedForbiddenReason(new URL(link));
    expect(await reason('http://localhost:4000/a.png')).toBeUndefined();
    expect(await reason('https://8.8.8.8/a.png')).toBeUndefined();
    expect(await reason('http://10.0.0.1/a.png')).toBe('10.0.0.1 is not a public address');
    expect(await reason('ftp://cdn.example/a.png')).toBe('it is a ftp: link');
    expect(await reason('http://cdn.example/a.png')).toBe('cdn.example has no public address');
    const outer = addressRule('http://localhost:4000', resolvesTo('8.8.8.8'));
    for (const name of ['nas.local.example', 'test.example', 'mylocal.example', 'xlan.example'])
      expect([name, await outer.proxiedForbiddenReason(new URL(`http://${name}/a.png`))]).toEqual([
        name,
        undefined,
      ]);
  });

  it('judges names before a proxy resolves them', async () => {
    const outer = addressRule('https://gateway.example', resolvesTo('8.8.8.8'));
    const inner = addressRule('https://gateway.example', resolvesTo('192.168.0.1'));
    const unknown = addressRule('https://gateway.example', (_host, _options, callback) => {
      callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '');
    });
    const link = new URL('https://cdn.example/a.png');
    expect(await outer.proxiedForbiddenReason(link)).toBeUndefined();
    expect(await inner.proxiedForbiddenReason(link)).toBeTypeOf('string');
    expect(await unknown.proxiedForbiddenReason(link)).toBeUndefined();
    expect(await inner.proxiedForbiddenReason(new URL('https://gateway.example/a.png'))).toBeUndefined();
    for (const name of [
      'localhost',
      'printer',
      'nas.local',
      'metadata.google.internal',
      'x.localhost',
      'router.home.arpa',
      'router.home.arpa.',
      'nas.lan',
      'gateway.test',
      'gateway.invalid',
      '10.0.0.1',
    ]) {
      expect([name, await outer.proxiedForbiddenReason(new URL(`http://${name}/a.png`))]).toEqual([
        name,
        expect.any(String),
      ]);
    }
  });
});
