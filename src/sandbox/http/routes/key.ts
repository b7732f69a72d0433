import { timingSafeEqual } from 'node:crypto';
import type { ServiceParts, Visit } from '../visit.ts';
import type { Endpoint } from './route.ts';

/**
 * Whether a request carries the key where the settings want it (gateway 1.4). `bearer` is as Bearer everywhere; on the native text
 * endpoint in the vendor's header too. Clients of the midjourney-proxy family also send it in the header of images, and to the
 * native endpoint as `?key=`.
 */
export function hasKey(
  { request: { headers }, query }: Pick<Visit, 'request' | 'query'>,
  { name }: Pick<Endpoint, 'name'>,
  { apiKey, names, settings: { auth } }: Pick<ServiceParts, 'apiKey' | 'names' | 'settings'>,
): boolean {
  const { authorization } = headers;
  if (auth === 'none') return true;
  const isNative = name === 'generate';
  const isImage = !isNative && name !== 'chat' && name !== 'models';
  const named = (header: string): string | readonly string[] | undefined => headers[header.toLowerCase()];
  const alone = isNative ? names.keyHeader : isImage ? names.imageKeyHeader : '';
  if (auth === 'header' && alone !== '') return isSame(named(alone), apiKey);
  if (auth === 'raw' && isImage) return isSame(authorization, apiKey);
  if (isSame(authorization, `Bearer ${apiKey}`)) return true;
  if (isNative && isSame(named(names.keyHeader), apiKey)) return true;
  if (!names.familyClients) return false;
  if (isNative && isSame(query.get('key'), apiKey)) return true;
  // A proxy that stands before another one passes this word on in place of a key.
  const isOpen = authorization === undefined || /^(bearer )?(midjourney-proxy)?$/i.test(authorization.trim());
  const secret = named(names.imageKeyHeader);
  return isOpen && typeof secret === 'string' && isSame(secret.replace(/^bearer /i, ''), apiKey);
}

/** Whether two texts are equal. The time does not show how much of the text is right. */
function isSame(text: string | readonly string[] | null | undefined, wanted: string): boolean {
  if (typeof text !== 'string') return false;
  const given = Buffer.from(text);
  const right = Buffer.from(wanted);
  return given.length === right.length && timingSafeEqual(given, right);
}
