import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/pipeline/values/value.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import { respondToCalls, roundsIn, undeclaredCall } from '../../../src/run/effects/function-calls.ts';
import type { ReplyCandidate } from '../../../src/service/text-service.ts';
import { textRecord } from '../../rig/jobs.ts';

type Call = ReplyCandidate['functionCalls'][number];
const call = (name: string, id?: string): Call => ({ name, args: {}, ...(id !== undefined && { id }) });
const candidate = (...functionCalls: readonly Call[]): ReplyCandidate =>
  ({
    parts: [{ functionCall: { name: 'sky' }, thoughtSignature: 's' }],
    functionCalls,
  }) as unknown as ReplyCandidate;
const asking = (fields: Record<string, Value>, turns?: readonly Value[]) => ({
  request: { kind: 'generate', fields } satisfies TextRequest,
  ...(turns && { turns }),
});
const functions = {
  sky: { answer: { colour: 'blue' } },
  sea: { answer: 'wet' },
  odd: { answer: null },
  none: {},
};
const round: readonly Value[] = [
  { role: 'model', parts: [] },
  { role: 'user', parts: [] },
];

describe('the responses to function calls', () => {
  it('repeat the content of the model unchanged, and respond to each call in order, with its id', () => {
    const reply = candidate(call('sea', 'c1'), call('sky'), call('sky', ''), call('odd'));
    expect(respondToCalls(asking({ functions }), reply)).toStrictEqual({
      ok: true,
      turns: [
        { role: 'model', parts: [{ functionCall: { name: 'sky' }, thoughtSignature: 's' }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'sea', response: { result: 'wet' } } },
            { functionResponse: { name: 'sky', response: { colour: 'blue' } } },
            { functionResponse: { id: '', name: 'sky', response: { colour: 'blue' } } },
            { functionResponse: { name: 'odd', response: { result: null } } },
          ],
        },
      ],
    });
  });

  it('do not exist where the step answers no functions: the calls are its result', () => {
    expect(respondToCalls(asking({}), candidate(call('sky')))).toBeUndefined();
    expect(respondToCalls(asking({ functions: [{ name: 'sky' }] }), candidate(call('sky')))).toBeUndefined();
  });

  it.each(['cloud', 'none', 'toString'])('are refused where one call (%s) has no answer', (name) => {
    const refused = respondToCalls(asking({ functions }), candidate(call('sky'), call(name)));
    expect(refused).toMatchObject({ ok: false, code: 'function.unanswered' });
    expect(refused?.ok === false && refused.message).toContain(`"${name}"`);
    expect(refused?.ok === false && refused.message).toContain('sky, sea, odd, none');
  });

  it('are given for the rounds of the step, by default eight', () => {
    const rounds = (count: number): readonly Value[] => Array.from({ length: count }, () => round).flat();
    const after = (count: number, fields: Record<string, Value> = {}) =>
      respondToCalls(asking({ functions, ...fields }, rounds(count)), candidate(call('sky')));
    expect([after(7)?.ok, after(8)]).toMatchObject([true, { ok: false, code: 'function.rounds' }]);
    expect([after(1, { rounds: 2 })?.ok, after(2, { rounds: 2 })?.ok]).toEqual([true, false]);
    expect(after(0, { rounds: 0 })?.ok).toBe(false);
  });

  it('are counted by the contents of the model', () => {
    expect([roundsIn(), roundsIn([]), roundsIn(round), roundsIn([...round, ...round, 'x'])]).toEqual([
      0, 0, 1, 2,
    ]);
  });

  it('need the record of a text job', () => {
    expect(respondToCalls(textRecord(), candidate())).toBeUndefined();
  });
});

describe('a call of a function that the request does not declare', () => {
  const first = (fields: Record<string, Value>, extra?: Record<string, Value>) =>
    undeclaredCall({ fields, ...(extra && { extra }) }, candidate(call('sky'), call('sea')));

  it('is the first such call', () => {
    expect([
      first({}),
      first({ functions: { sky: {} } }),
      first({ functions: { sky: {}, sea: {} } }),
    ]).toEqual(['sky', 'sea', undefined]);
    expect(undeclaredCall({ fields: {} }, candidate())).toBeUndefined();
  });

  const declared = [{ name: 'sky' }, { name: 'sea' }];
  it.each<[string, Record<string, Value>]>([
    ['a list of functions, as chat once had it', { functions: declared }],
    ['native tools', { tools: [{ functionDeclarations: declared }] }],
    ['one native tool', { tools: { functionDeclarations: declared } }],
    ['native tools in another spelling', { tools: [{ function_declarations: declared }] }],
    ['tools of chat', { tools: declared.map((one) => ({ type: 'function', function: one })) }],
    ['several kinds', { functions: { sky: {} }, tools: ['x', { function: { name: 'sea' } }] }],
    ['what the service has cached', { cachedContent: 'c' }],
    ['what the service has cached, in another spelling', { cached_content: 'c' }],
  ])('is none where it is declared by %s, in the fields or in extra', (_, source) => {
    expect([first(source), first({}, source)]).toEqual([undefined, undefined]);
  });

  it.each<[string, Record<string, Value>]>([
    ['a name that is no text', { functions: [{ name: 1 }, 'sky', null] }],
    ['another tool', { tools: [{ googleSearch: {} }] }],
  ])('is one beside %s', (_, source) => {
    expect(first(source)).toBe('sky');
  });
});
