import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { release } from 'node:os';
import { extname, join } from 'node:path';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import { aMapping, aText, aWord, listOf, mapOf, type Shape } from '../../pipeline/values/shape.ts';
import { reportFiles, runFiles } from '../facts/layout.ts';
import { Access, Strangers } from './http/access.ts';
import { send, sendJson, sendText, writeHead } from './http/answer.ts';
import { sendArtifact } from './http/artifact.ts';
import { LiveThumbnails, thumbnailName, thumbnailOf } from './http/thumbnails.ts';
import { Viewers } from './http/viewers.ts';
import type { IndexQuery } from './index/find.ts';
import { Abandoned } from './index/found-lists.ts';
import { IndexClosed, type PlacedResult } from './index/result-index.ts';
import { RunWatch, type WatchOptions } from './watch.ts';

export interface ServeOptions extends WatchOptions {
  readonly directory: string;
  readonly page: string;
  readonly artifacts: Pick<ArtifactStore, 'get' | 'open'>;
  /** Port on 127.0.0.1; 0: any free port. Undefined: any free port on a random loopback address, if the system has more than one. */
  readonly port: number | undefined;
  /** Called when a browser has used the address, with the address for the next browser. */
  readonly onEntered: (address: string) => void;
  /** Calls back about every `ms` milliseconds. Returns a function that stops it. */
  readonly every: (ms: number, call: () => void) => () => void;
}

export interface Serving {
  /** Address for the browser, with the first token. */
  readonly address: string;
  /** Resolves when all results are indexed. */
  readonly filled: Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds between two reads of the state, and between two events to a viewer. */
const lookMs = 500;

/** Large enough for the keys of some thousand jobs in a request. */
const maxHeaderBytes = 512 * 1024;

const maxConnections = 512;

/**
 * Starts a server that shows a run, even while it is active. It only reads; all viewers share one index.
 *
 * @throws what the plan and the state throw; the system's error if the port cannot be opened
 */
export async function startServing(options: ServeOptions): Promise<Serving> {
  const page = await readPage(options.page);
  const watch = await RunWatch.open(options);
  const thumbnails = new LiveThumbnails(
    join(options.directory, runFiles.report, reportFiles.thumbnails),
    options.artifacts,
  );
  const access = new Access();
  const viewers = new Viewers();
  const strangers = new Strangers();
  const server = createServer({ maxHeaderSize: maxHeaderBytes }, (request, response) => {
    void answer(request, response, {
      ...options,
      page,
      watch,
      thumbnails,
      access,
      strangers,
      viewers,
      address,
    });
  });
  const address = (): URL => {
    const { address: host, port } = server.address() as AddressInfo;
    return new URL(`http://${host}:${port}${access.path}?token=${access.token}`);
  };
  server.on('connection', (socket) => strangers.add(socket));
  server.maxConnections = maxConnections;
  const close = async (): Promise<void> => {
    stop();
    viewers.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    await thumbnails.close();
    await watch.close();
  };
  let news = false;
  const look = async (): Promise<void> => {
    if (await watch.look()) news = true;
  };
  const stop = options.every(lookMs, () => {
    // Sent at the next tick, so that two events are never closer, however long a read takes.
    viewers.tick(news ? watch.summary : undefined);
    news = false;
    void look();
  });
  try {
    await listeningOn(server, options.port);
  } catch (error) {
    await close();
    throw error;
  }
  return { address: address().href, filled: watch.filled, close };
}

/**
 * Listens on a random address of 127.0.0.0/8 on Linux, because cookies belong to one address. Other systems have only 127.0.0.1, and
 * from WSL the Windows browser reaches no other address.
 */
async function listeningOn(server: Server, port: number | undefined): Promise<void> {
  if (port === undefined && !release().toLowerCase().includes('microsoft')) {
    try {
      const own = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
      await listening(server, 0, own);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
    }
  }
  await listening(server, port ?? 0, '127.0.0.1');
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

interface Answering extends Pick<ServeOptions, 'artifacts' | 'onProblem' | 'onEntered'> {
  /** Returns the address for the next browser. */
  readonly address: () => URL;
  readonly page: ReadonlyMap<string, PageFile>;
  readonly watch: RunWatch;
  readonly thumbnails: LiveThumbnails;
  readonly access: Access;
  readonly strangers: Strangers;
  readonly viewers: Viewers;
}

/** Responds to a request; never rejects. */
async function answer(request: IncomingMessage, response: ServerResponse, context: Answering): Promise<void> {
  try {
    await route(request, response, context);
  } catch (error) {
    const isExpected = error instanceof Abandoned || error instanceof IndexClosed;
    if (response.destroyed) return;
    if (!isExpected) context.onProblem(error);
    if (response.headersSent) response.destroy();
    else sendText(response, isExpected ? 503 : 500, 'The server cannot answer this now.');
  }
}

async function route(request: IncomingMessage, response: ServerResponse, context: Answering): Promise<void> {
  const { access, watch, page } = context;
  if (!Access.isOwnHost(request.headers.host, context.address().hostname))
    return sendText(response, 403, 'This server answers only at its own address or as localhost.');
  if (!Access.isOwnPage(request.headers['sec-fetch-site']?.toString()))
    return sendText(
      response,
      403,
      'This request comes from another page. Paste the address that promptpress serve printed.',
    );
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return sendText(response, 405, 'This server only accepts GET and HEAD.', { allow: 'GET, HEAD' });
  const url = addressOf(request.url);
  if (url === undefined) return sendText(response, 400, 'This is no address.');
  const isGranted = access.isGranted(request.headers.cookie);
  const token = url.searchParams.get('token');
  if (url.pathname === access.path && token !== null && request.method === 'GET') {
    const hasEntered = access.enter(token);
    if (hasEntered || isGranted) {
      const cookie = hasEntered ? { 'set-cookie': access.setCookie } : {};
      writeHead(response, 303, { location: './', ...cookie, 'content-length': 0 });
      response.end();
      if (hasEntered) context.onEntered(context.address().href);
      return;
    }
  }
  const path = decoded(url.pathname);
  if (path === undefined) return sendText(response, 400, 'This is no address.');
  if (!isGranted || !path.startsWith(access.path))
    return sendText(
      response,
      401,
      'Open the last address that promptpress serve printed: its token lets one browser in.',
    );
  context.strangers.admit(request.socket);
  const name = path.slice(access.path.length);
  const file = page.get(name);
  if (file !== undefined) return send(response, 200, file.type, file.body, { 'cache-control': 'no-cache' });
  const [, folder = '', rest = ''] = /^([a-z]+)\/(.+)$/s.exec(name) ?? [];
  if (folder === 'api') return await answerApi(rest, url.searchParams, response, context);
  if (folder === 'files')
    return await sendArtifact(request, response, rest, { ...context, index: watch.index });
  if (folder === 'thumbnails') return await sendThumbnail(rest, response, context);
  return sendText(response, 404, 'There is nothing at this address.');
}

function addressOf(target: string | undefined): URL | undefined {
  try {
    return target?.startsWith('/') === true ? new URL(`http://127.0.0.1${target}`) : undefined;
  } catch {
    return undefined;
  }
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

async function answerApi(
  path: string,
  parameters: URLSearchParams,
  response: ServerResponse,
  { watch, viewers }: Answering,
): Promise<void> {
  const { index } = watch;
  const [name = '', argument] = path.split('/');
  if (path === 'summary') return sendJson(response, watch.summary);
  if (path === 'events') return viewers.add(response, watch.summary);
  if (path === 'results') {
    const asked = askedResults(parameters);
    if (asked === undefined) return sendText(response, 400, 'The parameters are not valid.');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { results, ...found } = await index.find(asked.query, asked, gone.signal);
    return sendJson(response, JSON.stringify({ ...found, results: results.map(shown) }));
  }
  if (name === 'detail' && argument !== undefined && /^\d{1,15}$/.test(argument)) {
    const detail = await index.detail(Number(argument), watch.live);
    if (detail !== undefined) return sendJson(response, JSON.stringify(detail));
  }
  if (name === 'other-cells' && argument !== undefined && /^\d{1,15}$/.test(argument))
    return sendJson(response, JSON.stringify(index.otherCells(Number(argument))));
  if (name === 'of-job' && argument !== undefined)
    return sendJson(response, JSON.stringify(index.ofJob(argument)[0]?.at ?? null));
  return sendText(response, 404, 'There is nothing at this address.');
}

function shown(placed: PlacedResult): unknown {
  const thumbnail = thumbnailName(placed);
  return { at: placed.at, ...placed.result, ...(thumbnail === undefined ? {} : { thumbnail }) };
}

async function sendThumbnail(
  name: string,
  response: ServerResponse,
  { watch, thumbnails }: Answering,
): Promise<void> {
  const asked = thumbnailOf(name);
  const result = asked === undefined ? undefined : watch.index.result(asked.id);
  const small =
    result?.sha256 === asked?.sha256 && result !== undefined ? await thumbnails.of(result) : undefined;
  if (small === undefined) return sendText(response, 404, 'There is no such thumbnail.');
  // The hash in the address identifies the content.
  send(response, 200, 'image/webp', small, { 'cache-control': 'private, max-age=86400, immutable' });
}

const maxResults = 500;

interface AskedResults {
  readonly query: IndexQuery;
  readonly offset: number;
  readonly limit: number;
}

/** Parses the parameters `q`, `offset` and `limit`; undefined if they are invalid. */
function askedResults(parameters: URLSearchParams): AskedResults | undefined {
  const offset = wholeNumber(parameters.get('offset') ?? '0');
  const limit = wholeNumber(parameters.get('limit') ?? '100');
  if (offset === undefined || limit === undefined || limit > maxResults) return undefined;
  try {
    const query: unknown = JSON.parse(parameters.get('q') ?? '{}');
    return isQuery(query) ? { query: known(query), offset, limit } : undefined;
  } catch {
    return undefined;
  }
}

const wholeNumber = (text: string): number | undefined =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined;

const texts = listOf(aText);

const queryParts = {
  search: aText,
  steps: texts,
  statuses: texts,
  errorCode: aText,
  vars: mapOf(texts),
  sort: aWord('plan', 'newest', 'cost', 'duration'),
  jobs: texts,
} as const satisfies Readonly<Record<keyof IndexQuery, Shape>>;

const isQuery = aMapping({}, queryParts) as (value: unknown) => value is IndexQuery;

/** Removes unknown members, so that equal queries have equal texts. */
const known = (query: IndexQuery): IndexQuery =>
  Object.fromEntries(
    (Object.keys(queryParts) as (keyof IndexQuery)[]).flatMap((name) =>
      name in query ? [[name, query[name]]] : [],
    ),
  );

interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the files of the built page by name; `index.html` has the empty name and is marked as live, see `PageFiles`. */
async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const body = await readFile(join(folder, name));
    if (name !== reportFiles.page) {
      files.set(name, { type, body });
      continue;
    }
    const page = body
      .toString('utf8')
      .replace('<!-- promptpress:summary -->', '')
      .replace('data-source="disk"', 'data-source="live"');
    files.set('', { type, body: Buffer.from(page) });
  }
  return files;
}
