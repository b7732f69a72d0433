import { describe, expect, it } from 'vitest';
import { formHint, numberIn } from '../../../../src/pipeline/schema/hints/forms.ts';

describe('the number in a text', () => {
  it.each([
    ['$25', '25'],
    ['25 USD', '25'],
    ['25€', '25'],
    ['1k', '1000'],
    ['1.5k', '1500'],
    ['2M', '2000000'],
    ['$1.1k', '1100'],
    ['10,000', '10000'],
    ['1_000_000', '1000000'],
    ['12', '12'],
    ['-3', '-3'],
  ])('%s is %s', (text, number) => {
    expect(numberIn(text)).toBe(number);
  });

  it.each(['ten', '', '1,5', '1.2.3', '1-2', 'k'])('is not clear in %s', (text) => {
    expect(numberIn(text)).toBeUndefined();
  });
});

describe('a value with a format', () => {
  it.each([
    ['duration', '20 minutes', 'Write x: 20m.'],
    ['duration', '1 hr', 'Write x: 1h.'],
    ['duration', '90sec', 'Write x: 90s.'],
    ['duration', '500 milliseconds', 'Write x: 500ms.'],
    ['duration', '60', 'A duration has a unit: x: 60s (seconds) or x: 60m (minutes).'],
    ['rate', '60 per minute', 'Write x: 60/min.'],
    ['rate', '60/m', 'Write x: 60/min.'],
    ['rate', '5 / second', 'Write x: 5/s.'],
    ['rate', '60rpm', 'Write x: 60/min.'],
    ['rate', '60', 'A rate needs a unit of time: x: 60/min (a minute), 60/s or 60/h.'],
    ['rate', '5 per ms', undefined],
    ['duration', '2 days', undefined],
    ['duration', 'soon', undefined],
    ['Count', '60', undefined],
  ])('%s %s', (title, text, hint) => {
    expect(formHint('x', text, { title })).toBe(hint);
  });
});
