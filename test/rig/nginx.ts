import { spawn, spawnSync } from 'node:child_process';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How an nginx stands before a service. */
export interface NginxOptions {
  /** Address of the service, on 127.0.0.1. */
  readonly upstream: string;
  /** Directives of the `http` block, for example a `limit_req_zone`. */
  readonly http?: string;
  /** Directives of the `server` block. */
  readonly server?: string;
  /** Serves TLS with a certificate of an authority of its own. */
  readonly tls?: boolean;
}

/** A request as nginx answered it. */
export interface ProxiedRequest {
  readonly status: number;
  /** Status of the service; empty where nginx answered by itself. */
  readonly upstream: string;
  /** content-encoding of the answer; empty for none. */
  readonly coding: string;
  readonly scheme: string;
  /** Number of the connection, and of the request on it. */
  readonly connection: number;
  readonly ofConnection: number;
  readonly method: string;
  readonly path: string;
}

/** A running nginx; disposing of it ends it and removes its folder. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** What a client sets to trust its certificate; empty without TLS. */
  readonly env: Readonly<Record<string, string>>;
  /** Everything that was answered so far, oldest first. */
  requests(): Promise<readonly ProxiedRequest[]>;
}

const programs = ['nginx', '/usr/sbin/nginx'];

/** The nginx of this machine. @throws Error that says how to install it */
function program(): string {
  const found = programs.find((name) => spawnSync(name, ['-v']).status === 0);
  if (found === undefined) throw new Error('There is no nginx. On Debian: apt-get install nginx-light');
  return found;
}

/** Files that belong to whom nginx runs as: root's own nginx would start its workers as somebody else. */
export const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const accessLog =
  '{"status":$status,"upstream":"$upstream_status","coding":"$sent_http_content_encoding","scheme":"$scheme",' +
  '"connection":$connection,"ofConnection":$connection_requests,"method":"$request_method","path":"$uri"}';

/** Links that the service gives lead to the proxy, as those of a gateway do. */
const configOf = (
  folder: string,
  port: number,
  { upstream, http = '', server = '', tls }: NginxOptions,
): string => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  log_format requests escape=json '${accessLog}';
  access_log ${folder}/access.log requests;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 64m;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  ${http}
  server {
    listen 127.0.0.1:${port}${tls === true ? ' ssl' : ''};
    ${tls === true ? `ssl_certificate ${folder}/server.pem; ssl_certificate_key ${folder}/server.key;` : ''}
    sub_filter '"${upstream}/' '"${originOf(port, tls)}/';
    sub_filter_types application/json;
    sub_filter_once off;
    set $upstream ${upstream};
    ${server}
    location / { proxy_pass $upstream; }
  }
}
`;

const originOf = (port: number, tls = false): string => `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;

/** Starts an nginx before a service, as an unprivileged process with a folder and a configuration of its own. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const command = program();
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-nginx-'));
  try {
    const { uid, gid } = nobody;
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
    if (options.tls === true) certify(folder);
    const port = await freePort();
    await writeFile(join(folder, 'nginx.conf'), configOf(folder, port, options));
    const child = spawn(
      command,
      ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        ...nobody,
      },
    );
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const close = async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    };
    await answers(port, () => child.exitCode ?? child.signalCode).catch(async (failure: unknown) => {
      await close();
      throw new Error(`nginx did not start: ${said}`, { cause: failure });
    });
    return {
      url: originOf(port, options.tls),
      env: options.tls === true ? { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') } : {},
      requests: async () =>
        (await readFile(join(folder, 'access.log'), 'utf8'))
          .split('\n')
          .filter((line) => line !== '')
          .map((line): ProxiedRequest => JSON.parse(line)),
      [Symbol.asyncDispose]: close,
    };
  } catch (failure) {
    await rm(folder, { recursive: true, force: true });
    throw failure;
  }
}

/** An authority that nobody knows, and a certificate of it for 127.0.0.1. */
function certify(folder: string): void {
  const subject = ['-subj', '/CN=promptpress test authority'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl(folder, ['req', '-x509', ...key, ...subject, '-keyout', 'authority.key', '-out', 'authority.pem']);
  const signed = [
    '-CA',
    'authority.pem',
    '-CAkey',
    'authority.key',
    '-keyout',
    'server.key',
    '-out',
    'server.pem',
  ];
  const extensions = [
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  ];
  openssl(folder, ['req', '-x509', ...key, '-subj', '/CN=127.0.0.1', ...signed, ...extensions]);
}

function openssl(folder: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8', ...nobody });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr}`);
}

/** A port that was free a moment ago, for programs that cannot be told to take any. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Resolves once the port takes connections. Rejects when the process has ended, or after ten seconds. */
export async function answers(port: number, ended: () => unknown): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (ended() !== null) throw new Error('it has ended');
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it took no connection within ten seconds');
}
