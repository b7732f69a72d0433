import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import { faultRoutes } from '../../sandbox/faults/fault.ts';
import { parseFault } from '../../sandbox/faults/parse.ts';

/** Faults as they are written whole, by their words, and by words that are no fault but often mean one. */
const wholeFaults: Readonly<Record<string, string>> = {
  latency: 'any:latency=300ms',
  drip: 'any:drip=300ms',
  'reset-before': 'any:reset-before',
  'reset-after': 'submit:reset-after',
  truncate: 'image:truncate',
  html: 'any:html',
  redirect: 'any:redirect',
  'invalid-request': 'submit:invalid-request',
  'hidden-timeout': 'submit:hidden-timeout',
  'not-ready': 'action:not-ready',
  stuck: 'submit:stuck',
  cancel: 'submit:cancel',
  fail: 'submit:fail',
  link: 'fetch:link=expired',
  network: 'any:reset-before:10%',
  connection: 'any:reset-before:10%',
  disconnect: 'any:reset-before:10%',
  offline: 'any:reset-before:10%',
  reset: 'any:reset-before:10%',
  slow: 'any:latency=2s',
  timeout: 'submit:504-after:10%',
  error: 'any:500:10%',
  crash: 'any:500:10%',
};

/** The fault that a text which names no route, or an unknown one, was probably meant as; undefined where that is not known. */
export function meantFault(text: string): string | undefined {
  const colon = text.indexOf(':');
  if (colon >= 0) {
    const near = nearest(text.slice(0, colon).trim(), faultRoutes);
    const fixed = near === undefined ? undefined : `${near}${text.slice(colon)}`;
    return fixed !== undefined && parseFault(fixed).ok ? fixed : undefined;
  }
  const word = text.trim().toLowerCase();
  if (parseFault(`any:${word}`).ok) return `any:${word}`;
  const known = word.split('=')[0] ?? '';
  const near = Object.hasOwn(wholeFaults, known) ? known : nearest(known, Object.keys(wholeFaults));
  const route = faultRoutes.find((one) => one === known);
  return near === undefined
    ? route === undefined
      ? undefined
      : `${route}:reset-before:10%`
    : wholeFaults[near];
}
