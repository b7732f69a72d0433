import { expect, it } from 'vitest';
import { isEngineAddress, parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { EngineError } from '../../../src/engine/postgres/engine-error.ts';

function refused(text: string): EngineError {
  try {
    parseEngineAddress(text);
  } catch (error) {
    if (error instanceof EngineError) return error;
  }
  throw new Error(`${text} was not refused`);
}

it('reads all parts of an address, including percent-encoded ones', () => {
  expect(
    parseEngineAddress(
      'postgres://pp%40home:p%2Fw%3A%23@db.example.com:6543/night%20runs?sslmode=verify-full&sslrootcert=ca.pem#foxes',
    ),
  ).toEqual({
    host: 'db.example.com',
    port: 6543,
    user: 'pp@home',
    password: 'p/w:#',
    database: 'night runs',
    sslmode: 'verify-full',
    sslrootcert: 'ca.pem',
    run: 'foxes',
    origin: 'postgres://db.example.com:6543',
    shown: 'postgres://pp%40home@db.example.com:6543/night%20runs',
    secrets: ['p/w:#', 'p%2Fw%3A%23'],
  });
});

it('distinguishes an address from a file, and needs no port, password or run', () => {
  expect([isEngineAddress('postgresql://x'), isEngineAddress('postgres.yaml')]).toEqual([true, false]);
  const address = parseEngineAddress('postgresql://pp@[::1]/runs');
  expect(address).toMatchObject({ host: '::1', port: 5432, sslmode: 'disable', secrets: [] });
  expect(Object.keys(address)).not.toContain('password');
  expect(parseEngineAddress('postgres://pp@localhost/runs?host=/var/run/postgresql').host).toBe(
    '/var/run/postgresql',
  );
});

it('connects to another machine without encryption only where the address allows it', () => {
  const error = refused('postgres://pp:geheim-7@db.example.com/runs');
  expect(error.code).toBe('engine.address');
  expect(error.hint).toContain('sslmode=verify-full');
  expect(parseEngineAddress('postgres://pp@db.example.com/runs?sslmode=disable').sslmode).toBe('disable');
  for (const mode of ['prefer', 'allow', 'yes'])
    expect(refused(`postgres://pp@127.0.0.1/runs?sslmode=${mode}`).message).toContain('sslmode');
});

it('refuses an invalid address, and never shows a password', () => {
  for (const text of [
    'postgres://pp:geheim-7@/runs',
    'postgres://pp:geheim-7@127.0.0.1:99999/runs',
    'postgres://pp:geheim-7@127.0.0.1/',
    'postgres://:geheim-7@127.0.0.1/runs',
    'postgres://pp@127.0.0.1/runs?password=geheim-7',
    'postgres://pp:geheim-7/x@127.0.0.1/runs',
    'postgres://pp:12/geheim-7@127.0.0.1/runs',
    'postgres://pp:12#geheim-7@127.0.0.1/runs',
    'postgres://pp:12?geheim-7@127.0.0.1/runs',
    'postgres://pp:p@12?geheim-7@127.0.0.1/runs',
    'postgres://pp:p@12#geheim-7@127.0.0.1/runs',
    'mysql://pp:geheim-7@127.0.0.1/runs',
  ]) {
    const error = refused(text);
    expect(error.code).toBe('engine.address');
    expect(`${error.message} ${String(error.hint)}`).not.toContain('geheim-7');
  }
});
