import { expect, it, onTestFinished } from 'vitest';
import { addressRule } from '../../../src/artifacts/download/address-policy.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import { freshFolder, startServer, startWriter } from '../places.ts';
import { always, errorOf, picture, saveLink, startImageHost } from './download-rig.ts';

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
  ['the very host of the base address', (port: number) => `http://127.0.0.1:${port}/mj/image/17?rand=1`],
  [
    'the base address over TLS',
    (_port: number, url: string) => `${url.replace('http', 'https')}/mj/image/17?rand=1`,
  ],
  ['localhost', (port: number) => `http://localhost:${port}/mj/image/17?rand=1`],
  ['a name below localhost', (port: number) => `http://img.localhost:${port}/mj/image/17?rand=1`],
  ['IPv6', (port: number) => `http://[::1]:${port}/mj/image/17?rand=1`],
  ['another address of loopback, over TLS', (port: number) => `https://127.0.0.2:${port}/mj/image/17?rand=1`],
  ['no address at all', (port: number) => `http://0.0.0.0:${port}/mj/image/17?rand=1`],
  ['a path alone', () => '/mj/image/17?rand=1'],
])(
  'a link of the service to %s is fetched at the base address, without a key, and reported once',
  async (_what, linkOf) => {
    const { gateway, other } = await startGateway();
    const said: string[] = [];
    const options = { baseUrl: `${gateway.url}/prefix`, notice: (message: string) => said.push(message) };
    expect(await saveLink(linkOf(other.port, gateway.url), options)).toMatchObject({ ok: true });
    expect(gateway.requests.map(({ url }) => url)).toEqual(['/mj/image/17?rand=1']);
    expect(gateway.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(other.requests).toHaveLength(0);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(gateway.url);
  },
);

it('a proxy gets such a link at the base address too', async () => {
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

it('a redirect of the gateway itself is treated in the same way, but not one of another host', async () => {
  const image = await picture();
  const gateway = await startServer((request, response) =>
    request.url === '/first'
      ? response.writeHead(302, { location: 'http://localhost:1/mj/image/17' }).end()
      : response.end(image),
  );
  expect(await saveLink('/first', { baseUrl: gateway.url })).toMatchObject({ ok: true });
  await using host = await startImageHost('HTTP/1.1 302 Found\r\nlocation: http://localhost:1/mj/image/17');
  const asked = gateway.requests.length;
  const refused = await saveLink(host.link, { ...host, baseUrl: gateway.url });
  expect(errorOf(refused)).toMatchObject({ code: 'download.address', lasting: true });
  expect(gateway.requests).toHaveLength(asked);
});

it('a redirect of the gateway to another port of its own host is followed at the base address', async () => {
  const image = await picture();
  const other = await startServer((_request, response) => response.end(image));
  const gateway = await startServer((request, response) =>
    request.url === '/first'
      ? response.writeHead(302, { location: `${other.url}/mj/image/17` }).end()
      : response.end(image),
  );
  expect(await saveLink('/first', { baseUrl: gateway.url })).toMatchObject({ ok: true });
  expect(gateway.requests.map(({ url }) => url)).toEqual(['/first', '/mj/image/17']);
  expect(other.requests).toHaveLength(0);
});

it('a grid is fetched at the base address too if its link names another port, and is then cut', async () => {
  const { gateway, other } = await startGateway();
  const writer = startWriter(freshFolder(), { baseUrl: gateway.url });
  const link = { url: `${other.url}/mj/image/17`, key: 'ab', output: 1 };
  const saved = await writer.save(link, always);
  if (!saved.ok) throw new Error(saved.error.message);
  expect(await writer.cut({ key: 'ab', grid: saved.value }, always)).toMatchObject({ ok: true });
  expect(other.requests).toHaveLength(0);
});

it('links to other hosts stay unchanged, and a path that names a host never becomes a link', () => {
  const rule = addressRule('https://gateway.example.com/api');
  for (const link of [
    'https://cdn.example.com/a',
    'ftp://localhost/a',
    'http://user:word@localhost/a',
    'http://10.0.0.1/a',
    'https://gateway.example.com:8443/a',
  ])
    expect(rule.atService(new URL(link))).toBeUndefined();
  expect(rule.atService(new URL('http://localhost:3000//evil.example/a'))?.href).toBe(
    'https://gateway.example.com//evil.example/a',
  );
  expect(rule.atService(new URL('http://[::ffff:127.0.0.1]/a'))?.href).toBe('https://gateway.example.com/a');
});

it('each failure says whether its reason may pass', async () => {
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
