import { setMaxListeners } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Studio } from './draw/studio.ts';
import { Ledger, type LoggedRequest, type SandboxCounters } from './http/ledger.ts';
import { pageReply, RequestIds } from './http/reply.ts';
import { Service } from './http/service.ts';
import { neutralNames, type SandboxNames } from './names.ts';
import { completeSettings, type SandboxSettings } from './settings.ts';
import { Admission } from './tasks/admission.ts';
import { MemoryBook, type TaskBook } from './tasks/store/book.ts';
import { DiskBook } from './tasks/store/disk-book.ts';
import { TextDesk } from './text/desk.ts';

/** The options of {@link startSandbox}. */
export interface SandboxOptions {
  /** The port on 127.0.0.1; default 0: any free one. */
  readonly port?: number;
  /** The names of paths, fields and headers; default: the neutral ones (gateway 1.2). */
  readonly names?: SandboxNames;
  /** A folder for the tasks, with which a later sandbox continues them; default: memory only. */
  readonly state?: string;
  /** The only key that is accepted. */
  readonly apiKey: string;
  readonly settings?: Partial<SandboxSettings>;
  /** The clock of the tasks, in unix ms; default: the wall clock at the start, then a clock that nobody sets. */
  readonly now?: () => number;
  /** Seed of the faults with a probability; default `sandbox`. */
  readonly seed?: string;
}

/** A running sandbox. */
export interface Sandbox {
  /** The base address, for example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** The counts since the start; also at GET /sandbox/counters. */
  counters(): SandboxCounters;
  /** The newest requests, oldest first; also at GET /sandbox/requests. */
  requests(): readonly LoggedRequest[];
  /** Cuts every connection, frees the ports and closes the state. */
  close(): Promise<void>;
}

/**
 * Starts a local service with the image workflow and the text endpoints (gateway 1.1) on 127.0.0.1, and the web host of its redirects on
 * a second port.
 * @throws RangeError for a setting out of range, Error if the port is taken or the state folder cannot be locked
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const settings = completeSettings(options.settings);
  const names = options.names ?? neutralNames;
  // A change of the system clock must not end or delay tasks.
  const start = Date.now() - performance.now();
  const now = options.now ?? (() => Math.floor(start + performance.now()));
  const seed = options.seed ?? 'sandbox';
  if (!/^[\x21-\x7e]+$/.test(options.apiKey))
    throw new RangeError('The key of the sandbox must be printable ASCII without spaces, and not empty.');

  const book: TaskBook =
    options.state === undefined ? new MemoryBook(settings.taskLimit) : new DiskBook(options.state);
  const ledger = new Ledger(settings.requestLog);
  const studio = new Studio(settings, (sha256) => {
    const bytes = book.images.get(sha256);
    if (bytes === undefined) throw new Error(`the image ${sha256} is not kept any more`);
    return bytes;
  });
  const closing = new AbortController();
  // Each response in flight has a listener: as many as there are responses, not a leak.
  setMaxListeners(0, closing.signal);
  const ports = { service: 0, site: 0 };
  const service = new Service({
    settings,
    names,
    apiKey: options.apiKey,
    seed,
    now,
    book,
    admission: new Admission(book, settings, now),
    texts: new TextDesk({ settings, names, studio }),
    studio,
    ledger,
    ids: new RequestIds(seed),
    closing: closing.signal,
    ports: () => ports,
  });

  const page = pageReply();
  const site = await listen(0, (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': page.type }).end(page.body);
  }).catch((failure: unknown) => {
    book.close();
    throw failure;
  });
  const api = await listen(options.port ?? 0, (request, response) => {
    void service.handle(request, response);
  }).catch(async (failure: unknown) => {
    await site.close();
    book.close();
    throw failure;
  });
  ports.service = api.port;
  ports.site = site.port;

  return {
    url: `http://127.0.0.1:${api.port}`,
    counters: () => ledger.counters(),
    requests: () => ledger.requests(),
    async close() {
      closing.abort();
      await Promise.all([api.close(), site.close()]);
      await studio.close();
      book.close();
    },
  };
}

/** A listening server on 127.0.0.1. */
interface Listening {
  readonly port: number;
  /** Cuts every connection and frees the port. */
  close(): Promise<void>;
}

/**
 * Opens an HTTP server on 127.0.0.1 with time-outs for headers and requests, and a bound on connections.
 * @throws the listening error, for example EADDRINUSE
 */
async function listen(port: number, listener: RequestListener): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16_384,
    },
    listener,
  );
  server.maxConnections = 2_000;
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
