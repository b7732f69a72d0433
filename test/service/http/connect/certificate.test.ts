import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';

import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../../../src/service/http/connect/dispatcher.ts';
import { connectionPool } from '../../../../src/service/http/connect/pool.ts';
import { certificates } from '../../../rig/certificates.ts';
import { rawServer } from '../../raw-server.ts';
import { imagine, never, serviceWith } from '../../scripted-fetch.ts';

const accepted = JSON.stringify({ code: 1, result: '1700000000000001' });

/** A service with this certificate, at https://127.0.0.1. */
async function secure(cert: string): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer({ key: certificates.key, cert }, (_request, response) => {
    requests += 1;
    response.end(accepted);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, requests: () => requests };
}

/** Connections that know the test's own authority, as with NODE_EXTRA_CA_CERTS. */
function knowing(): Agent {
  const agent = new Agent({ factory: connectionPool, connect: { ca: certificates.ca } });
  onTestFinished(() => agent.destroy());
  return agent;
}

test('a certificate of a known authority is trusted', async () => {
  const { url } = await secure(certificates.good);
  expect((await imagine(serviceWith({ baseUrl: url, dispatcher: knowing() }))).ok).toBe(true);
});

test.each([
  ['expired', 'CERT_HAS_EXPIRED', 'has expired'],
  ['early', 'CERT_NOT_YET_VALID', 'clock'],
  ['other', 'ERR_TLS_CERT_ALTNAME_INVALID', 'another host name'],
  ['self', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
] as const)('%s: the run stops at once, and the message says why', async (which, code, says) => {
  const { url, requests } = await secure(certificates[which]);
  const service = serviceWith({ baseUrl: url, dispatcher: knowing() });
  const expected = {
    ok: false,
    error: {
      code: 'connection.certificate',
      class: 'stop',
      message: expect.stringMatching(new RegExp(`${code}.*${says}.*Nothing was sent`)),
    },
  };
  expect(await imagine(service)).toMatchObject(expected);
  expect(await service.fetchTask('1', never)).toMatchObject(expected);
  expect(requests()).toBe(0);
});

test('an unknown authority is reported with NODE_EXTRA_CA_CERTS, through a proxy too', async () => {
  const { url } = await secure(certificates.good);
  const { port } = new URL(url);
  await using proxy = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.removeAllListeners('data');
    const onward = connect(Number(port), '127.0.0.1');
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  for (const env of [{}, { https_proxy: proxy.url }]) {
    const dispatcher = createDispatcher({ connections: 1, connectMs: 5000, env });
    expect(await imagine(serviceWith({ baseUrl: url, dispatcher }))).toMatchObject({
      error: {
        code: 'connection.certificate',
        class: 'stop',
        message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      },
    });
    await dispatcher.destroy();
  }
  expect(proxy.connections).toBe(1);
});
