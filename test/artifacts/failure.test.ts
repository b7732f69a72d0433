import { describe, expect, it } from 'vitest';
import { onDisk, SaveError, shownLink, shownWords } from '../../src/artifacts/failure.ts';
import { StateError } from '../../src/state/store.ts';

const failing = (code: string): Promise<unknown> =>
  onDisk(() =>
    Promise.reject(Object.assign(new Error(`${code}: it failed, write`), { code, syscall: 'write' })),
  );

describe('failures of the disk', () => {
  it.each([
    ['ENOSPC', 'disk.full'],
    ['EDQUOT', 'disk.full'],
    ['EROFS', 'disk.readonly'],
    ['EACCES', 'disk.readonly'],
    ['EPERM', 'disk.readonly'],
    ['EIO', 'disk.io'],
    ['EMFILE', 'disk.io'],
  ])('stop the run for %s as %s', async (errno, code) => {
    const error = await failing(errno).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SaveError);
    expect(error).toMatchObject({ failure: { code, class: 'stop', cause: { code: errno } } });
  });

  it.each([
    ['directory.link', 'disk.link'],
    ['directory.kind', 'disk.io'],
  ] as const)('about a refused run directory, %s, stop the run as %s', async (refusal, code) => {
    const cause = new StateError(refusal, 'x is a link.');
    await expect(onDisk(() => Promise.reject(cause))).rejects.toMatchObject({
      failure: { code, class: 'stop', message: 'x is a link.', cause },
    });
  });

  it('contain the message of the system', async () => {
    await expect(failing('EIO')).rejects.toThrow('The disk failed (EIO: it failed, write).');
    await expect(failing('ENOSPC')).rejects.toThrow('The disk is full (ENOSPC: it failed, write).');
  });

  it('are not confused with bugs', async () => {
    const bug = new TypeError('a bug');
    await expect(onDisk(() => Promise.reject(bug))).rejects.toBe(bug);
    const unknown = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    await expect(onDisk(() => Promise.reject(unknown))).rejects.toBe(unknown);
  });
});

describe('links in messages', () => {
  it('are shown without secrets, and shortened', () => {
    expect(shownLink(new URL('https://cdn.example/a.png?ex=1&hm=2#x'))).toBe('https://cdn.example/a.png');
    const long = shownLink(new URL(`https://user:word@cdn.example/${'a'.repeat(999)}?hm=2`));
    expect(long).toMatch(/^https:\/\/cdn\.example\/a+…$/);
    expect(long.length).toBeLessThan(160);
  });

  it('are shown whole up to 150 characters', () => {
    const link = (length: number): string => `https://cdn.example/${'a'.repeat(length - 20)}`;
    expect(shownLink(new URL(link(150)))).toBe(link(150));
    expect(shownLink(new URL(link(151)))).toBe(`${link(150)}…`);
  });
});

describe('foreign words in messages', () => {
  it('are shown as one line without control characters', () => {
    expect(shownWords(' a\u0000b\u001b[2Jc\u200bd\u2028e\u2029f\uFFFDg \n\t h ')).toBe('a b [2Jc d e f g h');
  });

  it('are shown whole up to 200 characters', () => {
    expect(shownWords('x'.repeat(200))).toBe('x'.repeat(200));
    expect(shownWords('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
  });
});
