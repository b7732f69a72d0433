import { expect, it } from 'vitest';
import { modelThinking } from '../../../../src/pipeline/steps/domain/thinking.ts';

it.each([
  ['gemini-2.5-flash', { thinking: 'budget', budget: { from: 1, to: 24_576 }, off: true }],
  ['models/gemini-2.5-flash-preview-09-2025', { thinking: 'budget', budget: { from: 1, to: 24_576 } }],
  ['Gemini-2.5-Flash-Lite', { thinking: 'budget', budget: { from: 512, to: 24_576 } }],
  ['gemini-2.5-pro', { thinking: 'budget', off: false }],
  ['gemini-3-pro-preview', { thinking: 'level', levels: ['low', 'high'] }],
  ['gemini-3-flash', { thinking: 'level' }],
  ['gemini-3.1-pro', { thinking: 'level' }],
])('knows how %s takes its thinking', (model, expected) => {
  expect(modelThinking(model, {})).toMatchObject(expected);
});

it.each([
  'text-pro',
  'gemini-2.5-flash-image',
  'gemini-3-pro-image-preview',
  'my-gemini-2.5-pro',
  'constructor',
])('does not know %s', (model) => {
  expect(modelThinking(model, {})).toBeUndefined();
});

it("prefers the file to the model's name", () => {
  expect(modelThinking('text-pro', { 'text-pro': 'level' })).toEqual({ thinking: 'level' });
  expect(modelThinking('gemini-2.5-pro', { 'gemini-2.5-pro': 'level' })).toEqual({ thinking: 'level' });
  expect(modelThinking('gemini-2.5-pro', { 'gemini-2.5-pro': 'budget' })).toMatchObject({
    budget: { from: 128 },
  });
});
