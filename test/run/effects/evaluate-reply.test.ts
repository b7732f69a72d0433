import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { TextCall, TextRequest } from '../../../src/plan/job-request.ts';
import { type EvaluatedReply, evaluateReply } from '../../../src/run/effects/evaluate-reply.ts';
import { readTextReply } from '../../../src/service/text/reply/native.ts';
import type { JsonObject, ReplyCandidate, TextReply } from '../../../src/service/text-service.ts';
import { textRecord } from '../../rig/jobs.ts';
import { textReply } from '../../rig/text-reply.ts';

const schema = { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] };

function judge(
  reply: TextReply,
  fields: TextRequest['fields'] = {},
  more: {
    readonly kind?: TextRequest['kind'];
    readonly call?: Partial<TextCall>;
    readonly turns?: JobRecord['turns'];
  } = {},
): EvaluatedReply {
  const { kind = 'generate', call, turns } = more;
  return evaluateReply(
    {
      ...textRecord(),
      request: { kind, fields: { model: 'm', ...fields } },
      call: { stream: false, accept: [], ...call },
      ...(turns === undefined ? {} : { turns }),
    },
    reply,
  );
}

const said = (candidate: Partial<ReplyCandidate>): TextReply => textReply(candidate);
const verdictOf = ({ verdict }: EvaluatedReply): readonly [string, string?] =>
  'error' in verdict ? [verdict.kind, verdict.error.code] : [verdict.kind];

describe('a reply that ends for a reason', () => {
  it.each([
    'MAX_TOKENS',
    'length',
    'SAFETY',
    'RECITATION',
    'content_filter',
    'OTHER',
    'IMAGE_OTHER',
    'MALFORMED_FUNCTION_CALL',
    'NO_IMAGE',
    'IMAGE_SAFETY',
    'error',
    'NEW_REASON',
    'a: b',
    'st\u0000op',
  ])('is a result where the step accepts the reason, in any case of letters: %j', (finishReason) => {
    const reply = said({ text: 'It', finishReason });
    expect(judge(reply).verdict.kind).not.toBe('done');
    for (const name of [finishReason, finishReason.toLowerCase(), finishReason.toUpperCase()])
      expect(verdictOf(judge(reply, {}, { call: { accept: [name] } }))).toEqual(['done']);
  });
});

describe('JSON without a schema, read leniently', () => {
  const anyJson = { generationConfig: { responseMimeType: 'application/json' } };

  it.each<[string, readonly [string, string?]]>([
    ['<think>hm</think>[1, 2]', ['done']],
    ['Here: {"a": 1}.', ['done']],
    ['By [1], it is {"a": 1}.', ['done']],
    ['I cannot, see [1].', ['invalid', 'text.not-json']],
    ['Either {"a": 1} or {"a": 2}.', ['invalid', 'text.not-json']],
  ])('of %j is %j', (text, verdict) => {
    expect(verdictOf(judge(said({ text }), anyJson))).toEqual(verdict);
    expect(verdictOf(judge(said({ text }), anyJson, { call: { isStrict: true } }))).toEqual([
      'invalid',
      'text.not-json',
    ]);
  });
});

describe('a reply is', () => {
  const table: readonly (readonly [string, TextReply, readonly [string, string?], TextRequest['fields']?])[] =
    [
      ['a result', said({ text: 'Hello.' }), ['done']],
      [
        'a result without a finish reason',
        said({ text: 'Hello.', finishReason: undefined as unknown as string }),
        ['done'],
      ],
      ['a result of chat', said({ text: 'Hello.', finishReason: 'stop' }), ['done']],
      ['blocked', textReply({}, { candidates: [], blockReason: 'SAFETY' }), ['failed', 'text.blocked']],
      ['nothing at all', textReply({}, { candidates: [] }), ['invalid', 'text.empty']],
      ['empty', said({}), ['invalid', 'text.empty']],
      ['empty but for white space', said({ text: ' \n' }), ['invalid', 'text.empty']],
      ['filtered', said({ text: 'It', finishReason: 'SAFETY' }), ['failed', 'text.filtered']],
      [
        'filtered as an image',
        said({ finishReason: 'IMAGE_PROHIBITED_CONTENT' }),
        ['failed', 'text.filtered'],
      ],
      ['filtered by chat', said({ text: 'It', finishReason: 'content_filter' }), ['failed', 'text.filtered']],
      [
        'ended for a reason nobody knows',
        said({ text: 'It', finishReason: 'ESCALATION' }),
        ['failed', 'text.filtered'],
      ],
      [
        'without the image that was wanted',
        said({ text: 'No.', finishReason: 'NO_IMAGE' }),
        ['invalid', 'text.empty'],
      ],
      [
        'refused by chat',
        said({ text: '', refusal: 'I cannot.', finishReason: 'stop' }),
        ['failed', 'text.refused'],
      ],
      ['cut off', said({ text: 'It was a', finishReason: 'MAX_TOKENS' }), ['failed', 'text.max-tokens']],
      ['cut off by chat', said({ text: 'It was a', finishReason: 'length' }), ['failed', 'text.max-tokens']],
      ['all thought', said({ finishReason: 'MAX_TOKENS' }), ['failed', 'text.empty']],
      ['a broken call', said({ finishReason: 'MALFORMED_FUNCTION_CALL' }), ['invalid', 'text.bad-call']],
      ['JSON', said({ text: '{"best":2}' }), ['done'], { responseSchema: schema }],
      ['JSON in a fence', said({ text: '```json\n{"best":2}\n```' }), ['done'], { responseSchema: schema }],
      ['no JSON', said({ text: 'Two.' }), ['invalid', 'text.not-json'], { responseSchema: schema }],
      ['cut JSON', said({ text: '{"best":' }), ['invalid', 'text.not-json'], { responseSchema: schema }],
      [
        'other JSON',
        said({ text: '{"best":"two"}' }),
        ['invalid', 'text.schema'],
        { responseSchema: schema },
      ],
      [
        'JSON by its type',
        said({ text: 'Two.' }),
        ['invalid', 'text.not-json'],
        { generationConfig: { responseMimeType: 'application/json' } },
      ],
      [
        'other JSON by the native schema',
        said({ text: '{}' }),
        ['invalid', 'text.schema'],
        { generationConfig: { responseSchema: schema } },
      ],
      ...(
        [
          { tools: [{ functionDeclarations: [{ name: 'g' }, { name: 'f' }] }] },
          { tools: { function_declarations: [{ name: 'f' }] } },
          { tools: [{ type: 'function', function: { name: 'f' } }] },
          { functions: [{ name: 'f' }] },
          { cachedContent: 'cachedContents/with-tools' },
        ] as const
      ).map(
        (declared) =>
          [
            `a call that nobody answers, as its result (${JSON.stringify(declared)})`,
            said({ functionCalls: [{ name: 'f', args: {} }] }),
            ['done'],
            declared as unknown as TextRequest['fields'],
          ] as const,
      ),
      [
        'a call of a function that nobody declared',
        said({ functionCalls: [{ name: 'f', args: {} }] }),
        ['failed', 'function.undeclared'],
      ],
      [
        'a call of a function that is not among the declared ones',
        said({
          functionCalls: [
            { name: 'g', args: {} },
            { name: 'f', args: {} },
          ],
        }),
        ['failed', 'function.undeclared'],
        { tools: [{ functionDeclarations: [{ name: 'g' }] }, { vendor_search: {} }] },
      ],
      [
        'a result, though it calls something beside it',
        said({ text: 'Two.', functionCalls: [{ name: 'f', args: {} }] }),
        ['done'],
      ],
      [
        'a call of another function',
        said({ functionCalls: [{ name: 'g', args: {} }] }),
        ['failed', 'function.unanswered'],
        { functions: { f: { answer: 1 } } },
      ],
    ];
  it.each(table.map(([what, ...row]) => ({ what, row })))('$what', ({ row: [reply, expected, fields] }) => {
    expect(verdictOf(judge(reply, fields))).toEqual(expected);
  });

  it('a call of a function that `extra` declares, or that the step takes for a result', () => {
    const call = said({ functionCalls: [{ name: 'f', args: {} }], finishReason: 'tool_calls' });
    const evaluated = (request: Partial<TextRequest>, accept: readonly string[] = []) =>
      verdictOf(
        evaluateReply(
          {
            ...textRecord(),
            request: { kind: 'chat', fields: { model: 'm' }, ...request },
            call: { stream: false, accept },
          },
          call,
        ),
      );
    expect(evaluated({})).toEqual(['failed', 'function.undeclared']);
    expect(evaluated({ extra: { tools: [{ type: 'function', function: { name: 'f' } }] } })).toEqual([
      'done',
    ]);
    expect(evaluated({ extra: { functions: [{ name: 'f' }] } })).toEqual(['done']);
    expect(evaluated({}, ['tool_calls'])).toEqual(['done']);
  });

  it('JSON where chat’s fields request it', () => {
    const kind = 'chat';
    const withSchema = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    expect(verdictOf(judge(said({ text: '{}' }), withSchema, { kind }))).toEqual(['invalid', 'text.schema']);
    expect(
      verdictOf(judge(said({ text: '{}' }), { response_format: { type: 'json_object' } }, { kind })),
    ).toEqual(['done']);
  });

  it('a result for an accepted reason, if it has content', () => {
    const call = { accept: ['max_tokens', 'ESCALATION'] };
    expect(verdictOf(judge(said({ text: 'It was a', finishReason: 'MAX_TOKENS' }), {}, { call }))).toEqual([
      'done',
    ]);
    expect(verdictOf(judge(said({ text: 'x', finishReason: 'ESCALATION' }), {}, { call }))).toEqual(['done']);
    expect(verdictOf(judge(said({ finishReason: 'MAX_TOKENS' }), {}, { call }))).toEqual([
      'failed',
      'text.empty',
    ]);
  });

  it('explained with the request id, and with the tokens used for thinking', () => {
    const reply = textReply({ finishReason: 'MAX_TOKENS' }, { requestId: 'r1', usage: { thoughts: 2999 } });
    const { verdict } = judge(reply);
    expect(verdict).toMatchObject({
      error: { requestId: 'r1', message: expect.stringContaining('2999') as string },
    });
  });
});

describe('the saved part of a reply', () => {
  const png = (data: string) => ({ mimeType: 'image/png', data });
  const answer = readTextReply({
    candidates: [
      {
        content: {
          parts: [
            { text: 'Hm.', thought: true, thoughtSignature: 's' },
            { inlineData: png('VEhJTks='), thought: true },
            { text: 'Here' },
            { inlineData: png('QQ==') },
            { inlineData: { mimeType: 'audio/wav', data: 'V0FW' } },
            { inlineData: png('Qg=='), thoughtSignature: 't' },
          ],
        },
        finishReason: 'STOP',
      },
      { content: { parts: [{ inlineData: png('Qw==') }] }, finishReason: 'STOP' },
      { content: { parts: [{ text: 'Cut' }] }, finishReason: 'MAX_TOKENS' },
    ],
    usageMetadata: { totalTokenCount: 3 },
    modelVersion: 'v1',
    responseId: 'id1',
  });

  it('has its outputs in order, over all candidates, and parts that name them', () => {
    const { verdict, pieces, text } = judge(answer);
    expect(verdict.kind).toBe('done');
    expect(pieces).toEqual([
      { kind: 'text', candidate: 1, text: 'Here', mime: 'text/plain' },
      { kind: 'image', candidate: 1, ...png('QQ==') },
      { kind: 'image', candidate: 1, ...png('Qg==') },
      { kind: 'image', candidate: 2, ...png('Qw==') },
      { kind: 'text', candidate: 3, text: 'Cut', mime: 'text/plain' },
    ]);
    expect(text.candidates.map(({ parts }) => parts)).toEqual([
      [
        { text: 'Hm.', thought: true, thoughtSignature: 's' },
        { text: 'Here' },
        { inlineData: { mimeType: 'image/png', output: 2 } },
        { inlineData: { mimeType: 'image/png', output: 3 }, thoughtSignature: 't' },
      ],
      [{ inlineData: { mimeType: 'image/png', output: 4 } }],
      [{ text: 'Cut' }],
    ]);
    expect(text).toMatchObject({
      model: 'v1',
      responseId: 'id1',
      candidates: [{ finishReason: 'STOP' }, {}, { finishReason: 'MAX_TOKENS' }],
    });
  });

  it('is JSON without its fence, and the text as it came where it is not JSON', () => {
    const fenced = judge(said({ text: '```json\n{"best": 2}\n```' }), { responseSchema: schema });
    expect(fenced.text.candidates[0]).toMatchObject({
      text: '{"best": 2}',
      isJson: true,
      parts: [{ text: '```json\n{"best": 2}\n```' }],
    });
    expect(fenced.pieces).toMatchObject([{ mime: 'application/json' }]);
    const none = judge(said({ text: 'Two.' }), { responseSchema: schema });
    expect([none.text.candidates[0]?.isJson, none.pieces]).toEqual([false, []]);
  });

  it('is the calls as JSON where the reply has only calls', () => {
    const { text } = judge(said({ functionCalls: [{ name: 'f', args: { b: 1, a: 2 } }] }));
    expect(text.candidates[0]?.text).toBe('[{"args":{"a":2,"b":1},"name":"f"}]');
  });
});

describe('function calls', () => {
  const functions = { f: { description: 'x', answer: { degrees: 21 } }, g: { answer: 'calm' } };
  const parts: readonly JsonObject[] = [
    { text: 'Let me see.', thought: true },
    { functionCall: { id: '7', name: 'g', args: {} }, thoughtSignature: 'abc' },
    { functionCall: { name: 'f', args: { of: 'x' } } },
  ];
  const reply = readTextReply({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] });
  const round = [
    { role: 'model', parts: [] },
    { role: 'user', parts: [] },
  ] as const;

  it('are answered in order, by id, after the model’s unchanged content', () => {
    expect(judge(reply, { functions }).verdict).toEqual({
      kind: 'calls',
      turns: [
        { role: 'model', parts },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: '7', name: 'g', response: { result: 'calm' } } },
            { functionResponse: { name: 'f', response: { degrees: 21 } } },
          ],
        },
      ],
    });
  });

  it('continue for the rounds of the step, by default eight', () => {
    const after = (rounds: number, fields = {}) =>
      verdictOf(
        judge(reply, { functions, ...fields }, { turns: Array.from({ length: rounds }, () => round).flat() }),
      );
    expect([after(7), after(8)]).toEqual([['calls'], ['failed', 'function.rounds']]);
    expect([after(1, { rounds: 2 }), after(2, { rounds: 2 })]).toEqual([
      ['calls'],
      ['failed', 'function.rounds'],
    ]);
  });

  it('are unknown where their name is a property of every object', () => {
    const call = said({ functionCalls: [{ name: 'constructor', args: {} }] });
    expect(verdictOf(judge(call, { functions }))).toEqual(['failed', 'function.unanswered']);
  });
});

describe('the error of a reply', () => {
  const messageOf = ({ verdict }: EvaluatedReply): string =>
    'error' in verdict ? verdict.error.message : '';

  it('ends with one full stop, however the service’s message ends', () => {
    const blocked = { candidates: [], blockReason: 'SAFETY', blockMessage: 'The prompt was blocked.' };
    expect(messageOf(judge(textReply({}, blocked)))).toBe(
      'The service blocked the prompt: SAFETY: The prompt was blocked.',
    );
    expect(messageOf(judge(textReply({}, { ...blocked, blockMessage: 'No' })))).toMatch(/: SAFETY: No\.$/);
  });

  it('quotes the beginning of a text that is not JSON, without half of a character', () => {
    const text = `${'x'.repeat(79)}😀 and more`;
    expect(messageOf(judge(said({ text }), { responseSchema: schema }))).toContain(`"${'x'.repeat(79)}…"`);
    const whole = `${'x'.repeat(78)}😀 and more`;
    expect(messageOf(judge(said({ text: whole }), { responseSchema: schema }))).toContain('x😀…"');
  });
});
