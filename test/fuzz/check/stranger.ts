import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { exitCodes } from '../../../src/app/errors/cli-error.ts';
import { program } from '../../../src/cli/program.ts';
import { type TestIo, testIo } from '../../cli/test-io.ts';
import { startFakeService } from '../../rig/fake-service.ts';
import { makePng } from '../../rig/png.ts';
import { ask } from '../../rig/served.ts';
import type { Input } from '../input.ts';
import { Broken, lawfulText } from './law.ts';

/** What repositories, run directories and engines of a stranger must not come to: what lies outside of a run, and how that is watched. */

/** Stands in every file that no command may read from or change. */
export const canary = 'CANARY-OF-WHAT-LIES-OUTSIDE';
export const privateImage = makePng(4711);

/** Forms in which a request would carry what lies outside. */
const stolen = [canary, Buffer.from(canary).toString('base64').slice(0, 30), privateImage.toString('base64')];

export const pipeline = `name: foxes
service: { id: fuzz }
limits: { tasks: 8, requests: 8 }
retry: { attempts: 1, base: 1ms, cap: 1ms, resubmits: 0, patience: 1s }
poll: { min: 5ms, max: 5ms }
timeouts: { request: 10s, task: 20s }
matrix: { rows: rows.csv }
steps:
  grid: { imagine: "{{ animal }}" }
  look: { from: grid, generate: { model: any-model, prompt: What is it?, images: [parent] } }
`;

/** Keys of this machine, which no address of a stranger may get. */
export const ambient = {
  PROMPTPRESS_API_KEY: 'sk-ambient-key-of-the-gateway',
  PGPASSWORD: 'ambient-password-of-postgres',
  AWS_SECRET_ACCESS_KEY: 'ambient-secret-key-of-the-machine',
  AWS_ACCESS_KEY_ID: 'AKIAAMBIENTAMBIENT00',
  AWS_SESSION_TOKEN: 'ambient-session-token',
};

/** The gateway of the user, and the variables by which his commands reach it. */
export async function startOwnService(): Promise<
  Awaited<ReturnType<typeof startFakeService>> & { readonly env: Readonly<Record<string, string>> }
> {
  const service = await startFakeService({ apiKey: 'sk-the-own-key-of-the-user' });
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_SYSTEM: '/dev/null',
    PROMPTPRESS_BASE_URL: service.url,
    PROMPTPRESS_API_KEY: service.apiKey,
  };
  return Object.assign(service, { env });
}

/** A stranger who listens, and answers everything with what PostgreSQL asks for a password with. */
export async function listen(): Promise<{
  readonly server: Server;
  readonly port: number;
  readonly received: () => string;
}> {
  let text = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (/^[A-Z]+ \//.test(bytes.toString('latin1')))
        socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n');
      else if (bytes.length > 8) socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      else socket.end('N');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0, received: () => text };
}

export interface Commanded {
  readonly code: number;
  readonly said: string;
  readonly err: string;
}

/** A command, carried out in this process. @param meanwhile is called once it has begun */
export async function commanded(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  meanwhile: (test: TestIo) => void = () => undefined,
): Promise<Commanded> {
  const test = testIo({ cwd, env });
  const running = program(args, test.io);
  meanwhile(test);
  const code = await running;
  return { code, said: `${test.out()}${test.err()}`, err: test.err() };
}

/** @throws Broken for a bug, an unknown exit code, what lies outside, or what no terminal may get */
export function lawfulWords({ code, said, err }: Commanded): void {
  if (code === exitCodes.internal || said.includes('Internal error'))
    throw new Broken(`A bug: ${said.slice(0, 2000)}`);
  if (!(Object.values(exitCodes) as number[]).includes(code))
    throw new Broken(`The exit code ${code} is unknown.`);
  if (said.includes(canary)) throw new Broken('What lies outside has been shown.');
  lawfulText(err, 'Standard error');
}

/** @throws Broken where a request holds what lies outside */
export function lawfulRequests(
  requests: readonly { readonly body?: unknown; readonly headers: unknown }[],
): void {
  const sent = requests.map(({ body, headers }) => JSON.stringify([body, headers]));
  if (sent.some((request) => stolen.some((form) => request.includes(form))))
    throw new Broken('What lies outside has been sent.');
}

/** What a link may lead to, and what a command may leave behind. */
export function writeOutside(place: string): void {
  const outside = path.join(place, 'outside');
  mkdirSync(path.join(outside, 'folder'), { recursive: true });
  mkdirSync(path.join(place, 'pwned'));
  mkdirSync(path.join(place, 'elsewhere'));
  for (const name of [
    'file',
    'x.0a1b2c3d.part',
    '0000-1.1.part',
    'a'.repeat(64),
    'folder/table.part',
    'folder/file',
  ])
    writeFileSync(path.join(outside, name), canary);
  writeFileSync(path.join(outside, 'table.csv'), `animal\n${canary}\n`);
  writeFileSync(path.join(outside, 'private.png'), privateImage);
  watchReads(outside);
}

/** Everything below a folder, and how it is. */
export function filesBelow(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const checkWithin = (file: string): void => {
    const facts = lstatSync(file);
    const name = path.relative(folder, file);
    if (facts.isDirectory()) {
      found.set(name, `folder ${facts.mode}`);
      for (const inner of readdirSync(file)) checkWithin(path.join(file, inner));
    } else {
      const content = facts.isFile()
        ? readFileSync(file, 'latin1')
        : facts.isSymbolicLink()
          ? readlinkSync(file)
          : '';
      found.set(name, `${facts.mode} ${facts.mtimeMs} ${content}`);
    }
  };
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) checkWithin(folder);
  return found;
}

export function difference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined {
  return [...new Set([...before.keys(), ...after.keys()])].find(
    (name) => before.get(name) !== after.get(name),
  );
}

const longAgo = new Date('2001-01-01T00:00:00Z');

/**
 * Watches who reads files of a folder: by their times of access, which a system changes at least where they are a day old.
 *
 * @returns the first that was read, or changed
 */
export function watchReads(folder: string): () => string | undefined {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const facts = lstatSync(path.join(folder, name));
    // What has a second name may lie within as well.
    return facts.isFile() && facts.nlink === 1;
  });
  for (const name of files) utimesSync(path.join(folder, name), longAgo, longAgo);
  return () => files.find((name) => lstatSync(path.join(folder, name)).atimeMs !== longAgo.getTime());
}

/** Opens the page as a browser does, asks for all that it may show, and for what it may not. */
export async function lookAt(test: TestIo, timers: Set<NodeJS.Timeout>, { pieces }: Input): Promise<void> {
  // Results may have second names: users keep copies of runs so.
  const hasSecondName = pieces.some(({ text }) => text.startsWith('hard '));
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      timers.add(setTimeout(resolve, ms));
    });
  try {
    while (!test.out().includes('\n')) await pause(5);
    const { hostname: host, port, pathname, search } = new URL(test.out().split('\n')[0] ?? '');
    const { headers } = await ask({ host, port }, pathname + search);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const get = async (name: string): Promise<Buffer> => {
      const { body } = await ask({ host, port }, pathname + name, { cookie });
      const isShown = body.includes(canary) || (!hasSecondName && body.includes(privateImage));
      if (isShown) await test.io.out(canary);
      return body;
    };
    for (let looks = 0; looks < 20; looks += 1) {
      test.tick();
      await pause(5);
      await get('api/summary');
    }
    const found = await get('api/results?q=%7B%7D&offset=0&limit=100');
    for (const { at, file, thumbnail } of (JSON.parse(String(found)) as Shown).results) {
      await get(`api/detail/${at}`);
      if (file !== undefined) await get(`files/${file}`);
      if (thumbnail !== undefined) await get(`thumbnails/${thumbnail}`);
    }
    for (const name of ['files/../../../outside/private.png', 'files/%2e%2e/%2e%2e/%2e%2e/outside/file'])
      await get(name);
  } catch {
    // It ended, or says that it cannot show this.
  }
  test.interrupt();
}

interface Shown {
  readonly results: readonly { readonly at: number; readonly file?: string; readonly thumbnail?: string }[];
}

/** The item that stands at a share of a list, from 0 to 1. */
export const atShare = <T>(items: readonly T[], share: string): T | undefined =>
  items[Math.min(items.length - 1, Math.floor(Number(share) * items.length))];

/** A document with another value in one place. */
export function changedWithin(text: string, share: string, value: string): string {
  const document: unknown = JSON.parse(text);
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = [];
  const collect = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const [key, inner] of Object.entries(holder)) {
      places.push({ holder: holder as Record<string, unknown>, key });
      collect(inner);
    }
  };
  collect(document);
  const place = places[Math.floor(Number(share) * places.length)];
  if (place === undefined) return value;
  // What `JSON.parse` makes of the value may be without an equal, such as a property named `__proto__`.
  place.holder[place.key] = '@VALUE@';
  return JSON.stringify(document).replace('"@VALUE@"', () => value);
}
