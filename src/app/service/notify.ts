import type { Clock } from '../../run/clock.ts';
import { BodyPool } from '../../service/http/body/budget.ts';
import { createDispatcher } from '../../service/http/connect/dispatcher.ts';
import { exchange, receiveWhole, type Transport } from '../../service/http/exchange.ts';
import { isPassingStatus } from '../../service/http/statuses.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Environment } from '../output/io.ts';
import type { Redactor } from '../output/redact.ts';
import { version } from '../version.ts';

/** Variable that replaces `--notify`. */
export const notifyVariable = 'PROMPTPRESS_NOTIFY';

/** Time limit of one request, ms. */
const requestMs = 10_000;

/** Waits between tries, ms: a receiver may be just starting. */
const waitsMs = [1_000, 3_000, 6_000] as const;

/** Time limit of all tries together, ms. */
const longestMs = 30_000;

/** Largest size of an answer, in bytes; its content is not used. */
const maxAnswerBytes = 64 * 1024;

/** The address that the summary of a run is posted to. */
export interface NotifyTarget {
  readonly url: string;
  /** The part of it that may be shown: the rest may be a token. */
  readonly origin: string;
  readonly authorization?: string;
}

/**
 * Reads `--notify`, or its variable. Every part of the address that may be a token is masked from here on.
 *
 * @returns undefined if neither is given
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

/** Decodes a part of an address if its percent signs are valid. */
function plainText(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Length from which a part of an address is treated as a token; a shorter part is a word. */
const leastToken = 8;

/** The access to the outside that a notification needs. */
export interface NotifyPorts {
  readonly clock: Clock;
  /** Environment with proxies, which are used as for the service. */
  readonly env: Environment;
  /** Aborted by the second signal: do not wait any longer. */
  readonly leave: AbortSignal;
}

/**
 * Posts an object as JSON, a few times if necessary. Secrets in it are masked, and the gateway's key is not sent.
 *
 * @returns why it was not delivered, for the user; undefined: it was, or the wait was aborted. Never rejects
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
      maxBodyBytes: maxAnswerBytes,
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
  return redactor.apply(`The end of the run could not be reported to ${origin}: ${failure}.`);
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
