import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Redactor } from '../../../src/app/output/redact.ts';
import { notify, notifyTarget } from '../../../src/app/service/notify.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { startProxy } from '../../rig/proxy.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver that answers with these statuses one after another, and then with the last one. */
async function receiver(...statuses: readonly number[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const status = statuses[Math.min(seen.length, statuses.length - 1)] ?? 200;
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('thanks');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return { seen, origin: `http://127.0.0.1:${port}` };
}

/** A clock that is wherever somebody waits for it to be. */
function jumpingClock(): { readonly clock: Clock; readonly waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    clock: {
      now: () => now,
      at: (atMs, call) => {
        waits.push(atMs - now);
        now = atMs;
        queueMicrotask(call);
        return () => {};
      },
    },
  };
}

const never = new AbortController().signal;

async function told(
  url: string,
  summary: object,
  more: { redactor?: Redactor; leave?: AbortSignal; env?: Record<string, string> } = {},
) {
  const { redactor = new Redactor(), leave = never, env = {} } = more;
  const target = notifyTarget(url, {}, redactor);
  if (target === undefined) throw new Error('no target');
  const { clock, waits } = jumpingClock();
  return { failure: await notify(target, summary, redactor, { clock, env, leave }), waits };
}

describe('notify', () => {
  it('posts the summary once as JSON, without the key and other secrets', async () => {
    const { seen, origin } = await receiver(204);
    const redactor = new Redactor();
    redactor.addCredential('key-of-the-gateway');
    redactor.add('true');
    const summary = { pipeline: 'foxes', sandbox: true, message: 'wrong key: key-of-the-gateway' };
    const { failure } = await told(`${origin}/hook/0123456789?token=abcdefghij`, summary, { redactor });
    expect(failure).toBeUndefined();
    expect(seen).toHaveLength(1);
    const [{ method, url, headers, body }] = seen as [Seen];
    expect([method, url, headers['content-type']]).toEqual([
      'POST',
      '/hook/0123456789?token=abcdefghij',
      'application/json',
    ]);
    expect(JSON.stringify(headers)).not.toContain('key-of-the-gateway');
    expect(headers.authorization).toBeUndefined();
    expect(JSON.parse(body)).toEqual({ pipeline: 'foxes', sandbox: true, message: 'wrong key: [secret]' });
  });

  it('sends the user and password of the address as a header', async () => {
    const { seen, origin } = await receiver(200);
    await told(origin.replace('//', '//me:pass%20word@'), {});
    expect(seen[0]?.headers.authorization).toBe(`Basic ${btoa('me:pass word')}`);
    expect(seen[0]?.url).toBe('/');
  });

  it.each([[500], [429], [408]])('tries again after %i, with increasing waits', async (status) => {
    const { seen, origin } = await receiver(status, status, 200);
    const { failure, waits } = await told(origin, {});
    expect([failure, seen.length, waits]).toEqual([undefined, 3, [1000, 3000]]);
  });

  it('gives up after four tries, and says so without the address', async () => {
    const { seen, origin } = await receiver(503);
    const { failure } = await told(`${origin}/services/T0123456789`, {});
    expect(seen).toHaveLength(4);
    expect(failure).toContain(`${origin}: it answered with 503`);
    expect(failure).not.toContain('T0123456789');
  });

  it.each([[300], [400], [401], [404], [302]])(
    'does not repeat what %i refuses, nor follow it',
    async (status) => {
      const { seen, origin } = await receiver(status);
      const { failure } = await told(origin, {});
      expect([seen.length, failure]).toEqual([1, expect.stringContaining(String(status))]);
    },
  );

  it('does not try again if the wait would end after half a minute', async () => {
    const { seen, origin } = await receiver(503);
    let now = 0;
    // Each try takes twelve seconds.
    const clock: Clock = {
      now: () => now,
      at: (atMs, call) => {
        now = atMs + 12_000;
        queueMicrotask(call);
        return () => {};
      },
    };
    await notify({ url: origin, origin }, {}, new Redactor(), { clock, env: {}, leave: never });
    expect(seen).toHaveLength(3);
  });

  it('ends a wait between two tries at once when the run is left, and cancels its alarm', async () => {
    const { seen, origin } = await receiver(503);
    const leave = new AbortController();
    let cancelled = 0;
    const clock: Clock = {
      now: () => 0,
      at: () => {
        queueMicrotask(() => leave.abort());
        return () => {
          cancelled += 1;
        };
      },
    };
    const ports = { clock, env: {}, leave: leave.signal };
    expect(await notify({ url: origin, origin }, {}, new Redactor(), ports)).toBeUndefined();
    expect([seen.length, cancelled]).toEqual([1, 1]);
  });

  it('tries again if nobody listens, and gives up', async () => {
    const { failure, waits } = await told('http://127.0.0.1:9/hook', {});
    expect(waits).toEqual([1000, 3000, 6000]);
    expect(failure).toContain('http://127.0.0.1:9');
  });

  it('goes through a proxy of the environment, and asks a refusing proxy once', async () => {
    const { seen, origin } = await receiver(204);
    await using open = await startProxy();
    expect((await told(origin, {}, { env: { http_proxy: open.url } })).failure).toBeUndefined();
    expect([seen.length, open.asked]).toEqual([1, [`POST ${origin}/`]]);
    await using closed = await startProxy({ login: 'me:secret' });
    const { failure, waits } = await told(origin, {}, { env: { http_proxy: closed.url } });
    expect([closed.asked.length, waits, failure]).toEqual([1, [], expect.stringContaining('USER:PASSWORD')]);
  });

  it('sends nothing after the second signal', async () => {
    const { seen, origin } = await receiver(200);
    const { failure } = await told(origin, {}, { leave: AbortSignal.abort() });
    expect([failure, seen.length]).toEqual([undefined, 0]);
  });
});

describe('notifyTarget', () => {
  it('prefers the flag to the variable', () => {
    const env = { PROMPTPRESS_NOTIFY: 'https://b.example/' };
    expect(notifyTarget('https://a.example/', env, new Redactor())?.url).toBe('https://a.example/');
    expect(notifyTarget(undefined, env, new Redactor())?.url).toBe('https://b.example/');
    expect(notifyTarget(undefined, { PROMPTPRESS_NOTIFY: '' }, new Redactor())).toBeUndefined();
  });

  it.each(['nonsense-with-a-token', 'file:///etc/passwd', 'ftp://a.example/0123456789'])(
    'refuses %s and does not show it',
    (url) => {
      let message = '';
      try {
        notifyTarget(url, {}, new Redactor());
      } catch (error) {
        message = `${(error as Error).message} ${(error as { hint?: string }).hint}`;
      }
      expect(message).toContain('--notify');
      expect(message).not.toContain(url);
    },
  );

  it('masks every part of the address that may be a token', () => {
    const redactor = new Redactor();
    notifyTarget('https://me:password1@a.example/hook/T01234567?key=K01234567', {}, redactor);
    const said = redactor.apply(
      'T01234567 K01234567 password1 https://a.example/hook/T01234567?key=K01234567',
    );
    for (const secret of ['T01234567', 'K01234567', 'password1']) expect(said).not.toContain(secret);
  });
});
