import { expect, it } from 'vitest';
import { textsOf } from '../../../src/run/machine/save.ts';

const said = (text: string, isJson = false) => ({ text, isJson, parts: [{ text }] });

it('a reply is written later with the same files as at once', () => {
  const calls = {
    text: '[{"args":{},"name":"sky"}]',
    isJson: false,
    parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'sky', args: {} } }],
  };
  const nothing = said(' ');
  expect(textsOf({ candidates: [said('a fox'), nothing, said('{}', true), calls] })).toEqual([
    { kind: 'text', candidate: 1, text: 'a fox', mime: 'text/plain' },
    { kind: 'text', candidate: 3, text: '{}', mime: 'application/json' },
    { kind: 'text', candidate: 4, text: calls.text, mime: 'application/json' },
  ]);
});

it('a reply with a text and a call is text', () => {
  const both = {
    text: 'I look',
    isJson: false,
    parts: [{ text: 'I look' }, { functionCall: { name: 'sky' } }],
  };
  expect(textsOf({ candidates: [both] })).toMatchObject([{ mime: 'text/plain' }]);
});
