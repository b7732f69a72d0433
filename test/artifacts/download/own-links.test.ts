import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { addressRule } from '../../../src/artifacts/download/address-policy.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import { startServer } from '../places.ts';
import { errorOf, picture, saveLink } from './download-rig.ts';

/** A gateway that serves a picture below `/mj/image/`, and another server of this machine that must not be asked. */
async function startGateway() {
  const image = await picture();
  const gateway = await startServer((request, response) =>
    request.url?.startsWith('/mj/image/') === true ? response.end(image) : response.writeHead(404).end(),
  );
  const other = await startServer((_request, response) => response.end('another program of this machine'));
  return { gateway, other };
}

it.each([
  ['localhost', (port: number) => `http://localhost:${port}/mj/image/17?rand=1`],
  ['a name below localhost', (port: number) => `http://img.localhost:${port}/mj/image/17?rand=1`],
  ['IPv6', (port: number) => `http://[::1]:${port}/mj/image/17?rand=1`],
  ['another address of loopback, over TLS', (port: number) => `https://127.0.0.2:${port}/mj/image/17?rand=1`],
  ['no address at all', (port: number) => `http://0.0.0.0:${port}/mj/image/17?rand=1`],
  ['a path alone', () => '/mj/image/17?rand=1'],
])(
  'a link of the service to %s is fetched at the base address, without a key, and said once',
  async (_what, linkOf) => {
    const { gateway, other } = await startGateway();
    const said: string[] = [];
    const options = { baseUrl: `${gateway.url}/prefix`, notice: (message: string) => said.push(message) };
    expect(await saveLink(linkOf(other.port), options)).toMatchObject({ ok: true });
    expect(gateway.requests.map(({ url }) => url)).toEqual(['/mj/image/17?rand=1']);
    expect(gateway.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(other.requests).toHaveLength(0);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(gateway.url);
  },
);

it('is so through a proxy too', async () => {
  const { gateway, other } = await startGateway();
  const dispatcher = createDispatcher({ connectMs: 5000 });
  onTestFinished(() => dispatcher.destroy());
  const saved = await saveLink(`http://localhost:${other.port}/mj/image/17`, {
    baseUrl: gateway.url,
    dispatcher,
  });
  expect(saved).toMatchObject({ ok: true });
  expect(other.requests).toHaveLength(0);
});

it('is so for a redirect of the gateway itself, and not for one of another host', async () => {
  const image = await picture();
  const gateway = await startServer((request, response) =>
    request.url === '/first'
      ? response.writeHead(302, { location: 'http://localhost:1/mj/image/17' }).end()
      : response.end(image),
  );
  expect(await saveLink('/first', { baseUrl: gateway.url })).toMatchObject({ ok: true });
  const elsewhere = await startServer((_request, response) =>
    response.writeHead(302, { location: 'http://localhost:1/mj/image/17' }).end(),
  );
  const asked = gateway.requests.length;
  const refused = await saveLink(`${elsewhere.url}/first`, { baseUrl: gateway.url });
  expect(errorOf(refused)).toMatchObject({ code: 'download.address', lasting: true });
  expect(gateway.requests).toHaveLength(asked);
});

it('follows a link to the very host of the base address on its own port, and at the base address where nobody listens there', async () => {
  const { gateway } = await startGateway();
  const image = await picture();
  const host = await startServer((_request, response) => response.end(image));
  expect(await saveLink(`${host.url}/a.png`, { baseUrl: gateway.url })).toMatchObject({ ok: true });
  expect(gateway.requests).toHaveLength(0);
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    closed.once('listening', resolve);
  });
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => {
    closed.close(resolve);
  });
  expect(await saveLink(`http://127.0.0.1:${port}/mj/image/17`, { baseUrl: gateway.url })).toMatchObject({
    ok: true,
  });
  expect(gateway.requests).toHaveLength(1);
});

it('leaves links to other hosts as they are, and never makes one of a path that names a host', () => {
  const rule = addressRule('https://gateway.example.com/api');
  for (const link of ['https://cdn.example.com/a', 'http://10.0.0.1/a', 'https://gateway.example.com:8443/a'])
    expect(rule.atService(new URL(link))).toBeUndefined();
  expect(rule.atService(new URL('http://localhost:3000//evil.example/a'))?.href).toBe(
    'https://gateway.example.com//evil.example/a',
  );
  expect(rule.atService(new URL('http://[::ffff:127.0.0.1]/a'))?.href).toBe('https://gateway.example.com/a');
});

it('says of each failure whether its reason passes', async () => {
  const answering = async (status: number, headers = {}) => {
    const server = await startServer((_request, response) => response.writeHead(status, headers).end());
    return errorOf(await saveLink(`${server.url}/a.png`));
  };
  for (const status of [401, 403, 404, 410]) expect((await answering(status)).lasting).toBe(true);
  for (const status of [400, 429, 500, 502, 503]) expect((await answering(status)).lasting).toBeUndefined();
  expect(errorOf(await saveLink('http://10.0.0.1/a.png')).lasting).toBe(true);
  const challenge = await answering(503, { 'cf-mitigated': 'challenge', server: 'cloudflare' });
  expect(challenge).toMatchObject({
    code: 'download.refused',
    class: 'fresh-link',
    lasting: true,
    status: 503,
  });
  expect(challenge.message).toContain('challenge');
  expect((await answering(403, { 'cf-mitigated': 'challenge' })).message).not.toContain('expired (');
});
