import { describe, expect, it } from 'vitest';
import { exactJson } from '../../../src/pipeline/values/exact-json.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import { type EvaluatedReply, evaluateReply } from '../../../src/run/effects/evaluate-reply.ts';
import { parseWithLongIds } from '../../../src/service/http/json.ts';
import { readTextReply } from '../../../src/service/text/reply/native.ts';
import type { ReplyCandidate, TextReply } from '../../../src/service/text-service.ts';
import { textRecord } from '../../rig/jobs.ts';
import { textReply } from '../../rig/text-reply.ts';

const schema = { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] };

function judge(
  reply: TextReply,
  request: Partial<TextRequest> = {},
  accept: readonly string[] = [],
): EvaluatedReply {
  return evaluateReply(
    {
      ...textRecord(),
      request: { kind: 'generate', fields: {}, ...request },
      call: { stream: false, accept },
    },
    reply,
  );
}

const said = (candidate: Partial<ReplyCandidate>): TextReply => textReply(candidate);
const codeOf = ({ verdict }: EvaluatedReply): string =>
  'error' in verdict ? verdict.error.code : verdict.kind;
const messageOf = ({ verdict }: EvaluatedReply): string => ('error' in verdict ? verdict.error.message : '');
const png = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });

describe('the outputs of a reply', () => {
  it('are numbered over all candidates, each with a text and images', () => {
    const parts = (text: string, ...data: readonly string[]) => ({
      content: { parts: [{ text }, ...data.map(png)] },
      finishReason: 'STOP',
    });
    const reply = readTextReply({
      candidates: [parts('a', 'QQ==', 'Qg=='), parts('b', 'Qw=='), parts('c', 'RA==')],
    });
    const numbers = judge(reply).text.candidates.flatMap(({ parts: kept }) =>
      kept.flatMap((part) => (JSON.stringify(part).match(/"output":\d+/) ?? []).map(String)),
    );
    expect(numbers).toEqual(['"output":2', '"output":3', '"output":5', '"output":7']);
    expect(judge(reply).pieces.map(({ kind }) => kind)).toEqual([
      'text',
      'image',
      'image',
      'text',
      'image',
      'text',
      'image',
    ]);
  });

  it('are not images where the data is missing: the next image keeps its number', () => {
    const reply = readTextReply({
      candidates: [{ content: { parts: [png(''), png('QQ==')] }, finishReason: 'STOP' }],
    });
    const { pieces, text } = judge(reply);
    expect(pieces).toHaveLength(1);
    expect(text.candidates[0]?.parts).toEqual([{ inlineData: { mimeType: 'image/png', output: 1 } }]);
  });

  it('are a JSON file where there are only calls', () => {
    const tools = [{ functionDeclarations: [{ name: 'f' }] }];
    const reply = said({ functionCalls: [{ name: 'f', args: {} }] });
    expect(judge(reply, { fields: { tools } }).pieces).toMatchObject([
      { kind: 'text', mime: 'application/json' },
    ]);
  });

  it('have long integers of calls to the last digit', () => {
    const whole = parseWithLongIds(
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":12345678901234567891}}}]},"finishReason":"STOP"}]}',
    );
    const tools = [{ functionDeclarations: [{ name: 'f' }] }];
    const { text, pieces } = judge(readTextReply(whole as never), { fields: { tools } });
    expect(pieces).toMatchObject([{ text: '[{"args":{"id":12345678901234567891},"name":"f"}]' }]);
    expect(exactJson(text.candidates[0]?.parts as readonly Value[])).toContain(':12345678901234567891');
  });
});

describe('a reply is', () => {
  it('JSON by the native field of a JSON schema, and by chat’s type without one', () => {
    const fields = { generationConfig: { responseJsonSchema: schema } };
    expect(codeOf(judge(said({ text: '{}' }), { fields }))).toBe('text.schema');
    const format = { response_format: { type: 'json_object' } };
    expect(codeOf(judge(said({ text: 'Two.' }), { kind: 'chat', fields: format }))).toBe('text.not-json');
    const text = { response_format: { type: 'text' } };
    expect(codeOf(judge(said({ text: 'Two.' }), { kind: 'chat', fields: text }))).toBe('done');
    const bare = { response_format: { type: 'json_schema' } };
    expect(codeOf(judge(said({ text: 'Two.' }), { kind: 'chat', fields: bare }))).toBe('text.not-json');
  });

  it('not a refusal where the service sends an empty one beside the text', () => {
    expect(codeOf(judge(said({ text: 'Hello.', refusal: '' })))).toBe('done');
  });

  it('a round of calls even where it ends for an accepted reason', () => {
    const reply = said({ functionCalls: [{ name: 'f', args: {} }], finishReason: 'ESCALATION' });
    const fields = { functions: { f: { answer: 1 } } };
    expect(codeOf(judge(reply, { fields }, ['escalation']))).toBe('calls');
    expect(codeOf(judge(reply, { fields }))).toBe('text.filtered');
  });
});

describe('the error of a reply', () => {
  it('names only the reason where the service’s message is empty', () => {
    const message = messageOf(judge(said({ text: 'It', finishReason: 'SAFETY', finishMessage: '' })));
    expect(message).toBe('The answer was filtered: SAFETY.');
  });

  it('quotes a text of eighty characters that is not JSON in full', () => {
    const text = 'x'.repeat(80);
    const fields = { responseSchema: schema };
    expect(messageOf(judge(said({ text }), { fields }))).toContain(`"${text}"`);
    expect(messageOf(judge(said({ text: `${text}x` }), { fields }))).toContain(`"${text}…"`);
  });
});
