import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';

export const key = 'sandbox-key';

/** What a fetch or a submission answered, with any body. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** A clock that only moves when a test moves it. */
export class Clock {
  time = 1_790_000_000_000;
  readonly now = (): number => this.time;
}

/** A sandbox and a plain client for it. */
export class Client {
  readonly sandbox: Sandbox;
  readonly clock: Clock;

  constructor(sandbox: Sandbox, clock: Clock) {
    this.sandbox = sandbox;
    this.clock = clock;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestResponse> {
    const response = await fetch(`${this.sandbox.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body:
        text !== '' && response.headers.get('content-type')?.startsWith('application/json')
          ? JSON.parse(text)
          : text,
    };
  }

  imagine(prompt: string, prefix = '', more: object = {}): Promise<TestResponse> {
    return this.send('POST', `${prefix}/img/submit/imagine`, { botType: 'IMG_JOURNEY', prompt, ...more });
  }

  action(taskId: string, customId: string, prefix = '', more: object = {}): Promise<TestResponse> {
    return this.send('POST', `${prefix}/img/submit/action`, { taskId, customId, ...more });
  }

  submit(route: string, body: object): Promise<TestResponse> {
    return this.send('POST', `/img/submit/${route}`, body);
  }

  async task(id: string) {
    return (await this.send('GET', `/img/task/${id}/fetch`)).body;
  }

  /** The id of a finished imagine. */
  async finished(prompt: string): Promise<string> {
    const { body } = await this.imagine(prompt);
    this.clock.time += 3_600_000;
    return body.result;
  }

  /** What pressing the button with this label or emoji answers. */
  async click(id: string, label: string, more: object = {}): Promise<TestResponse> {
    const { buttons } = await this.task(id);
    const button = buttons.find(
      (each: { label: string; emoji: string }) => (each.label === '' ? each.emoji : each.label) === label,
    );
    return this.action(id, button?.customId ?? 'none', '', more);
  }

  /** The finished picture of a task. */
  async picture(id: string): Promise<Buffer> {
    return this.bytes((await this.task(id)).imageUrl);
  }

  async bytes(url: string): Promise<Buffer> {
    const response = await fetch(url);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  }

  /** Lets everything finish. */
  wait(): void {
    this.clock.time += 3_600_000;
  }

  /** Presses the button with this label or emoji and lets the new task finish; its id. */
  async press(id: string, label: string): Promise<string> {
    const { body } = await this.click(id, label);
    this.clock.time += 3_600_000;
    return body.result;
  }
}

/** Starts a sandbox on a still clock; small pictures, so that tests are quick. */
export async function start(options: Partial<SandboxOptions> = {}, clock = new Clock()): Promise<Client> {
  const sandbox = await startSandbox({
    apiKey: key,
    now: clock.now,
    ...options,
    settings: { pixels: 64, ...options.settings },
  });
  return new Client(sandbox, clock);
}
