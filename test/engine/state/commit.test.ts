import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engineError } from '../../../src/engine/postgres/engine-error.ts';
import { RecordCache } from '../../../src/engine/state/cache.ts';
import { repeated, sentTurn } from '../../../src/engine/state/commit.ts';
import { type ReplyLine, ReplyLines } from '../../../src/engine/state/reply-lines.ts';
import { revOf } from '../../../src/engine/state/rows.ts';
import { storedForm } from '../../../src/state/sqlite/texts.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { jobRecord } from '../../state/records.ts';

const writer = { run: 1, session: 1 };

it('sends each document once, as it is stored, with few further bytes', () => {
  const text = 'He said: "a\nb"';
  const candidates = [{ text, parts: [{ text }], isJson: false }];
  const records = Array.from({ length: 8 }, (_unused, at) =>
    jobRecord(`k${at}`, 'done', { text: { candidates } }),
  );
  const { values } = sentTurn({ records, attempts: [] }, 1, writer, new RecordCache(), {
    lines: [{ segment: 0, start: 0, line: '{"job":"k0","reply":{}}' }],
    isNewInvocation: false,
  });
  const stored = records.map((record) => storedForm(record));
  expect(values).toContain(stored.map(({ doc }) => doc).join('\n'));
  expect(values).toContain(stored.map(({ said }) => said).join('\n'));
  expect(values).toContain('{"job":"k0","reply":{}}');
  const documents = stored.reduce((sum, { doc, said = '' }) => sum + doc.length + said.length, 0);
  const sent = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
  expect(sent).toBeLessThan(documents + 400 * records.length);
});

it('refuses a document that would be read as two', () => {
  const more = { lines: [{ segment: 0, start: 0, line: '{\n}' }], isNewInvocation: false };
  expect(() => sentTurn({ records: [], attempts: [] }, 1, writer, new RecordCache(), more)).toThrow(
    'Internal error: a document of a turn has several lines.',
  );
});

describe('a turn', () => {
  const more = { lines: [], isNewInvocation: true };
  const records = [jobRecord('a', 'done')];
  const turn = { records, attempts: [], sent: 'when', facts: { own: '1' }, invocation: 3 };
  const slices = { of: new Map([['a', 7]]), epochs: new Map([[7, 2]]), basis: new Map<string, string>() };
  const writing = { run: 1, session: 9 };

  it('writes recent sends only where nobody shares its limits: all workers would wait for one row', () => {
    const factsOf = (given: Parameters<typeof sentTurn>[0], isNewInvocation = true) => {
      const { values } = sentTurn(given, 1, writing, new RecordCache(), { ...more, isNewInvocation });
      return (JSON.parse(String(values[13])) as { name: string }[]).map(({ name }) => name);
    };
    expect(factsOf(turn)).toHaveLength(3);
    expect(factsOf({ ...turn, slices })).toHaveLength(2);
    expect(factsOf({ ...turn, slices }, false)).toEqual(['own']);
  });

  it('has versions that grow with its number, under the epoch of its slice or else of its session', () => {
    const versionIn = (given: Parameters<typeof sentTurn>[0], number: number) =>
      sentTurn(given, number, writing, new RecordCache(), more).records.get('a')?.version;
    expect(versionIn(turn, 4)).toEqual({ slice: 0, rev: revOf(9, 4) });
    expect(versionIn({ ...turn, slices }, 4)).toEqual({ slice: 7, rev: revOf(2, 4) });
    expect(BigInt(revOf(2, 1)) > BigInt(revOf(1, 2 ** 32 - 1))).toBe(true);
    expect(() => versionIn({ ...turn, slices: { ...slices, epochs: new Map() } }, 4)).toThrow(
      'Internal error',
    );
  });
});

describe('work that is repeated while the engine is away', () => {
  const away = engineError('away', 'engine');

  it.each([
    ['until it succeeds', 2, away, undefined, [3, 'done']],
    ['until patience runs out, and no pause goes beyond it', 99, away, undefined, [5, away]],
    ['not where the failure does not pass', 99, new Error('a bug'), undefined, [1, new Error('a bug')]],
    ['not once nobody waits for it', 99, away, AbortSignal.abort(), [1, away]],
  ])('is repeated %s', async (_, failures, failure, signal, expected) => {
    const time = new VirtualTime();
    let calls = 0;
    const work = repeated(
      () => {
        calls += 1;
        return calls > failures ? Promise.resolve('done') : Promise.reject(failure);
      },
      time.clock(),
      1000,
      signal,
    ).catch((error: unknown) => error);
    await time.pass(5000);
    const result = await work;
    expect([calls, result]).toEqual(expected);
  });
});

it('keeps whole replies until they are written, each where its file will have it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat(3)), { maxLength: 12 }),
      (steps) => {
        const replies = new ReplyLines(5);
        const written: ReplyLine[] = [];
        const places = steps.map(([text, then]) => {
          const lines = then === 0 ? replies.lines : [];
          const place = replies.keep('job', JSON.stringify(text));
          // A turn was under way while the reply came.
          written.push(...lines);
          replies.onWritten(lines);
          expect(replies.bytes).toBe(
            replies.lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0),
          );
          return place;
        });
        written.push(...replies.lines);
        const file = Buffer.from(written.map(({ line }) => `${line}\n`).join(''));
        expect(written.map(({ start }) => start)).toEqual(places.map(({ offset }) => offset));
        expect(
          places.map(({ offset, length }) => hash('sha256', file.subarray(offset, offset + length), 'hex')),
        ).toEqual(places.map(({ sha256 }) => sha256));
        expect(new Set(written.map(({ segment }) => segment))).toEqual(
          new Set(places.map(({ segment }) => segment)),
        );
      },
    ),
  );
});

it('begins each segment of whole replies at its start, and asks for one more only where it has none to spare', () => {
  const replies = new ReplyLines(1, 1000);
  const large = `"${'x'.repeat(600)}"`;
  const kept = [1, 2].map((number) => {
    const { segment, offset } = replies.keep('job', large);
    replies.onWritten(replies.lines);
    const needed = replies.needsSegment;
    if (needed) replies.addSegment(number + 1);
    return { segment, offset: offset > 0, needed };
  });
  expect(kept).toEqual([
    { segment: 1, offset: false, needed: true },
    { segment: 1, offset: true, needed: false },
  ]);
  expect(replies.keep('job', '1')).toMatchObject({ segment: 2, offset: 0 });
  expect([replies.keep('job', '1').segment, replies.needsSegment]).toEqual([2, false]);
});
