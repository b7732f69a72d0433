import { describe, expect, test } from 'vitest';
import type { Standing } from '../../../src/service/failures/known-endpoints.ts';
import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { addressAdvice, notJson, redirected } from '../../../src/service/failures/wrong-address.ts';
import { facts, reply } from './replies.ts';

const to = (location?: string, status = 302) =>
  reply(status, { kind: 'empty' }, location === undefined ? {} : { location });
const standing = (word: Standing): Partial<RequestFacts> => ({ standing: () => word });
const right = standing('right');
const lost = standing('lost');

describe('a redirect', () => {
  test('of an endpoint that has answered well is passing, and names its target', () => {
    const failure = redirected(to('https://login.example.com/?token=t'), facts(right));
    expect(failure).toMatchObject({ code: 'service.redirect', class: 'retry', wrongAddress: true });
    expect(failure.message).toMatch(
      /^POST \/img\/submit\/imagine: the service redirects to https:\/\/login\.example\.com \(HTTP 302\)/,
    );
  });

  test.each([
    [302, false, 'retry'],
    [303, false, 'lost'],
    [303, true, 'retry'],
    [304, false, 'retry'],
  ])('with status %i after good answers (safe: %s) has the class %s', (status, safe, met) => {
    expect(redirected(to('https://x.example.com', status), facts({ ...right, safe })).class).toBe(met);
  });

  test.each([
    ['http://api.example.com', 'https://api.example.com/there', /https: https:\/\/api\.example\.com\./],
    ['http://api.example.com', 'https://other.example.com/', /Check the base address \(http:\/\/api/],
    ['https://api.example.com', 'https://api.example.com/login', /Check the base address \(https:\/\/api/],
    ['http://api.example.com', 'http://api.example.com/login', /Check the base address \(http:\/\/api/],
  ])('from %s to %s is reported with advice', (baseUrl, location, advice) => {
    expect(redirected(to(location), facts({ baseUrl })).message).toMatch(advice);
  });

  test.each([
    [undefined, 'another address'],
    ['ftp://files.example.com', 'another address'],
    ['http://plain.example.com:81/path', 'http://plain.example.com:81'],
    ['https://safe.example.com/path', 'https://safe.example.com'],
    ['/login', 'https://api.example.com'],
  ])('to %s is shown as a redirect to %s', (location, shown) => {
    expect(redirected(to(location), facts()).message).toContain(`redirects to ${shown} (HTTP 302)`);
  });

  test('that stops the run leaves a submission in doubt only if it follows work and the endpoint had answered', () => {
    const stopped = (status: number, safe: boolean, known: Partial<RequestFacts> = {}) =>
      redirected(to('https://x.example.com', status), facts({ safe, ...known }));
    expect(stopped(303, false, lost)).toMatchObject({
      class: 'stop',
      wrongAddress: true,
      mayBeDone: true,
    });
    for (const failure of [stopped(302, false, lost), stopped(303, true, lost), stopped(303, false)])
      expect(failure).not.toHaveProperty('mayBeDone');
  });
});

describe('an answer that is not JSON', () => {
  test('is shown with the first hundred characters of its words', () => {
    const text = `${'a'.repeat(100)}b`;
    const { message } = notJson(reply(200, { kind: 'text', text }), facts());
    expect(message).toContain(`with text ("${'a'.repeat(100)}") instead of JSON.`);
  });

  test.each([
    [200, 'lost', true],
    [404, 'retry', undefined],
  ])('under %i after good answers has the class %s', (status, met, mayBeDone) => {
    const page = reply(status, { kind: 'html', title: 'Busy' });
    const passing = notJson(page, facts(right));
    expect(passing).toMatchObject({ code: 'service.not-json', class: met, wrongAddress: true, status });
    expect(passing.message).toContain('answers with a web page ("Busy") instead of JSON');
    const stopped = notJson(page, facts(lost));
    expect(stopped).toMatchObject({ class: 'stop', wrongAddress: true, status });
    expect(stopped.mayBeDone).toBe(mayBeDone);
    expect(notJson(page, facts())).not.toHaveProperty('mayBeDone');
  });
});

test.each([
  ['https://api.example.com/v1', 'try https://api.example.com.'],
  ['https://api.example.com/v1beta', 'try https://api.example.com.'],
  ['https://api.example.com/v1/v1', 'try https://api.example.com.'],
  [
    'https://api.example.com/mj',
    'ends in /mj, which belongs to the paths: drop it, and try https://api.example.com.',
  ],
  ['https://api.example.com/api', 'try https://api.example.com.'],
  ['https://api.example.com/v1/chat/completions', 'drop it, and try https://api.example.com.'],
  ['https://api.example.com/gateway/mj', 'drop it, and try https://api.example.com/gateway.'],
  ['https://api.example.com/v1/more', 'Check the base address (https://api.example.com/v1/more)'],
  ['https://api.example.com/v2', 'Check the base address (https://api.example.com/v2)'],
])('the advice for the address %s is %s', (baseUrl, advice) => {
  expect(addressAdvice(facts({ baseUrl }))).toContain(advice);
});

test('hides a secret part of the address', () => {
  const advice = addressAdvice(
    facts({ baseUrl: 'https://x/secret/v1', mask: (text) => text.replace('secret', '***') }),
  );
  expect(advice).toContain('https://x/***');
  expect(advice).not.toContain('secret');
});
