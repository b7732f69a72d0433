import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readChatReply } from '../../../src/service/text/reply/chat.ts';
import { readTextReply } from '../../../src/service/text/reply/native.ts';
import type { JsonObject } from '../../../src/service/text-service.ts';
import { bytesOf, readCut, recorded } from './streams.ts';
import { asked } from './text-service.ts';

const seeded = { seed: 20_261_121, numRuns: 150 };
const kinds = fc.constantFrom('generate' as const, 'chat' as const);

/** JSON that looks like a reply, with anything where something is expected. */
const oddReply = (): fc.Arbitrary<JsonObject> => {
  const any = fc.oneof(
    { maxDepth: 2 },
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('STOP', 0, 1, -1, 1e300),
  );
  const shaped = (names: readonly string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
    fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 });
  const part = shaped(['text', 'thought', 'inlineData', 'functionCall', 'thoughtSignature'], any);
  const content = shaped(
    ['parts', 'role', 'content', 'tool_calls', 'refusal'],
    fc.oneof(any, fc.array(part)),
  );
  const candidate = shaped(
    ['content', 'message', 'delta', 'finishReason', 'finish_reason', 'index', 'groundingMetadata'],
    fc.oneof(any, content),
  );
  return shaped(
    ['candidates', 'choices', 'usageMetadata', 'usage', 'promptFeedback', 'modelVersion', '__proto__', 'id'],
    fc.oneof(any, fc.array(fc.oneof(candidate, any), { maxLength: 4 })),
  );
};

test('every reply is read, and can be written as JSON', () => {
  fc.assert(
    fc.property(oddReply(), (answer) => {
      for (const read of [readTextReply, readChatReply]) {
        const reply = read(answer);
        expect(JSON.parse(JSON.stringify(reply.whole))).toEqual(JSON.parse(JSON.stringify(answer)));
        for (const candidate of reply.candidates) expect(typeof candidate.text).toBe('string');
      }
    }),
    seeded,
  );
});

test('every stream of events ends in bounded time', () => {
  fc.assert(
    fc.property(kinds, fc.array(oddReply(), { maxLength: 6 }), (kind, events) => {
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      const end = readCut(kind, bytesOf(text));
      expect(['answer', 'truncated', 'error', 'other']).toContain(end.kind);
      expect(() => JSON.stringify(end)).not.toThrow();
    }),
    seeded,
  );
});

test('any bytes end in a reply or a failure', async () => {
  const streams = recorded.map(({ text }) => bytesOf(text));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .tuple(fc.constantFrom(...streams), fc.nat(), fc.uint8Array({ maxLength: 8 }), fc.nat())
      .map(([stream, at, inserted, skipped]) => {
        const from = at % stream.length;
        return Uint8Array.of(
          ...stream.subarray(0, from),
          ...inserted,
          ...stream.subarray(from + (skipped % 20)),
        );
      }),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const result = await asked(body);
      if (result.ok) return;
      expect(result.error.code).toMatch(/^(service|stream|response)\./);
      expect(result.error.class).not.toBe('lost');
    }),
    seeded,
  );
});
