import { describe, expect, test } from 'vitest';
import {
  classify,
  connectionFailure,
  isHttpError,
  rejection,
  rejectionInside,
  unusableResponse,
} from '../../../src/service/failures/classify.ts';
import type { ConnectionFailure } from '../../../src/service/http/reply.ts';
import { facts, json, noon, reply } from './replies.ts';

const cause = new Error('reset');
const lost: ConnectionFailure = { code: 'connection.lost', what: 'the connection broke', cause };

describe('a connection that failed', () => {
  test('before anything was sent leaves nothing in doubt', () => {
    expect(connectionFailure({ code: 'connection.refused', what: 'refused' }, false, facts())).toStrictEqual({
      code: 'connection.refused',
      class: 'unsent',
      message: 'POST /img/submit/imagine to https://api.example.com: refused. Nothing was sent.',
    });
  });

  test('after a submission was sent leaves its outcome in doubt', () => {
    expect(connectionFailure(lost, true, facts())).toStrictEqual({
      code: 'connection.lost',
      class: 'lost',
      message:
        'POST /img/submit/imagine to https://api.example.com: the connection broke. ' +
        'The request was sent: the service may have carried it out.',
      cause,
    });
  });

  test('after a request that changes nothing is retried', () => {
    expect(
      connectionFailure({ code: 'connection.lost', what: 'it broke' }, true, facts({ safe: true })),
    ).toStrictEqual({
      code: 'connection.lost',
      class: 'retry',
      message: 'POST /img/submit/imagine to https://api.example.com: it broke.',
    });
  });

  test.each([true, false])(
    'for a lasting reason stops the run, whether or not anything was sent (%s)',
    (sent) => {
      for (const code of ['connection.certificate', 'connection.proxy', 'connection.protocol'] as const) {
        const failure = connectionFailure({ code, what: 'w', lasting: true }, sent, facts());
        expect(failure).toMatchObject({ code, class: 'stop' });
      }
    },
  );

  test('because a port that has spoken HTTP speaks another protocol is retried', () => {
    const failure = { code: 'connection.protocol', what: 'w', lasting: true } as const;
    const spoken = facts({ hasSpokenHttp: () => true });
    expect(connectionFailure(failure, false, spoken)).toMatchObject({ class: 'unsent' });
  });

  test('is reported with the origin of the address, without its path', () => {
    const at = facts({ baseUrl: 'https://api.example.com:8443/secret/v1' });
    expect(connectionFailure(lost, false, at).message).toContain(' to https://api.example.com:8443: the');
  });
});

describe('a response that cannot be used', () => {
  test('is reported with its defect and what is in doubt', () => {
    const empty = reply(200, { kind: 'empty' }, { 'x-request-id': 'R1' });
    expect(unusableResponse(empty, 'but its body is empty', facts())).toStrictEqual({
      code: 'service.malformed',
      class: 'lost',
      message:
        'POST /img/submit/imagine: HTTP 200, but its body is empty. The service may have carried the request out.',
      status: 200,
      requestId: 'R1',
    });
    expect(unusableResponse(empty, 'but no', facts({ safe: true }), cause)).toStrictEqual({
      code: 'service.malformed',
      class: 'retry',
      message: 'POST /img/submit/imagine: HTTP 200, but no.',
      status: 200,
      requestId: 'R1',
      cause,
    });
  });

  test('because it is incomplete is a lost connection with a status', () => {
    expect(
      classify(reply(200, { kind: 'unread', failure: lost }, { 'x-request-id': 'R1' }), facts()),
    ).toMatchObject({ code: 'connection.lost', class: 'lost', status: 200, requestId: 'R1', cause });
  });

  test('because its JSON is broken keeps the cause', () => {
    const failure = classify(reply(200, { kind: 'broken', cause }, {}), facts());
    expect(failure).toMatchObject({ code: 'service.malformed', class: 'lost', status: 200, cause });
    expect(failure?.message).toContain('its JSON is broken');
  });

  test('because its body is empty is reported as empty', () => {
    const failure = classify(reply(200, { kind: 'empty' }), facts());
    expect(failure?.message).toContain('its body is empty');
    expect(failure).not.toHaveProperty('cause');
  });
});

test.each([
  [0, 'service.redirect'],
  [199, 'service.rejected'],
  [200, undefined],
  [299, undefined],
  [300, 'service.redirect'],
  [399, 'service.redirect'],
  [400, 'service.rejected'],
])('JSON under status %i is the failure %s', (status, code) => {
  expect(classify(reply(status, json({})), facts())?.code).toBe(code);
});

test.each([
  [399, false],
  [400, true],
  [599, true],
  [600, false],
  ['429', true],
  ['banned', false],
  ['', false],
  [undefined, false],
])('the code %j in an envelope is a status: %s', (code, isStatus) => {
  expect(isHttpError(code)).toBe(isStatus);
  const status = rejectionInside({ code }, reply(200, json({})), facts()).status;
  expect(status).toBe(isStatus ? Number(code) : 200);
});

describe('a refusal', () => {
  const saying = (message: string) => reply(400, json({ error: { message } }));

  test('without words has no message of its own', () => {
    expect(rejection(reply(500, { kind: 'empty' }), facts())).toStrictEqual({
      code: 'service.unavailable',
      class: 'retry',
      message: 'POST /img/submit/imagine: HTTP 500.',
      status: 500,
    });
  });

  test.each([
    ['no', 'no.'],
    ['no.', 'no.'],
    ['no!', 'no!'],
    ['why?', 'why?'],
    ['no…', 'no…'],
    ['没有。', '没有。'],
    ['v1.5 is not there', 'v1.5 is not there.'],
  ])('with the words %j ends as a sentence', (words, shown) => {
    expect(rejection(saying(words), facts())).toMatchObject({
      message: `POST /img/submit/imagine: HTTP 400: ${shown}`,
      serviceMessage: words,
    });
  });

  test('with an incomplete body keeps the cause', () => {
    expect(rejection(reply(500, { kind: 'unread', failure: lost }), facts())).toMatchObject({
      class: 'retry',
      cause,
    });
    const { cause: _, ...withoutCause } = lost;
    expect(rejection(reply(500, { kind: 'unread', failure: withoutCause }), facts())).not.toHaveProperty(
      'cause',
    );
  });

  test('waits as long as its header says, else as its words say', () => {
    const error = { message: 'm', details: [{ retryDelay: '22s' }] };
    const waitOf = (headers: Readonly<Record<string, string>>) =>
      rejection(reply(429, json({ error }), headers), facts()).retryAfterMs;
    expect(waitOf({ 'retry-after': '3' })).toBe(3000);
    expect(waitOf({ 'retry-after': new Date(noon + 5000).toUTCString() })).toBe(5000);
    expect(waitOf({})).toBe(22_000);
  });
});
