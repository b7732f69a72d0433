import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../../src/plan/job-request.ts';
import { identityOf, jobKey, keyFromText, requestText, slotId } from '../../src/plan/key.ts';

const fox: JobRequest = { kind: 'imagine', fields: { prompt: 'a fox --v 6.1' } };
const u1: JobRequest = { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: {} };
const service = 'https://service.test';
const key = (request: JobRequest, inputs: readonly string[] = [], repeat = 1, id = service): string =>
  jobKey(identityOf(id, request, inputs, repeat));

const parent = '0'.repeat(32);
const one = (press: Extract<JobRequest, { kind: 'click' }>['press'][number]): string =>
  key({ kind: 'click', press: [press], fields: {} }, [parent]);

describe('golden keys: a change here orphans every finished job in the world', () => {
  const golden: readonly [string, JobRequest, readonly string[], number, string, string][] = [
    [
      'imagine',
      fox,
      [],
      1,
      '{"request":{"fields":{"prompt":"a fox --v 6.1"},"kind":"imagine"},"service":"https://service.test","version":1}',
      '5a00734a6ce1b1ff0deb8eb5518f4a09',
    ],
    [
      'imagine, repeated',
      fox,
      [],
      2,
      '{"repeat":2,"request":{"fields":{"prompt":"a fox --v 6.1"},"kind":"imagine"},"service":"https://service.test","version":1}',
      '21d390768d26f9397a30a91ec8586a0b',
    ],
    [
      'imagine with declared fields and extra',
      {
        kind: 'imagine',
        fields: { prompt: 'ein Käuzchen', botType: 'NIJI_JOURNEY', accountFilter: { modes: ['FAST'] } },
        extra: { state: 'x', n: 1.5, on: true, none: null },
      },
      [],
      1,
      '{"request":{"extra":{"n":1.5,"none":null,"on":true,"state":"x"},"fields":{"accountFilter":{"modes":["FAST"]},"botType":"NIJI_JOURNEY","prompt":"ein Käuzchen"},"kind":"imagine"},"service":"https://service.test","version":1}',
      '5dbb1bba122f8526b0bd089faa27ba75',
    ],
    [
      'click',
      u1,
      ['0123456789abcdef0123456789abcdef'],
      1,
      '{"inputs":["0123456789abcdef0123456789abcdef"],"request":{"fields":{},"kind":"click","press":[{"kind":"text","text":"U1"}]},"service":"https://service.test","version":1}',
      '11f2a681bf36c1fd3f55d0668f1be730',
    ],
    [
      'click with alternatives of every kind',
      {
        kind: 'click',
        press: [
          { kind: 'text', text: 'Upscale (Subtle)' },
          { kind: 'pattern', source: 'upsample_v6' },
          { kind: 'word', word: 'pan left' },
        ],
        fields: { prompt: 'a red scarf', remix: true },
      },
      ['0123456789abcdef0123456789abcdef'],
      3,
      '{"inputs":["0123456789abcdef0123456789abcdef"],"request":{"fields":{"prompt":"a red scarf","remix":true},"kind":"click","press":[{"kind":"text","text":"Upscale (Subtle)"},{"kind":"pattern","source":"upsample_v6"},{"kind":"word","word":"pan left"}]},"service":"https://service.test","version":1}',
      '9c962330e0924624c63153170220d455',
    ],
    [
      'an imagine of three gathered jobs, repeated',
      fox,
      ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210', '0'.repeat(32)],
      2,
      '{"inputs":["0123456789abcdef0123456789abcdef","fedcba9876543210fedcba9876543210","00000000000000000000000000000000"],"request":{"fields":{"prompt":"a fox --v 6.1"},"kind":"imagine"},"service":"https://service.test","version":1}',
      '34b3570bd053611d69b6b61cdc7b9e09',
    ],
    [
      'generate',
      { kind: 'generate', fields: { model: 'text-pro', prompt: 'Name a fox.' } },
      [],
      1,
      '{"request":{"fields":{"model":"text-pro","prompt":"Name a fox."},"kind":"generate"},"service":"https://service.test","version":1}',
      '594f2ca2edd284329ccc236c5d301ab0',
    ],
    [
      'generate with all it can show and continue',
      {
        kind: 'generate',
        fields: {
          model: 'text-pro',
          prompt: 'Which?',
          thinking: 'low',
          responseSchema: { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] },
          functions: { weather: { parameters: { type: 'object' }, answer: { sky: 'clear' } } },
          rounds: 3,
        },
        images: [
          { sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
          { url: 'https://images.test/fox.png' },
          { url: 'data:image/png;base64,AAAA' },
          { job: '0123456789abcdef0123456789abcdef' },
        ],
        continues: 'fedcba9876543210fedcba9876543210',
        extra: { labels: { set: 'a' } },
      },
      ['0123456789abcdef0123456789abcdef'],
      1,
      '{"inputs":["0123456789abcdef0123456789abcdef"],"request":{"continues":"fedcba9876543210fedcba9876543210","extra":{"labels":{"set":"a"}},"fields":{"functions":{"weather":{"answer":{"sky":"clear"},"parameters":{"type":"object"}}},"model":"text-pro","prompt":"Which?","responseSchema":{"properties":{"best":{"type":"integer"}},"required":["best"],"type":"object"},"rounds":3,"thinking":"low"},"images":[{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},{"url":"https://images.test/fox.png"},{"url":"data:image/png;base64,AAAA"},{"job":"0123456789abcdef0123456789abcdef"}],"kind":"generate"},"service":"https://service.test","version":1}',
      '737d0572d63352fc8c180f0aed85a39e',
    ],
    [
      'chat, repeated',
      {
        kind: 'chat',
        fields: { model: 'text-pro', messages: [{ role: 'user', content: 'Grüß Gott' }], temperature: 0.5 },
      },
      [],
      2,
      '{"repeat":2,"request":{"fields":{"messages":[{"content":"Grüß Gott","role":"user"}],"model":"text-pro","temperature":0.5},"kind":"chat"},"service":"https://service.test","version":1}',
      '9242b0ee41d95743a11d518de3be8620',
    ],
    [
      'imagine with image prompts',
      { ...fox, images: [{ sha256: 'ab'.repeat(32) }, { job: '0'.repeat(32) }] },
      [],
      1,
      `{"request":{"fields":{"prompt":"a fox --v 6.1"},"images":[{"sha256":"${'ab'.repeat(32)}"},{"job":"${'0'.repeat(32)}"}],"kind":"imagine"},"service":"https://service.test","version":1}`,
      '51cad59015eb7153f00b1d485a6dbdcd',
    ],
    [
      'click with a mask of its own',
      { ...u1, fields: { prompt: 'a red scarf' }, mask: { sha256: 'ab'.repeat(32), invert: true } },
      ['0'.repeat(32)],
      1,
      `{"inputs":["${'0'.repeat(32)}"],"request":{"fields":{"prompt":"a red scarf"},"kind":"click","mask":{"invert":true,"sha256":"${'ab'.repeat(32)}"},"press":[{"kind":"text","text":"U1"}]},"service":"https://service.test","version":1}`,
      'f38290ca5e8a9be467946c9896f7092d',
    ],
    [
      'blend of two gathered jobs',
      {
        kind: 'blend',
        fields: { dimensions: 'portrait' },
        images: [{ job: '0'.repeat(32) }, { job: '1'.repeat(32) }],
      },
      ['0'.repeat(32), '1'.repeat(32)],
      1,
      `{"inputs":["${'0'.repeat(32)}","${'1'.repeat(32)}"],"request":{"fields":{"dimensions":"portrait"},"images":[{"job":"${'0'.repeat(32)}"},{"job":"${'1'.repeat(32)}"}],"kind":"blend"},"service":"https://service.test","version":1}`,
      'd18917ac4c9e2ac5a69aeeb10ea15dd1',
    ],
    [
      'describe, repeated',
      { kind: 'describe', fields: {}, images: [{ url: 'https://images.test/fox.png' }] },
      [],
      2,
      '{"repeat":2,"request":{"fields":{},"images":[{"url":"https://images.test/fox.png"}],"kind":"describe"},"service":"https://service.test","version":1}',
      '8a89c45d3465153f97442f6d0065f682',
    ],
    [
      'video',
      {
        kind: 'video',
        fields: { motion: 'high', loop: true, batchSize: 2 },
        images: [{ job: '0'.repeat(32) }, { sha256: 'ab'.repeat(32) }],
      },
      ['0'.repeat(32)],
      1,
      `{"inputs":["${'0'.repeat(32)}"],"request":{"fields":{"batchSize":2,"loop":true,"motion":"high"},"images":[{"job":"${'0'.repeat(32)}"},{"sha256":"${'ab'.repeat(32)}"}],"kind":"video"},"service":"https://service.test","version":1}`,
      '4f26795cdc6898f1b9c2eaf86a364a5d',
    ],
    [
      'video that goes on',
      { kind: 'video', fields: { extend: 1 }, images: [] },
      ['0'.repeat(32)],
      1,
      `{"inputs":["${'0'.repeat(32)}"],"request":{"fields":{"extend":1},"images":[],"kind":"video"},"service":"https://service.test","version":1}`,
      '412a2f69c10bfc8d0963846b662ce0ae',
    ],
    [
      'edit with a mask that is drawn',
      {
        kind: 'edit',
        fields: { prompt: 'a hat' },
        images: [{ sha256: 'ab'.repeat(32) }],
        mask: { shapes: [{ rectangle: [0, 0.5, 1, 0.5] }, { ellipse: [0.25, 0, 0.5, 0.5] }] },
      },
      [],
      1,
      `{"request":{"fields":{"prompt":"a hat"},"images":[{"sha256":"${'ab'.repeat(32)}"}],"kind":"edit","mask":{"shapes":[{"rectangle":[0,0.5,1,0.5]},{"ellipse":[0.25,0,0.5,0.5]}]}},"service":"https://service.test","version":1}`,
      'a8fc833776c2f2feb93b6b24a6421b93',
    ],
  ];
  test.each(golden)('%s', (_, request, inputs, repeat, bytes, wanted) => {
    expect(createHash('sha256').update(bytes, 'utf8').digest('hex').slice(0, 32)).toBe(wanted);
    expect(key(request, inputs, repeat)).toBe(wanted);
    expect(keyFromText(requestText(request), service, inputs, repeat)).toBe(wanted);
  });

  test('slot id', () => {
    expect(slotId('grid', ['U1'], { animal: 'fox', n: 1 }, 1)).toBe('8b86362e6145c7d032187bfaf7c89c8e');
  });
});

describe('a key includes', () => {
  test.each<[string, string]>([
    ['service', key(fox, [], 1, 'sandbox')],
    ['prompt', key({ ...fox, fields: { prompt: 'an owl' } })],
    ['a declared field', key({ ...fox, fields: { ...fox.fields, botType: 'MID_JOURNEY' } })],
    ['extra', key({ ...fox, extra: { state: 'x' } })],
    ['repeat', key(fox, [], 2)],
    ['parent', key(fox, [parent])],
  ])('%s', (_, changed) => {
    expect(changed).not.toBe(key(fox));
  });

  test('alternatives in their order, but no repeat for a job with an input', () => {
    const press = (...texts: string[]): string =>
      key({ kind: 'click', press: texts.map((text) => ({ kind: 'text', text })), fields: {} }, [parent]);
    expect(new Set([press('U1'), press('U1', 'Foo'), press('Foo', 'U1')]).size).toBe(3);
    expect(key(u1, [parent], 2)).toBe(key(u1, [parent]));
    expect(key(u1, ['1'.repeat(32)])).not.toBe(key(u1, [parent]));
  });

  test('a label as a label, even if it looks like a word or a pattern', () => {
    expect(
      new Set([
        one({ kind: 'text', text: 'reroll' }),
        one({ kind: 'word', word: 'reroll' }),
        one({ kind: 'pattern', source: 'reroll' }),
      ]).size,
    ).toBe(3);
  });

  test('no order of fields', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'small' })),
        fc.infiniteStream(fc.nat()),
        (fields, numbers) => {
          const random = numbers[Symbol.iterator]();
          const shuffled = Object.entries(fields)
            .map((entry) => [random.next().value as number, entry] as const)
            .sort(([a], [b]) => a - b)
            .map(([, entry]) => entry);
          const one = { kind: 'imagine', fields } as unknown as JobRequest;
          const other = { kind: 'imagine', fields: Object.fromEntries(shuffled) } as unknown as JobRequest;
          expect(key(one)).toBe(key(other));
          expect(key(one)).toMatch(/^[0-9a-f]{32}$/);
        },
      ),
      { seed: 5 },
    );
  });
});
