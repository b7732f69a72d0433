import { describe, expect, it } from 'vitest';
import { TemplateError } from '../../../src/pipeline/templates/template.ts';
import { compileTree } from '../../../src/pipeline/templates/tree.ts';
import { type Value, WrittenNumber } from '../../../src/pipeline/values/value.ts';
import { renderTurns } from '../../../src/plan/request/conversation.ts';

const at = () => () => ({ line: 1, column: 1, length: 1 });
const scope = {
  vars: { n: 7, year: new WrittenNumber('6.0', 6), list: ['a', 'b'], thing: { a: 1 }, yes: true },
  repeat: 1,
  steps: {},
};

function turns(value: Value): Value {
  const compiled = compileTree(value, at);
  if (!compiled.ok) throw new Error('The tree has mistakes.');
  return renderTurns(compiled.value, scope);
}

describe('the contents of turns', () => {
  it.each<[string, Value, Value]>([
    ['content', [{ role: 'user', content: '{{ n }}' }], [{ role: 'user', content: '7' }]],
    ['a number as it is written', [{ content: '{{ year }}' }], [{ content: '6.0' }]],
    ['a literal', [{ content: 5 }, { content: true }], [{ content: '5' }, { content: 'true' }]],
    [
      'text of a part of content',
      [{ content: [{ type: 'text', text: '{{ yes }}' }] }],
      [{ content: [{ type: 'text', text: 'true' }] }],
    ],
    ['text of content that is no list', [{ content: { text: '{{ n }}' } }], [{ content: { text: '7' } }]],
    ['text of native parts', [{ parts: [{ text: '{{ n }}' }] }], [{ parts: [{ text: '7' }] }]],
    ['text of a system instruction', { parts: [{ text: '{{ n }}' }] }, { parts: [{ text: '7' }] }],
    ['text of parts that are no list', { parts: { text: '{{ n }}' } }, { parts: { text: '7' } }],
  ])('are text: %s', (_what, given, rendered) => {
    expect(turns(given)).toEqual(rendered);
  });

  it('leave the types of everything else', () => {
    const kept = [{ role: 'assistant', content: null, tool_calls: [{ id: '{{ n }}' }] }];
    expect(turns(kept)).toEqual([{ ...kept[0], tool_calls: [{ id: 7 }] }]);
    const response = {
      functionResponse: { name: 'f', response: { content: '{{ list }}', text: '{{ n }}' } },
    };
    expect(turns([{ parts: [response] }])).toEqual([
      { parts: [{ functionResponse: { name: 'f', response: { content: ['a', 'b'], text: 7 } } }] },
    ]);
    expect(turns('{{ list }}')).toEqual(['a', 'b']);
  });

  it.each<Value>([
    [{ content: '{{ list }}' }],
    [{ content: '{{ thing }}' }],
    [{ parts: [{ text: '{{ list }}' }] }],
  ])('cannot be a list or a mapping: %j', (given) => {
    expect(() => turns(given)).toThrow(expect.objectContaining({ code: 'template.object' }));
    expect(() => turns(given)).toThrow(TemplateError);
  });
});
