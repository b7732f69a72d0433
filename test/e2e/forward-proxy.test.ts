import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { certificates } from '../rig/certificates.ts';
import { cli, startCli, temporaryFolder } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { startProxy } from '../rig/proxy.ts';
import { quick, write } from './pipelines.ts';

const key = 'a-key-behind-a-proxy';

const pipeline = `name: behind
service: { id: behind }
${quick}
matrix: { seed: { from: 1, to: 3 } }
steps:
  grid: { imagine: "a fox --seed {{ seed }}" }
  story: { generate: { model: text-pro, prompt: "A fox, {{ seed }}" } }
`;

async function sandboxed(): Promise<Sandbox> {
  const sandbox = await startSandbox({ apiKey: key, settings: { pace: 0, pixels: 64, textLatency: 0 } });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The same gateway over TLS, with a certificate of an authority of its own. */
async function secured({ url }: Sandbox): Promise<string> {
  const { port } = new URL(url);
  const server = createServer({ key: certificates.key, cert: certificates.good }, (socket) => {
    const onward = connect(Number(port), '127.0.0.1');
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ['http', 'http', undefined],
  ['http, with a password', 'http', 'me:p@ss'],
  ['https', 'https', undefined],
  ['https, with a password', 'https', 'me:p@ss'],
  ['https, by a proxy that speaks TLS', 'https', 'tls'],
])('all requests of a run over %s go through the proxy of the environment', async (_what, scheme, how) => {
  await using folder = await temporaryFolder();
  const sandbox = await sandboxed();
  const login = how === 'tls' ? undefined : how;
  await using proxy = await startProxy({ ...(login && { login }), tls: how === 'tls' });
  const [user, password = ''] = login?.split(':') ?? [];
  const address = proxy.url.replace(
    '//',
    user === undefined ? '//' : `//${user}:${encodeURIComponent(password)}@`,
  );
  await write(folder.path, { 'behind.yaml': pipeline, 'own-ca.pem': certificates.ca });
  const baseUrl = scheme === 'https' ? await secured(sandbox) : sandbox.url;
  const result = await cli(['run', 'behind.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: baseUrl,
      PROMPTPRESS_API_KEY: key,
      NODE_EXTRA_CA_CERTS: join(folder.path, 'own-ca.pem'),
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
    },
  });
  expect(result.code, result.stderr).toBe(0);
  const rows = await readManifest(join(folder.path, 'runs/behind/manifest.csv'));
  expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'done'));
  const posts = proxy.asked.filter((asked) => /^(?:POST|CONNECT) /.test(asked));
  expect(posts.length).toBeGreaterThan(0);
  // Over TLS no more is seen than where a tunnel leads: the sandbox's own address, of which its links are, is another port.
  const { host } = new URL(baseUrl);
  const images = scheme === 'https' ? [`CONNECT ${host}`] : [`GET ${baseUrl}/`, `POST ${baseUrl}/`];
  expect(proxy.asked.filter((asked) => !images.some((start) => asked.startsWith(start)))).toEqual([]);
  const links = proxy.asked.filter((asked) => /^GET .*\/image\//.test(asked));
  expect(links).toHaveLength(scheme === 'http' ? 3 : 0);
  expect(proxy.logins.every((said) => (said === undefined) === (login === undefined))).toBe(true);
});

it.each([
  ['407', /asks for a user name and a password \(407\)\. Write them into its address: HTTP_PROXY=/],
  ['403', /\(403\)\. Ask its owner to allow 127\.0\.0\.1:\d+/],
])('a proxy that refuses with %s ends the run with what to write', async (status, words) => {
  await using folder = await temporaryFolder();
  const sandbox = await sandboxed();
  const says = `HTTP/1.1 ${status} No\r\nserver: squid/5.7\r\ncontent-length: 0\r\n\r\n`;
  await using proxy = await startProxy({ says: () => says });
  await write(folder.path, { 'behind.yaml': pipeline });
  const result = await cli(['run', 'behind.yaml'], {
    cwd: folder.path,
    env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: key, HTTP_PROXY: proxy.url },
  });
  expect(result.code, result.stderr).toBe(3);
  expect(result.stderr).toMatch(words);
  const rows = await readManifest(join(folder.path, 'runs/behind/manifest.csv'));
  expect(new Set(rows.map(({ status: state }) => state))).toEqual(new Set(['pending']));
});

it('a proxy variable that holds no address of one is refused, and not shown', async () => {
  await using folder = await temporaryFolder();
  await write(folder.path, { 'behind.yaml': pipeline });
  const result = await cli(['run', 'behind.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: 'https://127.0.0.1:9',
      PROMPTPRESS_API_KEY: key,
      HTTPS_PROXY: 'socks5://me:hunter2@127.0.0.1:1080',
    },
  });
  expect(result.code, result.stderr).toBe(2);
  expect(result.stderr).toContain('The value of HTTPS_PROXY is not an address of an HTTP proxy');
  expect(result.stderr).not.toContain('hunter2');
});

it('a proxy that closes a tunnel without an answer is given rests, and a signal is heard', async () => {
  await using folder = await temporaryFolder();
  await using proxy = await startProxy({ says: () => '' });
  await write(folder.path, { 'behind.yaml': pipeline });
  const running = startCli(['run', 'behind.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: 'https://127.0.0.1:9',
      PROMPTPRESS_API_KEY: key,
      HTTPS_PROXY: proxy.url,
    },
  });
  await running.said('closed the connection without an answer');
  running.child.kill('SIGTERM');
  const result = await running.done;
  expect([result.code, result.signal], result.stderr).toEqual([143, undefined]);
  expect(proxy.asked.length).toBeLessThan(40);
});
