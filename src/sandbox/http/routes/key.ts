import { timingSafeEqual } from 'node:crypto';
import type { SandboxNames } from '../../names.ts';
import type { Visit } from '../visit.ts';
import type { Endpoint } from './route.ts';

/**
 * Whether a request carries the key: as Bearer everywhere; on the native text endpoint in the vendor's header too (
 * gateway 1.4). Clients of the midjourney-proxy family also send it in `mj-api-secret`, and to the native endpoint as `?key=`
 * (gateway 1.4).
 */
export function hasKey(
  { request: { headers }, query }: Pick<Visit, 'request' | 'query'>,
  { name }: Pick<Endpoint, 'name'>,
  { apiKey, names }: { readonly apiKey: string; readonly names: SandboxNames },
): boolean {
  const { authorization } = headers;
  if (isSame(authorization, `Bearer ${apiKey}`)) return true;
  const isNative = name === 'generate';
  if (isNative && isSame(headers[names.keyHeader.toLowerCase()], apiKey)) return true;
  if (!names.familyClients) return false;
  if (isNative && isSame(query.get('key'), apiKey)) return true;
  // A proxy that stands before another one passes this word on in place of a key.
  const isOpen = authorization === undefined || /^(bearer )?(midjourney-proxy)?$/i.test(authorization.trim());
  const secret = headers['mj-api-secret'];
  return isOpen && typeof secret === 'string' && isSame(secret.replace(/^bearer /i, ''), apiKey);
}

/** Whether two texts are equal. The time does not show how much of the text is right. */
function isSame(text: string | readonly string[] | null | undefined, wanted: string): boolean {
  if (typeof text !== 'string') return false;
  const given = Buffer.from(text);
  const right = Buffer.from(wanted);
  return given.length === right.length && timingSafeEqual(given, right);
}
