import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { PageFound, PageQuery, PageSummary } from '../../src/report/results/wire.ts';
import { summaryOf } from './report.ts';
import { type Row, rowsOfCell } from './rows.ts';

const built = fileURLToPath(new URL('../../dist/page/', import.meta.url));
const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** A server that answers as `promptpress serve` does, about a run that goes on when the test says so. */
export interface LiveServer extends AsyncDisposable {
  readonly address: string;
  /** Plans this many cells, and tells those who listen. */
  readonly grow: (cells: number) => void;
  /** Leaves requests without an answer and ends connections, or no longer. */
  readonly fail: (failing: boolean) => void;
  /** Addresses of results that were asked for. */
  readonly asked: readonly string[];
}

export async function startLiveServer(cells: number): Promise<LiveServer> {
  const listeners = new Set<ServerResponse>();
  const asked: string[] = [];
  let [rows, summary, failing] = [rowsOf(cells), summaryOfLive(cells), false];
  const changed = (): string => `event: changed\ndata: ${JSON.stringify(summary)}\n\n`;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const json = (value: unknown): void => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    };
    const file = pathname === '/' ? 'index.html' : pathname.slice(1);
    if (failing) request.socket.destroy();
    else if (pathname === '/api/summary') json(summary);
    else if (pathname === '/api/results') {
      asked.push(request.url ?? '');
      const query = JSON.parse(searchParams.get('q') ?? '{}') as PageQuery;
      const found = rows.filter(({ result }) => query.steps?.includes(result.step) ?? true);
      const offset = Number(searchParams.get('offset'));
      const results = found
        .slice(offset, offset + Number(searchParams.get('limit')))
        .map(({ result }) => result);
      json({ total: found.length, results } satisfies PageFound);
    } else if (pathname.startsWith('/api/detail/')) json(rows[Number(pathname.slice(12))]?.detail);
    else if (pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(changed());
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
    } else if (['index.html', 'page.js', 'page.css', 'icon.svg'].includes(file)) {
      const text = readFileSync(built + file, 'utf8').replace('data-source="disk"', 'data-source="live"');
      response.setHeader('content-type', types[file.replace(/.*\./, '')] ?? '').end(text);
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    grow: (more) => {
      [rows, summary] = [rowsOf(more), summaryOfLive(more)];
      for (const listener of listeners) listener.write(changed());
    },
    fail: (now) => {
      failing = now;
      if (now) server.closeAllConnections();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const rowsOf = (cells: number): readonly Row[] =>
  Array.from({ length: cells }, (_, cell) => rowsOfCell(cell, () => false)).flat();

function summaryOfLive(cells: number): PageSummary {
  const { files: _files, ...summary } = summaryOf('foxes', cells, () => false);
  return { ...summary, live: true, at: summary.at + cells };
}
