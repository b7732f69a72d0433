import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import { certificates } from '../../rig/certificates.ts';
import { startProxy } from '../../rig/proxy.ts';
import { ManualClock, startServer } from '../places.ts';
import { errorOf, picture, save, saveLink, startImageHost } from './download-rig.ts';

describe('statuses', () => {
  it.each([
    [400, 'download.refused', 'fresh-link'],
    [401, 'download.refused', 'fresh-link'],
    [403, 'download.refused', 'fresh-link'],
    [404, 'download.refused', 'fresh-link'],
    [410, 'download.refused', 'fresh-link'],
    [429, 'download.status', 'throttle'],
    [408, 'download.status', 'retry'],
    [500, 'download.status', 'retry'],
    [503, 'download.status', 'retry'],
    [524, 'download.status', 'retry'],
    [204, 'download.status', 'retry'],
    [206, 'download.status', 'retry'],
    [451, 'download.status', 'permanent'],
    [300, 'download.status', 'permanent'],
    [304, 'download.status', 'permanent'],
  ])('%i is %s, %s', async (status, code, kind) => {
    const error = errorOf(await save((response) => response.writeHead(status).end('words')));
    expect(error).toMatchObject({ code, class: kind, status });
  });

  it.each([
    [500, '{"error":"http_get_image_failed"}', 'fresh-link'],
    [502, '{"error":{"message":"http_get_image_failed"}}', 'fresh-link'],
    [500, '{"error":"out of memory"}', 'retry'],
    [500, '', 'retry'],
  ])('concern only the file if the copy of its task is behind: %i %s', async (status, body, kind) => {
    const error = errorOf(await save((response) => response.writeHead(status).end(body)));
    expect([error.code, error.class]).toEqual(['download.status', kind]);
  });

  // gateway 4.7: what the image route itself says, and what it hands on.
  it.each([
    [400, '{"error":"midjourney_task_not_found"}', 'was refused with 400 (midjourney_task_not_found).'],
    [403, '{"error":"request blocked"}', 'was refused with 403 (request blocked).'],
    [500, '{"error":"http_get_image_failed"}', 'was answered with 500 (http_get_image_failed).'],
    [
      404,
      'This content is no longer available.',
      'was refused with 404 (This content is no longer available.).',
    ],
    [403, '{"error":{"message":"no such key"}}', 'was refused with 403 (no such key).'],
    [403, '{"reason":7}', 'was refused with 403 ({"reason":7}).'],
    [451, '{"error":"a\\u001b[31m\\nb\\u202ec"}', 'was answered with 451 (a [31m b c).'],
    [400, `{"error":"${'x'.repeat(300)}"}`, `was refused with 400 (${'x'.repeat(200)}…).`],
    [403, '', 'was refused with 403: the link has probably expired.'],
    [403, '{}', 'was refused with 403: the link has probably expired.'],
    [403, '<Error><Code>AccessDenied</Code></Error>', 'was refused with 403: the link has probably expired.'],
    [403, '{"error":"<Error>AccessDenied</Error>"}', 'was refused with 403: the link has probably expired.'],
    [403, '\u0000\u0001\u0002', 'was refused with 403: the link has probably expired.'],
    [503, 'x'.repeat(5000), 'was answered with 503.'],
  ])('report %i with %j in the words of the response, if there are any', async (status, body, words) => {
    const { message } = errorOf(await save((response) => response.writeHead(status).end(body)));
    expect(message.replace(/^\S+ /, '')).toBe(words);
  });

  it('are judged without their words if those are encoded or break off', async () => {
    const words = '{"error":"request blocked"}';
    const coded = await save((response) =>
      response.writeHead(403, { 'content-encoding': 'gzip' }).end(gzipSync(words)),
    );
    const broken = await save((response) => {
      response.writeHead(403, { 'content-length': 1000 });
      response.write(words, () => response.destroy());
    });
    for (const result of [coded, broken])
      expect(errorOf(result)).toMatchObject({ code: 'download.refused', class: 'fresh-link', status: 403 });
    expect(errorOf(coded).message).toContain('probably expired');
  });

  it('contain a wait, in seconds or as a date', async () => {
    const clock = new ManualClock();
    const seconds = await save((response) => response.writeHead(429, { 'retry-after': '7' }).end(), {
      clock,
    });
    expect(errorOf(seconds).retryAfterMs).toBe(7000);
    const [sent, until] = [0, 90_000].map((ms) => new Date(clock.now() + ms).toUTCString());
    const later = await save(
      (response) => response.writeHead(503, { 'retry-after': until, date: sent }).end(),
      { clock },
    );
    expect(errorOf(later).retryAfterMs).toBe(90_000);
    const undated = await save(
      (response) => {
        response.sendDate = false;
        response.writeHead(503, { 'retry-after': until }).end();
      },
      { clock },
    );
    expect(errorOf(undated).retryAfterMs).toBe(90_000);
    const odd = await save((response) => response.writeHead(429, { 'retry-after': 'soon' }).end(), { clock });
    expect(errorOf(odd).retryAfterMs).toBeUndefined();
  });

  it.each(['999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'cause a wait of at most an hour for %s',
    async (wait) => {
      const result = await save((response) => response.writeHead(503, { 'retry-after': wait }).end());
      expect(errorOf(result).retryAfterMs).toBe(3_600_000);
    },
  );

  it('of an endless error response are read without waiting for its end', async () => {
    const result = await save((response) => {
      response.writeHead(404);
      const flood = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', flood);
      };
      flood();
    });
    expect(errorOf(result).code).toBe('download.refused');
  });
});

it('skips informational responses before the file', async () => {
  const bytes = await picture();
  const result = await save((response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    response.writeContinue();
    response.end(bytes);
  });
  expect(result).toMatchObject({ ok: true, value: { bytes: bytes.length } });
});

it('gives advice about a certificate that cannot be verified', async () => {
  const server = createServer({ key: certificates.key, cert: certificates.good }, (_request, response) => {
    response.end('x');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `https://127.0.0.1:${port}`;
  const error = errorOf(await saveLink(`${baseUrl}/image.png`, { baseUrl }));
  expect(error).toMatchObject({ code: 'download.connection', class: 'retry' });
  expect(error.message).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE.*NODE_EXTRA_CA_CERTS/);
});

describe('a proxy of the environment', () => {
  const through = (url: string) => {
    const dispatcher = createDispatcher({ connectMs: 5000, env: { http_proxy: url } });
    onTestFinished(() => dispatcher.destroy());
    return { dispatcher };
  };

  it('is used for the file', async () => {
    const bytes = await picture();
    await using proxy = await startProxy({ login: 'me:word' });
    const address = proxy.url.replace('//', '//me:word@');
    const saved = await save((response) => response.end(bytes), through(address));
    expect(saved).toMatchObject({ ok: true, value: { bytes: bytes.length } });
    expect(proxy.asked).toEqual([expect.stringMatching(/^GET http:\/\/127\.0\.0\.1:\d+\/image\.png/)]);
  });

  it('is not used for links that it does not carry, which are judged by their address', async () => {
    const bytes = await picture();
    await using proxy = await startProxy();
    const options = { ...through(proxy.url), isProxied: () => false };
    expect(await save((response) => response.end(bytes), options)).toMatchObject({ ok: true });
    const lookup: LookupFunction = (_host, _options, answer) =>
      answer(null, [{ address: '10.0.0.1', family: 4 }]);
    const inner = await saveLink('http://inner.example/a.png', { ...options, lookup });
    expect(errorOf(inner)).toMatchObject({ code: 'download.address', class: 'permanent' });
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ['HTTP/1.1 407 No\r\n\r\n', 'stop', 'USER:PASSWORD'],
    ['HTTP/1.1 403 No\r\nserver: squid\r\n\r\n', 'stop', 'Ask its owner'],
    ['', 'retry', 'closed'],
  ])('that answers %j', async (says, kind, words) => {
    await using proxy = await startProxy({ says: () => says });
    const error = errorOf(await save((response) => response.end('x'), through(proxy.url)));
    expect(error).toMatchObject({ code: 'download.connection', class: kind });
    expect(error.message).toContain(words);
  });
});

describe('redirects', () => {
  it('are followed five times', async () => {
    const bytes = await picture();
    const to = (response: ServerResponse, path: string): void => {
      const hop = Number(/\d+$/.exec(path)?.[0] ?? 0);
      if (hop === 5) response.end(bytes);
      else
        response.writeHead([301, 302, 303, 307, 308][hop] ?? 302, { location: `hop${hop + 1}` }).end('moved');
    };
    expect(await save(to)).toMatchObject({ ok: true, value: { bytes: bytes.length } });
  });

  it('are not followed without end', async () => {
    const result = await save((response) => response.writeHead(302, { location: '/again' }).end());
    expect(errorOf(result)).toMatchObject({ code: 'download.status', class: 'permanent' });
  });

  it.each([
    'http://localhost:PORT/a.png',
    'http://127.0.0.2:PORT/a.png',
    'http://127.0.0.1:1/a.png',
    'http://[::1]:PORT/a.png',
    'http://[::ffff:127.0.0.1]:PORT/a.png',
    'http://2130706434:PORT/a.png',
    'http://169.254.169.254/latest/',
    'http://me:word@127.0.0.1:PORT/a.png',
    'file:///etc/hostname',
    'ftp://127.0.0.1/a.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'http://[bad',
  ])('of an image host are not followed to %s', async (target) => {
    const server = await startServer((_request, response) => response.end('x'));
    const location = target.replace('PORT', String(server.port));
    await using host = await startImageHost(`HTTP/1.1 302 Found\r\nlocation: ${location}`);
    const error = errorOf(await saveLink(host.link, host));
    expect(error).toMatchObject({ code: 'download.address', class: 'permanent' });
    expect(error.message).not.toContain('word');
    expect(server.requests).toEqual([]);
    expect(host.asked).toHaveLength(1);
  });
});

describe('addresses', () => {
  const resolvesTo =
    (address: string): LookupFunction =>
    (_hostname, options, callback) => {
      if (options.all === true) callback(null, [{ address, family: 4 }]);
      else callback(null, address, 4);
    };

  it('are judged when the connection is made, after resolving the name', async () => {
    const server = await startServer((_request, response) => response.end('secret'));
    const lookup = resolvesTo('127.0.0.1');
    for (const scheme of ['http', 'https']) {
      const link = `${scheme}://cdn.example:${server.port}/a.png`;
      expect(errorOf(await saveLink(link, { lookup }))).toMatchObject({
        code: 'download.address',
        class: 'permanent',
      });
    }
    expect(server.requests).toEqual([]);
  });

  it('of the name of the service may be this machine at the base address, and on no other port', async () => {
    const bytes = await picture();
    const server = await startServer((_request, response) => response.end(bytes));
    const link = `http://gateway.example:${server.port}/a.png`;
    const lookup = resolvesTo('127.0.0.1');
    expect(await saveLink(link, { baseUrl: new URL('/v1', link).href, lookup })).toMatchObject({ ok: true });
    const refused = await saveLink(link, { baseUrl: 'https://gateway.example/v1', lookup });
    expect(errorOf(refused)).toMatchObject({ code: 'download.address', class: 'permanent' });
    expect(server.requests).toHaveLength(1);
  });

  it('are judged by name before a proxy gets them', async () => {
    const bytes = await picture();
    const server = await startServer((_request, response) => response.end(bytes));
    const dispatcher = new Agent();
    const link = `http://127.0.0.1:${server.port}/a.png`;
    expect((await saveLink(link, { dispatcher, baseUrl: server.url })).ok).toBe(true);
    const lookup = resolvesTo('10.0.0.1');
    for (const host of ['cdn.example', 'intranet', '10.0.0.1']) {
      const refused = await saveLink(`http://${host}:${server.port}/a.png`, {
        dispatcher,
        baseUrl: 'http://gateway.example',
        lookup,
      });
      expect(errorOf(refused).code).toBe('download.address');
    }
    expect(server.requests).toHaveLength(1);
    await dispatcher.close();
  });

  it('do not include a data URI', async () => {
    expect(errorOf(await saveLink('data:image/png;base64,iVBORw0KGgo='))).toMatchObject({
      code: 'download.address',
      class: 'permanent',
    });
  });
});

describe('connections', () => {
  it('that are refused are tried again', async () => {
    // Nothing listens on port 1.
    expect(errorOf(await saveLink('http://127.0.0.1:1/a.png'))).toMatchObject({
      code: 'download.connection',
      class: 'retry',
    });
  });

  it('that are reset are tried again', async () => {
    const result = await save((response) => response.socket?.resetAndDestroy());
    expect(errorOf(result)).toMatchObject({ code: 'download.connection', class: 'retry' });
  });

  it('that break off are tried again, however they break off', async () => {
    const bytes = await picture();
    const half = bytes.subarray(0, bytes.length / 2);
    const promised = await save((response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(half, () => response.destroy());
    });
    const chunked = await save((response) => {
      response.write(half, () => response.destroy());
    });
    const closed = await save((response) => {
      response.socket?.end(
        Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'), half]),
      );
    });
    for (const result of [promised, chunked, closed]) {
      expect(errorOf(result)).toMatchObject({ code: 'download.truncated', class: 'retry' });
    }
  });

  it('without any answer are tried again', async () => {
    expect(errorOf(await save((response) => response.end()))).toMatchObject({
      code: 'download.truncated',
      class: 'retry',
    });
  });

  it('with endless headers are given up', async () => {
    const result = await save((response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`);
    });
    expect(errorOf(result)).toMatchObject({ code: 'download.connection', class: 'retry' });
  });
});
