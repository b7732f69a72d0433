import { describe, expect, it } from 'vitest';
import { onDisk, SaveError, shownLink } from '../../src/artifacts/failure.ts';

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
  ])('%s stops the run as %s', async (errno, code) => {
    const error = await failing(errno).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SaveError);
    expect(error).toMatchObject({ failure: { code, class: 'stop', cause: { code: errno } } });
  });

  it('are not confused with bugs', async () => {
    const bug = new TypeError('a bug');
    await expect(onDisk(() => Promise.reject(bug))).rejects.toBe(bug);
    const unknown = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    await expect(onDisk(() => Promise.reject(unknown))).rejects.toBe(unknown);
  });
});

describe('links in messages', () => {
  it('are shown without what gives access, and shortened', () => {
    expect(shownLink(new URL('https://cdn.example/a.png?ex=1&hm=2#x'))).toBe('https://cdn.example/a.png');
    const long = shownLink(new URL(`https://user:word@cdn.example/${'a'.repeat(999)}?hm=2`));
    expect(long).toMatch(/^https:\/\/cdn\.example\/a+…$/);
    expect(long.length).toBeLessThan(160);
  });
});
