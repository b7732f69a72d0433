import { type IncomingHttpHeaders, request } from 'node:http';
import { program } from '../../src/cli/program.ts';
import type { PageFound, PageSummary } from '../../src/report/results/wire.ts';
import { type TestIo, testIo } from '../cli/test-io.ts';

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Headers = Readonly<Record<string, string>>;

/** Asks a server for any path with any header, as they are written here: `fetch` would mend some. */
export const ask = (
  { host, port }: Pick<Served, 'host' | 'port'>,
  path: string,
  headers: Headers = {},
  method = 'GET',
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request({ host, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });

/** A viewer of the page: it hears of changes. */
export interface Viewer {
  readonly status: number | undefined;
  /** What it heard so far. */
  readonly summaries: readonly PageSummary[];
  readonly isOpen: boolean;
  readonly leave: () => void;
}

/** `promptpress serve` in this process. It looks at the state when the test says so: `test.tick()`. */
export class Served {
  readonly test: TestIo;
  readonly running: Promise<number>;
  host = '';
  port = '';
  /** What all its addresses begin with, without the slash at the end. */
  base = '';
  /** The first one, which has let the first load in. */
  token = '';
  cookie = '';

  private constructor(cwd: string, args: readonly string[]) {
    this.test = testIo({ cwd });
    this.running = program(['serve', ...args], this.test.io);
  }

  /** Resolves once the first load has moved the token into the cookie. */
  static async open(cwd: string, ...args: readonly string[]): Promise<Served> {
    const served = new Served(cwd, args);
    const { test } = served;
    while (!test.out().includes('\n')) {
      if (test.err() !== '') throw new Error(test.err());
      await nextTurn();
    }
    const { hostname, port, pathname, searchParams } = served.address;
    served.host = hostname;
    served.port = port;
    served.base = pathname.slice(0, -1);
    served.token = searchParams.get('token') ?? '';
    const { headers } = await served.ask(`/?token=${served.token}`);
    served.cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    return served;
  }

  /** The last address that it printed, which lets the next browser in. */
  get address(): URL {
    return new URL(this.test.out().trim().split('\n').at(-1) ?? '');
  }

  /** Without the cookie. */
  ask(path: string, headers: Headers = {}, method?: string): Promise<Answer> {
    return ask(this, this.base + path, headers, method);
  }

  get(path: string, headers: Headers = {}, method?: string): Promise<Answer> {
    return this.ask(path, { cookie: this.cookie, ...headers }, method);
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse(String((await this.get(path)).body)) as T;
  }

  summary(): Promise<PageSummary> {
    return this.json('/api/summary');
  }

  results(query: object = {}): Promise<PageFound> {
    return this.json(`/api/results?q=${encodeURIComponent(JSON.stringify(query))}&offset=0&limit=100`);
  }

  /** Looks at the state until the summary is so. */
  async until(isSo: (summary: PageSummary) => boolean): Promise<PageSummary> {
    for (;;) {
      const summary = await this.summary();
      if (isSo(summary)) return summary;
      this.test.tick();
      await nextTurn();
    }
  }

  /** Looks at the state until all results of a run that is over are there. */
  filled(): Promise<PageSummary> {
    return this.until(
      ({ results, indexed, statuses }) =>
        results > 0 && indexed === results && Object.keys(statuses).length > 0,
    );
  }

  watch(): Promise<Viewer> {
    return new Promise((resolve, reject) => {
      const headers = { cookie: this.cookie };
      const asked = request({
        host: this.host,
        port: this.port,
        path: `${this.base}/api/events`,
        headers,
        agent: false,
      });
      asked.on('error', reject);
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', () => {});
        resolve({
          status: response.statusCode,
          get summaries() {
            return text
              .split('\n\n')
              .slice(0, -1)
              .flatMap((event) => /^event: changed\ndata: (.*)$/.exec(event)?.[1] ?? [])
              .map((data) => JSON.parse(data) as PageSummary);
          },
          get isOpen() {
            return !response.destroyed;
          },
          leave: () => asked.destroy(),
        });
      });
      asked.end();
    });
  }

  /** As Ctrl-C does. @returns the exit code */
  async end(): Promise<number> {
    this.test.interrupt();
    return await this.running;
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
