import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { shownErrorOf } from '../../../src/app/errors/render.ts';
import { onDisk, SaveError } from '../../../src/artifacts/failure.ts';
import { isFullDisk, systemCode, systemWords } from '../../../src/state/files/disk-errors.ts';
import { guarded } from '../../../src/state/state-error.ts';
import { StateError } from '../../../src/state/store.ts';
import { systemError } from '../../rig/replace-fs.ts';

/** As Node 20 says it, whose libuv has no name for it. */
const errno = -constants.errno.EDQUOT;
const quota = Object.assign(
  new Error(`Unknown system error ${errno}: Unknown system error ${errno}, write`),
  {
    errno,
    code: `Unknown system error ${errno}`,
    syscall: 'write',
  },
);

it('a used-up quota is a full disk, and is described in words', async () => {
  expect([systemCode(quota), isFullDisk(quota)]).toEqual(['EDQUOT', true]);
  expect(systemWords(quota)).toBe('EDQUOT: disk quota exceeded, write');
  const stated = (): void =>
    guarded('/runs/foxes/state.db', () => {
      throw quota;
    });
  expect(stated).toThrow(StateError);
  expect(stated).toThrow('is full (EDQUOT: disk quota exceeded, write)');
  const saved = await onDisk(() => Promise.reject(quota)).catch((error: unknown) => error);
  expect(saved).toBeInstanceOf(SaveError);
  expect((saved as SaveError).failure).toMatchObject({ code: 'disk.full', class: 'stop' });
  expect(shownErrorOf(quota)).toMatchObject({ exitCode: 74 });
});

it('any other error keeps its code and its words', () => {
  const error = systemError('ENOENT');
  expect([systemCode(error), isFullDisk(error), systemWords(error)]).toEqual([
    'ENOENT',
    false,
    error.message,
  ]);
  expect(systemCode(new Error('no code'))).toBeUndefined();
});
