import type { Clock } from '../../run/clock.ts';
import { BodyPool } from '../../service/http/body/budget.ts';
import { createDispatcher } from '../../service/http/connect/dispatcher.ts';
import { exchange, receiveWhole, type Transport } from '../../service/http/exchange.ts';
import { isPassingStatus } from '../../service/http/retry-after.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Environment } from '../output/io.ts';
import type { Redactor } from '../output/redact.ts';
import { version } from '../version.ts';

/** The variable that stands for `--notify`. */
export const notifyVariable = 'PROMPTPRESS_NOTIFY';

/** Of one request. */
const requestMs = 10_000;

/** Waits between tries: what a receiver that is just starting needs. */
const waitsMs = [1_000, 3_000, 6_000] as const;

/** Of all tries together: nobody waits longer for the end of a run. */
const longestMs = 30_000;

/** Of an answer, which nobody reads. */
const mostAnswerBytes = 64 * 1024;

/** Where the summary of a run is posted. */
export interface NotifyTarget {
  readonly url: string;
  /** What of it may be shown: the rest may be a token. */
  readonly origin: string;
  readonly authorization?: string;
}

/**
 * Reads `--notify`, or its variable. Whatever in the address may be a token is masked from here on.
 *
 * @returns undefined where neither is given
 * @throws CliError (exit 2), which does not show the address
 */
export function notifyTarget(
  flag: string | undefined,
  env: Environment,
  redactor: Redactor,
): NotifyTarget | undefined {
  const text = flag ?? env[notifyVariable] ?? '';
  if (text === '') return undefined;
  const name = flag === undefined ? notifyVariable : '--notify';
  redactor.add(text);
  if (!URL.canParse(text))
    throw usageError(
      `${name} is not a URL.`,
      'Expected something like https://hooks.example.com/promptpress.',
    );
  const url = new URL(text);
  const { origin, username, password } = url;
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw usageError(`${name} must begin with https:// or http://, not ${url.protocol}`);
  const user = [username, password].map(plainText).join(':');
  const authorization = user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`;
  url.username = '';
  url.password = '';
  url.hash = '';
  for (const secret of [url.href, password, ...url.pathname.split('/'), ...url.searchParams.values()])
    if (secret.length >= leastToken) redactor.add(secret);
  return { url: url.href, origin, ...(authorization === undefined ? {} : { authorization }) };
}

/** Part of an address, without its percent signs where these stand for something. */
function plainText(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A shorter part of an address is a word. */
const leastToken = 8;

/** What a notification needs of the world. */
export interface NotifyPorts {
  readonly clock: Clock;
  /** Proxies of it are used, as for the service. */
  readonly env: Environment;
  /** The second signal: nobody waits any more. */
  readonly leave: AbortSignal;
}

/**
 * Posts an object as JSON, a few times if need be. Texts in it are without secrets, and it goes out without the key of the gateway.
 *
 * @returns why it was not delivered, for the user; undefined: it was, or nobody waits for it any more. Never rejects
 */
export async function notify(
  { url, origin, authorization }: NotifyTarget,
  summary: object,
  redactor: Redactor,
  { clock, env, leave }: NotifyPorts,
): Promise<string | undefined> {
  const until = clock.now() + longestMs;
  const body = JSON.stringify(summary, (_, value: unknown) =>
    typeof value === 'string' ? redactor.apply(value) : value,
  );
  const headers = {
    'content-type': 'application/json',
    'user-agent': `promptpress/${version}`,
    ...(authorization === undefined ? {} : { authorization }),
  };
  let failure = '';
  try {
    const dispatcher = createDispatcher({ connections: 1, connectMs: requestMs, env });
    const transport: Transport = {
      via: { dispatcher },
      maxBodyBytes: mostAnswerBytes,
      bodies: new BodyPool(),
    };
    try {
      for (const waitMs of [...waitsMs, undefined]) {
        if (leave.aborted) return undefined;
        const request = { method: 'POST', url, headers, body, timeoutMs: requestMs } as const;
        const sent = await exchange(request, transport, leave, receiveWhole);
        if (leave.aborted) return undefined;
        if (sent.ok && sent.value.status >= 200 && sent.value.status < 300) return undefined;
        failure = sent.ok ? `it answered with ${sent.value.status}` : sent.failure.what;
        const mayPass = sent.ok ? isPassingStatus(sent.value.status) : !sent.failure.lasting;
        if (!mayPass || waitMs === undefined || clock.now() + waitMs > until) break;
        await resting(clock, waitMs, leave);
      }
    } finally {
      await dispatcher.destroy();
    }
  } catch (error) {
    failure = (error as Error).message;
  }
  return redactor.apply(`The end of the run could not be told to ${origin}: ${failure}.`);
}

const resting = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.at(clock.now() + ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
