import { expect, it } from 'vitest';
import { shownErrorOf } from '../../../src/app/errors/render.ts';
import { EngineError, engineErrorOf, lostEngine } from '../../../src/engine/postgres/engine-error.ts';
import { StateError } from '../../../src/state/store.ts';

const shown = 'postgres://pp@db/runs';

const server = (code: string, message = 'as the server says it'): Error =>
  Object.assign(new Error(message), { severity: 'ERROR', code });
const system = (code: string): Error =>
  Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });

it.each([
  [server('53100', 'could not extend file'), 'engine.full', 74],
  [server('25006'), 'engine.readonly', 74],
  [server('57P01'), 'engine.away', 74],
  [server('57P03'), 'engine.away', 74],
  [server('57014'), 'engine.busy', 74],
  [server('53300', 'sorry, too many clients already'), 'engine.connections', 74],
  [server('40P01'), 'engine.busy', 74],
  [server('58030'), 'engine.io', 74],
  [server('XX001'), 'engine.io', 74],
  [server('XX000', 'could not write init file'), 'engine.full', 74],
  [server('28P01'), 'engine.password', 2],
  [server('3D000'), 'engine.database', 2],
  [server('57P04'), 'engine.database', 2],
  [server('42883', 'function promptpress.commit_turn(…) does not exist'), 'engine.schema', 2],
  [server('42501'), 'engine.rights', 2],
  [server('08P01', 'unsupported startup parameter: statement_timeout'), 'engine.pooler', 2],
  [system('ECONNREFUSED'), 'engine.away', 74],
  [system('ENOTFOUND'), 'engine.away', 74],
  [new AggregateError([system('ECONNREFUSED'), system('ENETUNREACH')]), 'engine.away', 74],
  [new Error('Connection terminated unexpectedly'), 'engine.away', 74],
  [new Error('Query read timeout'), 'engine.away', 74],
  [
    Object.assign(new Error('self-signed certificate'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    'engine.tls',
    2,
  ],
  [new Error('The server does not support SSL connections'), 'engine.tls', 2],
  [new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'engine.password', 2],
])('says what %s means, and what to do', (error, code, exitCode) => {
  const meant = engineErrorOf(error, shown);
  if (!(meant instanceof StateError)) throw new Error('it is taken for a bug');
  expect(meant).toMatchObject({ code, message: expect.stringContaining(shown) as string });
  expect(meant.hint).not.toBe('');
  expect(shownErrorOf(meant).exitCode).toBe(exitCode);
});

it('leaves a bug unchanged', () => {
  for (const bug of [server('42601'), new TypeError('x is not a function'), 'no error'])
    expect(engineErrorOf(bug, shown)).toBe(bug);
});

it.each([
  ['53100', true],
  ['25006', true],
  ['57P03', true],
  ['53300', true],
  ['28P01', false],
  ['3D000', false],
  ['42501', false],
  ['42883', false],
  ['XX001', false],
])('decides whether to wait after %s: %s', (code, mayPass) => {
  const error = engineErrorOf(server(code), shown);
  if (!(error instanceof EngineError)) throw new Error('it is taken for a bug');
  expect(error.mayPass).toBe(mayPass);
  if (mayPass) return;
  // Of a run that is at work it is no mistake of the command line.
  const lost = lostEngine(error);
  expect(lost).toMatchObject({ code: 'engine.lost', message: error.message });
  expect(lost.hint).toContain('give the same command again.');
  expect(shownErrorOf(lost).exitCode).toBe(74);
});
