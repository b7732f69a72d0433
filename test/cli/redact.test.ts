import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/cli/redact.ts';

describe('Redactor', () => {
  it('finds a secret as it is, in JSON, in an address and in CSV', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 4, maxLength: 40 }),
        fc.string(),
        (secret, around) => {
          const redactor = new Redactor();
          redactor.add(secret);
          const forms = [
            secret,
            JSON.stringify({ message: `${around}${secret}` }),
            encodeURIComponent(secret.toWellFormed()),
            `"${secret.replaceAll('"', '""')}"`,
          ];
          for (const form of forms) {
            const shown = redactor.apply(form);
            expect(shown).toContain('[secret]');
          }
        },
      ),
      { seed: 5 },
    );
  });

  it('masks a secret that holds another one as a whole', () => {
    const redactor = new Redactor();
    redactor.add('abcd');
    redactor.add('abcd-efgh');
    expect(redactor.apply('x abcd-efgh y abcd z')).toBe('x [secret] y [secret] z');
  });

  it('leaves the key of a sandbox that was given none: its help shows it', () => {
    const redactor = new Redactor();
    redactor.add('sandbox');
    redactor.add('sandbox-5f2c');
    expect(redactor.apply('owned by sandbox, runs/foxes.sandbox, sandbox-5f2c')).toBe(
      'owned by sandbox, runs/foxes.sandbox, [secret]',
    );
  });

  it('leaves everything alone without secrets', () => {
    expect(new Redactor().apply('text')).toBe('text');
  });
});
