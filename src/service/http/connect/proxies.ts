import ipaddr from 'ipaddr.js';

/** The proxy variables of an environment; lower case wins over upper case, as in curl. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The error for a proxy variable that does not hold an address. Its value is not shown: it may contain a password. */
export class ProxyAddressError extends Error {
  readonly code = 'proxy.bad-address';

  constructor(variable: string) {
    super(
      `The value of ${variable} is not an address of an HTTP proxy. Expected something like http://proxy.example.com:3128.`,
    );
    this.name = 'ProxyAddressError';
  }
}

/** The error for a proxy that lets nothing through: what is wrong and what to do, as a clause for a message. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY';
  /** Whether no wait changes it. */
  readonly lasting: boolean;

  constructor(what: string, options: ErrorOptions & { readonly lasting?: boolean } = {}) {
    super(what, options);
    this.name = 'ProxyError';
    this.lasting = options.lasting ?? false;
  }
}

export interface Proxy {
  readonly hostname: string;
  readonly port: number;
  /** Whether the proxy is reached over TLS. */
  readonly isTls: boolean;
  /** Value of `Proxy-Authorization`. */
  readonly authorization?: string;
  /** For messages: the address without the password, and the variable that holds it. */
  readonly name: string;
  readonly variable: string;
}

/** Returns the proxy of an origin; undefined: the origin is reached directly. */
export type ProxyFor = (origin: URL) => Proxy | undefined;

/**
 * Reads `http_proxy` for `http://`, `https_proxy` for `https://`, and `no_proxy` for origins that are reached directly, as curl and Go
 * do. Without an environment there is no proxy.
 *
 * @throws ProxyAddressError
 */
export function proxiesOf(env: ProxyEnvironment = {}): ProxyFor {
  const byScheme = { 'http:': proxyOf(env, 'http_proxy'), 'https:': proxyOf(env, 'https_proxy') };
  const isDirect = directHosts(valueOf(env, 'no_proxy')?.text ?? '');
  return (origin) => {
    const proxy = byScheme[origin.protocol as keyof typeof byScheme];
    return proxy === undefined || isDirect(origin) ? undefined : proxy;
  };
}

function valueOf(
  env: ProxyEnvironment,
  lower: string,
): { readonly name: string; readonly text: string } | undefined {
  for (const name of [lower, lower.toUpperCase()]) {
    const text = env[name]?.trim();
    if (text !== undefined) return { name, text };
  }
  return undefined;
}

function proxyOf(env: ProxyEnvironment, lower: string): Proxy | undefined {
  const { name, text } = valueOf(env, lower) ?? { name: lower, text: '' };
  if (text === '') return undefined;
  // Many environments hold only `proxy:3128`.
  const address = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new ProxyAddressError(name);
  const { protocol, hostname, port, username, password } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') throw new ProxyAddressError(name);
  const isTls = protocol === 'https:';
  const login = `${decoded(username)}:${decoded(password)}`;
  const at = Number(port) || (isTls ? 443 : 80);
  return {
    hostname: plainHost(hostname),
    port: at,
    isTls,
    ...(username !== '' && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
    name: `${hostname}:${at}`,
    variable: name,
  };
}

/** Decodes a user name or a password; one with a bare percent sign is taken literally. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Normalises a host for comparing and connecting: lower case, without brackets and final dot. */
const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

type Rule = (host: string, address: ReturnType<typeof ipaddr.process> | undefined, port: number) => boolean;

/**
 * Reads the list of hosts that are reached directly: `*`; names, which include their subdomains, with or without a dot before them;
 * addresses; ranges of addresses (`10.0.0.0/8`, `fd00::/8`). All but ranges may have a port.
 */
function directHosts(list: string): (origin: URL) => boolean {
  const rules = list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(ruleOf);
  return ({ protocol, hostname, port }) => {
    const host = plainHost(hostname);
    const address = ipaddr.isValid(host) ? ipaddr.process(host) : undefined;
    const at = Number(port) || (protocol === 'https:' ? 443 : 80);
    return rules.some((rule) => rule(host, address, at));
  };
}

function ruleOf(entry: string): Rule {
  if (entry === '*') return () => true;
  if (ipaddr.isValidCIDR(entry)) {
    const range = ipaddr.parseCIDR(entry);
    return (_, address) => address?.kind() === range[0].kind() && address.match(range);
  }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  const host = plainHost(bracketed ?? plain ?? entry).replace(/^\*?\./, '');
  const isPort = (port: number): boolean => digits === undefined || port === Number(digits);
  if (ipaddr.isValid(host)) {
    const text = ipaddr.process(host).toString();
    return (_, address, port) => address?.toString() === text && isPort(port);
  }
  return (name, address, port) =>
    address === undefined && (name === host || name.endsWith(`.${host}`)) && host !== '' && isPort(port);
}
