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

/** Asks 127.0.0.1 for any path with any header, as they are written here: `fetch` would mend some. */
export const ask = (port: string, path: string, headers: Headers = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
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
  port = '';
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
    const { port, searchParams } = new URL(test.out().split('\n')[0] ?? '');
    served.port = port;
    served.token = searchParams.get('token') ?? '';
    const { headers } = await ask(port, `/?token=${served.token}`);
    served.cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    return served;
  }

  get(path: string, headers: Headers = {}, method?: string): Promise<Answer> {
    return ask(this.port, path, { cookie: this.cookie, ...headers }, method);
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
        host: '127.0.0.1',
        port: this.port,
        path: '/api/events',
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
