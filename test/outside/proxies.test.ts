import { spawn, spawnSync } from 'node:child_process';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { quick, write } from '../e2e/pipelines.ts';
import { certificates } from '../rig/certificates.ts';
import { type CliResult, cli, temporaryFolder } from '../rig/cli.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { answers, freePort, nobody } from '../rig/nginx.ts';

const key = 'a-key-behind-a-proxy';
const login = { user: 'me', password: 'p@ss:word' };

const pipeline = `name: behind
service: { id: behind }
${quick}
matrix: { seed: { from: 1, to: 5 } }
steps:
  grid: { imagine: "a fox --seed {{ seed }}" }
  large: { from: grid, click: U1 }
  story: { chat: { model: chat-mini, prompt: "A fox, {{ seed }}", stream: true } }
`;

/** A proxy of Debian that runs for one test, as nobody, with a folder and a configuration of its own. */
interface Proxy {
  readonly port: number;
  /** Lines of its log of requests. */
  requests(): Promise<readonly string[]>;
}

/** @param log the file of its requests, in its folder */
async function start(
  command: string,
  config: (folder: string, port: number) => string,
  args: (file: string) => readonly string[],
  log: string,
): Promise<Proxy> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const { path } = folder;
  const { uid, gid } = nobody as { readonly uid?: number; readonly gid?: number };
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
  const port = await freePort();
  const file = join(path, 'proxy.conf');
  const hash = spawnSync('openssl', ['passwd', '-apr1', login.password], { encoding: 'utf8' }).stdout;
  await writeFile(join(path, 'users'), `${login.user}:${hash}`);
  await writeFile(file, config(path, port));
  const child = spawn(command, args(file), { stdio: ['ignore', 'pipe', 'pipe'], cwd: path, ...nobody });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await answers(port, () => child.exitCode ?? child.signalCode).catch((cause: unknown) => {
    throw new Error(`${command} did not start: ${said}`, { cause });
  });
  return {
    port,
    requests: async () => (await readFile(join(path, log), 'utf8')).split('\n').filter((line) => line !== ''),
  };
}

/** As Debian ships it: a tunnel leads to the ports of TLS alone. @param tls such a port */
const squid = (tls: number): Promise<Proxy> =>
  start(
    '/usr/sbin/squid',
    (folder, port) => `
http_port 127.0.0.1:${port}
pid_filename none
cache_log ${folder}/cache.log
access_log stdio:${folder}/access.log
logfile_rotate 0
cache deny all
netdb_filename none
coredump_dir ${folder}
pinger_enable off
shutdown_lifetime 0 seconds
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${folder}/users
auth_param basic children 2
acl known proxy_auth REQUIRED
acl tls port ${tls}
acl CONNECT method CONNECT
http_access deny CONNECT !tls
http_access allow known
http_access deny all
`,
    (file) => ['-N', '-f', file],
    'access.log',
  );

const tinyproxy = (tls: number): Promise<Proxy> =>
  start(
    '/usr/bin/tinyproxy',
    (folder, port) => `
Listen 127.0.0.1
Port ${port}
Timeout 60
MaxClients 100
LogFile "${folder}/tinyproxy.log"
LogLevel Connect
BasicAuth ${login.user} secret
ConnectPort ${tls}
`,
    (file) => ['-d', '-c', file],
    'tinyproxy.log',
  );

async function sandboxed(): Promise<Sandbox> {
  const sandbox = await startSandbox({
    apiKey: key,
    settings: { pace: 0, pixels: 64, textLatency: 0, tokenLatency: 0 },
  });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The same gateway over TLS, with a certificate of an authority of its own. */
async function secured({ url }: Sandbox): Promise<number> {
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
  return (server.address() as AddressInfo).port;
}

/** Runs the pipeline behind a proxy. @param credentials `user:password@` */
async function run(
  baseUrl: string,
  proxy: Proxy,
  credentials: string,
): Promise<CliResult & { readonly rows: Readonly<Record<string, number>> }> {
  await using folder = await temporaryFolder();
  await write(folder.path, { 'behind.yaml': pipeline, 'own-ca.pem': certificates.ca });
  const address = `http://${credentials}127.0.0.1:${proxy.port}`;
  const ended = await cli(['run', 'behind.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: baseUrl,
      PROMPTPRESS_API_KEY: key,
      NODE_EXTRA_CA_CERTS: join(folder.path, 'own-ca.pem'),
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
    },
  });
  return { ...ended, rows: byStatus(await readManifest(join(folder.path, 'runs/behind/manifest.csv'))) };
}

test.each([
  { name: 'squid', proxy: squid, credentials: `${login.user}:${encodeURIComponent(login.password)}@` },
  { name: 'tinyproxy', proxy: tinyproxy, credentials: `${login.user}:secret@` },
])(
  'runs behind $name, which asks for a password and opens tunnels to TLS alone',
  async ({ proxy, credentials }) => {
    const sandbox = await sandboxed();
    const tls = await secured(sandbox);
    const running = await proxy(tls);
    for (const baseUrl of [sandbox.url, `https://127.0.0.1:${tls}`]) {
      const { code, stderr, rows } = await run(baseUrl, running, credentials);
      expect([code, rows], stderr).toEqual([0, { done: 15 }]);
    }
    const requests = await running.requests();
    expect(requests.filter((line) => line.includes(`CONNECT 127.0.0.1:${tls}`)).length).toBeGreaterThan(0);
    expect(requests.filter((line) => line.includes(`POST ${sandbox.url}/`)).length).toBeGreaterThan(0);

    const paid = sandbox.counters().tasks.made;
    const refused = await run(sandbox.url, running, '');
    expect([refused.code, refused.rows], refused.stderr).toEqual([3, { pending: 15 }]);
    expect(refused.stderr).toMatch(/asks for a user name and a password \(40[17]\)/);
    expect(sandbox.counters().tasks.made).toBe(paid);
  },
  120_000,
);
