import { describe, expect, test } from 'vitest';
import { readRetryAfter, readRetryDelay } from '../../../src/service/http/retry-after.ts';

const noon = Date.UTC(2026, 10, 1, 12);
const headers =
  (of: Readonly<Record<string, string | null>>) =>
  (name: string): string | null =>
    of[name] ?? null;
const date = (ms: number): string => new Date(ms).toUTCString();

describe('how long the service asks to wait, in milliseconds', () => {
  test.each<readonly [string | null, number | undefined]>([
    [null, undefined],
    ['0', 0],
    ['7', 7000],
    [' 7 ', 7000],
    ['1.5', 1500],
    // A part of a millisecond is waited for whole.
    ['0.0001', 1],
    ['1.0001', 1001],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['999999999999', 3_600_000],
    ['1234567890123', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['7s', undefined],
    ['', undefined],
    ['soon', undefined],
    ['2026-11-01T12:00:09Z', undefined],
    ['Sunday', undefined],
    [date(noon + 9000), 9000],
    [date(noon - 9000), 0],
    [date(noon + 9_999_000), 3_600_000],
    ['Sunday, 01-Nov-26 12:00:09 GMT', 9000],
  ])('is for the header %j: %s', (header, ms) => {
    expect(readRetryAfter(headers({ 'retry-after': header }), () => noon)).toBe(ms);
  });

  test.each<readonly [string, string, number]>([
    ['retry-after-ms', '1500', 1500],
    ['retry-after-ms', ' 7 ', 7],
    ['retry-after-ms', '0.2', 1],
    ['x-ms-retry-after-ms', '250.5', 251],
    ['retry-after-ms', '9999999', 3_600_000],
    ['retry-after-ms', 'soon', 9000],
    ['retry-after-ms', '-5', 9000],
  ])(
    'is for the more exact header %s: %s the time that it gives, else that of Retry-After',
    (name, value, ms) => {
      expect(readRetryAfter(headers({ [name]: value, 'retry-after': '9' }), () => noon)).toBe(ms);
    },
  );

  test('is measured by the clock of the response, else by ours', () => {
    const read = (text: string, sent: string, now: number): number | undefined =>
      readRetryAfter(headers({ 'retry-after': text, date: sent }), () => now);
    const until = date(noon + 9000);
    expect(read(until, date(noon + 4000), noon - 50_000)).toBe(5000);
    expect(read(until, 'no date', noon)).toBe(9000);
    // A number needs no clock.
    expect(read('7', date(noon + 4000), noon)).toBe(7000);
  });

  test.each<readonly [unknown, number | undefined]>([
    ['22s', 22_000],
    ['0.5s', 500],
    ['0.0001s', 1],
    ['0s', 0],
    ['3600.1s', 3_600_000],
    ['22', undefined],
    ['22ms', undefined],
    ['-1s', undefined],
    [' 22s', undefined],
    [22, undefined],
    [null, undefined],
  ])('is for the detail %j: %s', (delay, ms) => {
    expect(readRetryDelay(delay)).toBe(ms);
  });
});
