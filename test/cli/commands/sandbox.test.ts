import { describe, expect, it } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { testIo } from '../test-io.ts';

/** Resolves once standard output has a first line. */
async function firstLine(test: ReturnType<typeof testIo>): Promise<string> {
  while (!test.out().includes('\n')) await new Promise((resolve) => setImmediate(resolve));
  return test.out().split('\n')[0] ?? '';
}

describe('promptpress sandbox', () => {
  it('says its address in the first line, takes its key and its faults, and ends with a signal', async () => {
    const test = testIo({ cwd: '/', env: { PROMPTPRESS_API_KEY: 'my-own-key' } });
    const running = program(
      ['sandbox', '--pace', '0', '--fault', 'imagine:503:at 2', '--names', 'midjourney-proxy'],
      test.io,
    );
    const address = await firstLine(test);
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(test.err()).not.toContain('my-own-key');
    const submit = async (key: string): Promise<number> => {
      const response = await fetch(`${address}/mj/submit/imagine`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ botType: 'MID_JOURNEY', prompt: 'a fox' }),
      });
      await response.arrayBuffer();
      return response.status;
    };
    expect(await submit('sandbox')).toBe(401);
    // A fault counts every request to its route: the one with the wrong key was the first.
    expect([await submit('my-own-key'), await submit('my-own-key')]).toEqual([503, 200]);
    test.interrupt();
    expect(await running).toBe(0);
    await expect(fetch(address)).rejects.toThrow('fetch failed');
  });

  it('refuses a port that is taken', async () => {
    const first = testIo({ cwd: '/' });
    const running = program(['sandbox'], first.io);
    const { port } = new URL(await firstLine(first));
    const second = testIo({ cwd: '/' });
    expect(await program(['sandbox', '--port', port], second.io)).toBe(2);
    expect(second.err()).toContain(port);
    first.interrupt();
    expect(await running).toBe(0);
  });
});
