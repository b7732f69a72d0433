import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../src/app/output/redact.ts';

describe('Redactor', () => {
  it('finds a secret in plain form, in JSON, in an address and in CSV', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
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

  it('finds a secret in hex and in base64, alone or inside a longer text', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 16, maxLength: 60, unit: 'grapheme-ascii' }),
        fc.string({ maxLength: 9 }),
        fc.string({ maxLength: 9 }),
        fc.constantFrom('hex', 'base64', 'base64url'),
        (secret, before, after, encoding) => {
          const redactor = new Redactor();
          redactor.addCredential(secret);
          const encoded = Buffer.from(`${before}${secret}${after}`).toString(encoding);
          for (const text of [encoded, encoding === 'hex' ? encoded.toUpperCase() : encoded]) {
            for (const shown of [redactor.apply(text), redactor.applyToData(text)]) {
              expect(shown).toContain('[secret]');
              // What is left of the secret's own characters are those that hold bytes beside it too.
              const bytes = before.length + after.length;
              expect(shown.length - '[secret]'.length).toBeLessThanOrEqual(2 * bytes + 8);
            }
          }
        },
      ),
      { seed: 7 },
    );
  });

  it('masks a secret that contains another one as a whole', () => {
    const redactor = new Redactor();
    redactor.add('abcdefgh');
    redactor.add('abcdefgh-ij');
    expect(redactor.apply('x abcdefgh-ij y abcdefgh z')).toBe('x [secret] y [secret] z');
  });

  it('does not mask the default key of a sandbox, which its help shows', () => {
    const redactor = new Redactor();
    redactor.add('sandbox');
    redactor.add('sandbox-5f2c');
    expect(redactor.apply('owned by sandbox, runs/foxes.sandbox, sandbox-5f2c')).toBe(
      'owned by sandbox, runs/foxes.sandbox, [secret]',
    );
  });

  it('changes nothing without secrets', () => {
    expect(new Redactor().apply('text')).toBe('text');
  });
});
