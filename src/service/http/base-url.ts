/** An error in a base address or a key; it never shows the key or a password in an address. */
export interface EndpointError {
  readonly code: 'service.bad-address' | 'service.bad-key';
  readonly message: string;
}

export type EndpointResult =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly error: EndpointError };

/** Longest base address. Servers accept no longer ones (8,000 octets, RFC 9110 4.1), and each request adds a path. */
const maxCharacters = 4_000;

const badAddress = (message: string): EndpointResult => ({
  ok: false,
  error: { code: 'service.bad-address', message },
});

/**
 * Reads a base address: `https://host`, `https://host/path/`. Returns it without trailing slashes. Refuses a query, a fragment and
 * credentials, which would be lost or shown in every message.
 */
export function readBaseUrl(text: string): EndpointResult {
  if (text.length > maxCharacters)
    return badAddress(
      `The base address of the service has ${text.length} characters, which is more than ${maxCharacters}.`,
    );
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return badAddress(
      'The base address of the service is not a URL. Expected something like https://api.example.com.',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return badAddress(
      `The base address of the service must begin with https:// or http://, not ${url.protocol}//.`,
    );
  if (url.username !== '' || url.password !== '')
    return badAddress(
      `The base address (${url.host}) must not carry a user name or password: the key is a setting of its own.`,
    );
  if (url.search !== '' || url.hash !== '')
    return badAddress(`The base address (${url.origin}${url.pathname}) must not carry a "?" or "#" part.`);
  return { ok: true, value: `${url.origin}${withoutSlashes(url.pathname)}` };
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Reads a key: drops white space around it (the newline of a file), and refuses white space inside it. */
export function readApiKey(text: string): EndpointResult {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return { ok: true, value: key };
  const what = key === '' ? 'is empty' : 'contains white space or characters that a header cannot carry';
  return {
    ok: false,
    error: { code: 'service.bad-key', message: `The API key ${what}. Check the variable it comes from.` },
  };
}
