import { describe, expect, it } from 'vitest';
import { reasonMatch, reasonMatches } from '../../../src/pipeline/settings/fail-reason.ts';
import { parse } from '../diagnose.ts';

describe('a reason of failed tasks', () => {
  it('is a text, or a pattern between slashes', () => {
    expect(reasonMatch('worker lost')).toEqual({ kind: 'text', text: 'worker lost' });
    expect(reasonMatch('/^worker (lost|gone)/')).toEqual({ kind: 'pattern', source: '^worker (lost|gone)' });
    for (const text of ['/', '/a', 'a/']) expect(reasonMatch(text)).toEqual({ kind: 'text', text });
  });

  it("is found in the service's text", () => {
    const found = (written: string, reason: string): boolean => reasonMatches(reasonMatch(written), reason);
    expect(found('worker lost', '[Internal] Worker LOST, sorry')).toBe(true);
    expect(found('worker lost', 'worker is lost')).toBe(false);
    expect(found('a.c', 'abc')).toBe(false);
    expect(found('任务超时', '上游任务超时（超过1小时）')).toBe(true);
    expect(found('/^worker (lost|gone)$/', 'worker gone')).toBe(true);
    expect(found('/^worker/', 'Worker gone')).toBe(false);
    expect(found('/z/', `${'a'.repeat(256)}z`)).toBe(false);
    expect(found('z', `${'a'.repeat(100_000)}z`)).toBe(true);
  });

  it('keeps its written order in the settings', async () => {
    const { pipeline, diagnostics } = await parse(
      'name: t\nservice: { tag: false, names: { errorType: x } }\npoll: { list: true }\nretry: { permanent: [a, "/b/"], transient: [c] }\nsteps: { a: { imagine: x } }\n',
    );
    expect(diagnostics).toEqual([]);
    expect(pipeline?.retry).toMatchObject({
      permanent: [
        { kind: 'text', text: 'a' },
        { kind: 'pattern', source: 'b' },
      ],
      transient: [{ kind: 'text', text: 'c' }],
    });
    expect(pipeline?.poll.list).toBe(true);
    expect(pipeline?.service).toMatchObject({ tag: false, names: { own: { errorType: 'x' } } });
  });
});
