import {
  type Fault,
  type FaultEffect,
  type FaultTiming,
  failReasons,
  faultRoutes,
  linkFaults,
  refusals,
  routesOf,
  statusTexts,
  submissionRoutes,
} from './fault.ts';

/** A fault that was read, or a sentence that says what is wrong with its text. */
export type ParsedFault =
  | { readonly ok: true; readonly value: Fault }
  | {
      readonly ok: false;
      readonly error: string;
      /** Everything that can be written, in lines. */
      readonly hint?: string;
    };

const statusList = [...statusTexts.keys()].join(', ');

const usage =
  'expected route:fault[=detail][:when], for example submit:429=2:10%, fetch:latency=300ms, image:truncate:every-5';

const effectWords =
  'a status (429, 429=<Retry-After in s>, 504-after), latency=<ms>, drip=<ms>, reset-before, reset-after, no-http[=tls|http2], truncate, html, ' +
  'redirect, invalid-request, hidden-timeout, hidden-timeout-before, code=<submit code>, not-ready[=status|missing|button], stuck, ' +
  'cancel, forget, fail[=<reason or its name>], refuse=<name>, link=expired|foreign|missing|loopback|path|stale-videos, status=<word>, ' +
  'json=<status>, challenge or half-jpeg';

/**
 * Reads a fault of the command line: `route:fault[=detail][:when]`. `when` is `10%`, `0.1`, `every 5`, `first 3` or `at 4` (or with
 * a dash: `at-4`); without it the fault always strikes.
 */
export function parseFault(text: string): ParsedFault {
  const fail = (error: string): ParsedFault => ({ ok: false, error: `fault ${text}: ${error}` });
  const colon = text.indexOf(':');
  const route = faultRoutes.find((word) => word === text.slice(0, Math.max(0, colon)).trim());
  if (route === undefined) {
    const problem =
      colon < 0
        ? `no route stands before a colon: ${usage}`
        : `there is no such route: expected the route ${faultRoutes.join(', ')}; ${usage}`;
    const hint = `Routes: ${faultRoutes.join(', ')}.\nFaults: ${effectWords}.\nWhen: 10%, 0.1, every-5, first-3 or at-4; without it, always.`;
    return { ok: false, error: `fault ${text}: ${problem}`, ...(colon < 0 ? { hint } : {}) };
  }

  let rest = text.slice(colon + 1).trim();
  let when: FaultTiming = { kind: 'every', count: 1 };
  const last = rest.lastIndexOf(':');
  if (last >= 0) {
    const timing = readTiming(rest.slice(last + 1).trim());
    if (typeof timing === 'string') return fail(timing);
    if (timing !== undefined) {
      when = timing;
      rest = rest.slice(0, last).trim();
    } else if (!rest.startsWith('fail=')) {
      return fail(
        `expected 10%, 0.1, every-5, first-3 or at-4 after the last colon, got ${rest.slice(last + 1)}`,
      );
    }
  }
  const effect = readEffect(rest);
  if (typeof effect === 'string') return fail(effect);
  const only = routesOf(effect);
  if (only === 'submit' && !['submit', 'any', ...submissionRoutes].includes(route)) {
    return fail(
      `${effect.kind} is a fault of submissions: use submit, any, or one of ${submissionRoutes.join(', ')}`,
    );
  }
  if (only !== undefined && only !== 'submit' && route !== only && route !== 'any')
    return fail(`${effect.kind} is a fault of ${only}: use ${only} or any`);
  return { ok: true, value: { route, effect, when, text } };
}

/** Reads when a fault strikes. Returns undefined if the text is not a timing, and a sentence if its numbers are impossible. */
function readTiming(text: string): FaultTiming | string | undefined {
  const [, word, digits] = /^(every|first|at)[ -](\d{1,9})$/.exec(text) ?? [];
  if (word !== undefined) {
    const count = Number(digits);
    if (count < 1) return `${text}: expected a count from 1`;
    if (word === 'at') return { kind: 'at', number: count };
    return word === 'every' ? { kind: 'every', count } : { kind: 'first', count };
  }
  const [, number, percent] = /^(\d{1,3}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const share = Number(number) / (percent === '%' ? 100 : 1);
  return share <= 1
    ? { kind: 'probability', share }
    : `${text}: expected a probability from 0 to 1, or a percentage`;
}

function readEffect(text: string): FaultEffect | string {
  const equals = text.indexOf('=');
  const word = equals < 0 ? text : text.slice(0, equals).trim();
  const detail = equals < 0 ? undefined : text.slice(equals + 1).trim();

  const [, digits, after] = /^(\d{3})(-after)?$/.exec(word) ?? [];
  if (digits !== undefined) {
    const status = Number(digits);
    if (!statusTexts.has(status)) return `expected one of the statuses ${statusList}`;
    if (detail !== undefined && !/^\d{1,6}$/.test(detail))
      return `Retry-After: expected seconds, got ${detail}`;
    return {
      kind: 'status',
      status,
      after: after !== undefined,
      ...(detail === undefined ? {} : { retryAfter: Number(detail) }),
    };
  }
  switch (word) {
    case 'latency':
    case 'drip': {
      const [, amount, unit] = /^(\d{1,9})(ms|s)?$/.exec(detail ?? '') ?? [];
      if (amount === undefined) return `${word}: expected a time such as 300ms or 2s`;
      return { kind: word, ms: Number(amount) * (unit === 's' ? 1000 : 1) };
    }
    case 'code':
      if (detail === undefined || !/^-?\d{1,6}$/.test(detail))
        return 'code: expected a submit code such as 23';
      return { kind: 'code', code: Number(detail) };
    case 'fail':
      return { kind: 'fail', reason: failReasons[detail ?? 'internal-error'] ?? detail ?? '' };
    case 'refuse': {
      const refusal = Object.hasOwn(refusals, detail ?? '') ? refusals[detail ?? ''] : undefined;
      return refusal === undefined
        ? `refuse: expected one of ${Object.keys(refusals).join(', ')}`
        : { kind: 'refuse', refusal };
    }
    case 'not-ready':
      if (detail === undefined) return { kind: 'not-ready', words: 'gateway' };
      if (detail === 'status' || detail === 'missing' || detail === 'button')
        return { kind: 'not-ready', words: detail };
      return 'not-ready: expected status, missing or button, or nothing';
    case 'link': {
      const link = linkFaults.find((known) => known === detail);
      return link === undefined
        ? `link: expected ${linkFaults.slice(0, -1).join(', ')} or ${linkFaults.at(-1)}`
        : { kind: 'link', link };
    }
    case 'no-http':
      if (detail === undefined || detail === 'tls' || detail === 'http2')
        return { kind: 'no-http', speaks: detail ?? 'mail' };
      return 'no-http: expected tls, http2 or nothing';
    case 'status':
      return detail === undefined || !/^[\w-]{1,40}$/.test(detail)
        ? 'status: expected a word such as PAUSED'
        : { kind: 'status-word', word: detail };
    case 'json': {
      const status = Number(detail ?? 200);
      if (status !== 200 && !statusTexts.has(status)) return `json: expected 200 or one of ${statusList}`;
      return { kind: 'json', status };
    }
    default:
      return (detail === undefined && plainEffects.get(word)) || `expected ${effectWords}`;
  }
}

const plainEffects = new Map<string, FaultEffect>([
  ['hidden-timeout', { kind: 'hidden-timeout', after: true }],
  ['hidden-timeout-before', { kind: 'hidden-timeout', after: false }],
  ['reset-before', { kind: 'reset', after: false }],
  ['reset-after', { kind: 'reset', after: true }],
  ...(
    [
      'truncate',
      'html',
      'redirect',
      'invalid-request',
      'cancel',
      'stuck',
      'forget',
      'challenge',
      'half-jpeg',
    ] as const
  ).map((kind): [string, FaultEffect] => [kind, { kind }]),
]);
